"""The victim on a large graph against the one on a merged list of edges."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from focusedcleaner.attacks import GRBCD, PRBCD, Attack, Dice, RandomAttack, rbcd, rbcd_victim
from focusedcleaner.attacks.rbcd import _implementation
from focusedcleaner.attacks.rbcd_victim import BlockVictim, Victim
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph, pairs_of_keys, unique_keys
from focusedcleaner.io.folder import open_folder
from focusedcleaner.io.folder_writer import write_folder
from tests.attacks.promises import check_harm, check_promises
from tests.strategies import labelled_graphs


@pytest.fixture
def unmerged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every graph is large, and victims are trained for 20 epochs."""
    monkeypatch.setattr(rbcd, "MERGED", 0)
    monkeypatch.setattr(rbcd_victim, "EPOCHS", 20)


def both(graph: Graph) -> tuple[Tensor, Tensor]:
    """Both directions of all edges, and a fixed unused X."""
    return torch.from_numpy(np.concatenate([graph.edges, graph.edges[:, ::-1]]).T.copy()), torch.zeros(
        graph.num_nodes, 1
    )


@settings(deadline=None, max_examples=25)
@given(graph=labelled_graphs(), seed=st.integers(0, 1000))
def test_logits_and_gradients_of_the_block(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    merged, block = Victim(graph, 4).eval(), BlockVictim(graph, 4).eval()
    block.load_state_dict(merged.state_dict())
    edges, unused = both(graph)
    torch.testing.assert_close(block(unused, edges), merged(unused, edges), rtol=1e-4, atol=1e-5)
    ends = np.sort(rng.integers(0, graph.num_nodes, (12, 2)), axis=1)
    ends = np.concatenate([ends[ends[:, 0] < ends[:, 1]], graph.edges[:3]])
    keys = unique_keys(ends[:, 0] * graph.num_nodes + ends[:, 1])
    pairs = torch.from_numpy(pairs_of_keys(keys, graph.num_nodes).T.copy())
    given = torch.from_numpy(rng.uniform(0.1, 0.9, pairs.shape[1])).float()
    attack = _implementation().PRBCDAttack(merged, 10, log=False)
    attack.device, attack.num_nodes = torch.device("cpu"), graph.num_nodes
    found = []
    for victim in (merged, block):
        weights = given.clone().requires_grad_()
        whole = victim is merged
        ours = (
            attack._get_modified_adj(edges, torch.ones(edges.shape[1]), pairs, weights) if whole else (pairs, weights)
        )
        logits = victim(unused, *ours)
        found.append((logits, *torch.autograd.grad(logits.square().sum(), weights)))
    for theirs, ours in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


def test_grbcd_flips_the_same_pairs(unmerged: None, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic(200, seed=0)
    block = GRBCD(2000, 6).poison(graph, "10%", seed=2)
    monkeypatch.setattr(rbcd, "MERGED", 10**6)
    merged = GRBCD(2000, 6).poison(graph, "10%", seed=2)
    np.testing.assert_array_equal(block.added, merged.added)
    np.testing.assert_array_equal(block.removed, merged.removed)


@pytest.mark.parametrize("attack", [PRBCD(2000, 20), GRBCD(2000, 20)], ids=lambda attack: attack.name)
def test_large_graphs_are_attacked(attack: Attack, unmerged: None) -> None:
    check_harm(attack)
    check_promises(attack, synthetic(100, num_attributes=0, seed=3), "10%", 1)


@pytest.mark.parametrize(
    "attack", [PRBCD(2000, 4), GRBCD(2000, 4), Dice(), RandomAttack(0.3)], ids=lambda attack: attack.name
)
def test_a_graph_folder_is_poisoned_like_the_graph(attack: Attack, unmerged: None, tmp_path: Path) -> None:
    graph = replace(synthetic(200, seed=0), names=tuple(range(200)))
    write_folder(tmp_path / "G", {}, graph)
    folder = open_folder(tmp_path / "G")
    ours, theirs = attack.poison(folder, "10%", seed=1), attack.poison(graph, "10%", seed=1)
    np.testing.assert_array_equal(ours.added, theirs.added)
    np.testing.assert_array_equal(ours.removed, theirs.removed)
    assert folder.stored is not None
    assert ours.graph.edges.tolist() == theirs.graph.edges.tolist()
