"""The simulated attackers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.attacks.pgd import BlockPGD
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.sanitizers.self_attack import attackers as simulated
from focusedcleaner.sanitizers.self_attack.attackers import ATTACKERS, attackers_by_name
from focusedcleaner.surrogate import Implicit, Surrogate

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ATTACKERS)
@pytest.mark.parametrize("pairs", [100_000, 500])
def test_a_simulated_attacker_plants_new_edges(
    name: str, pairs: int, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulated, "MIN_PAIRS", pairs)
    planted = ATTACKERS[name](graph, 20, np.random.default_rng(4))
    assert 0 < len(planted) <= 20
    assert (planted[:, 0] < planted[:, 1]).all()
    assert len(np.unique(planted, axis=0)) == len(planted)
    assert not graph.has_edges(planted).any()
    assert (planted == ATTACKERS[name](graph, 20, np.random.default_rng(4))).all()


def test_no_budget_asks_for_more_pairs_than_a_block_may_have() -> None:
    assert simulated._num_pairs(10) == simulated.MIN_PAIRS
    assert simulated._num_pairs(10_000) == 400_000
    assert BlockPGD(block_size=simulated._num_pairs(10**9)).block_size == simulated.MAX_PAIRS


def test_the_simulated_mettack_raises_the_loss_more_than_random_edges(clean: Graph) -> None:
    def loss_after(name: str) -> float:
        hurt = clean.with_edges(ATTACKERS[name](clean, 60, np.random.default_rng(0)))
        start = Surrogate(clean, inner=Implicit(1e-3)).fit().logits
        return AttackerLoss(clean, start.argmax(1), 0.0).value(Surrogate(hurt, inner=Implicit(1e-3)).fit().logits)

    assert loss_after("mettack") > 1.2 * loss_after("random")


def test_sketched_factors_approximate_the_product() -> None:
    rng = np.random.default_rng(0)
    mixed = torch.from_numpy(rng.normal(size=(20, 400)))
    front, back = (torch.from_numpy(rng.normal(size=(300, 20))) @ mixed for _ in range(2))
    small = simulated.sketch_factors(front, back, rng)
    assert small[0].shape[1] == small[1].shape[1] == simulated.SKETCH_RANK
    exact = front @ back.T
    assert torch.linalg.norm(small[0] @ small[1].T - exact) < 1e-4 * torch.linalg.norm(exact)
    assert simulated.sketch_factors(front[:, :50], back[:, :50], rng)[0].shape[1] == 50


def test_the_targeted_attacker_misleads_nodes_of_unknown_label(clean: Graph) -> None:
    assert clean.labels is not None
    assert clean.split is not None

    def margins(graph: Graph) -> np.ndarray:
        logits = Surrogate(clean).fit().xw.numpy()
        for _ in range(2):
            scaled = sp.diags_array((graph.degrees + 1.0) ** -0.5)
            logits = scaled @ (graph.adjacency() + sp.eye_array(graph.num_nodes)) @ scaled @ logits
        own = logits[np.arange(graph.num_nodes), labels]
        logits[np.arange(graph.num_nodes), labels] = -np.inf
        return own - logits.max(axis=1)

    labels = clean.labels
    planted = ATTACKERS["targeted"](clean, 80, np.random.default_rng(0))
    ends, times = np.unique(planted, return_counts=True)
    targets = np.setdiff1d(ends[times >= 4], np.concatenate([clean.split.train, clean.split.val]))
    assert len(targets) >= 5
    touched = np.isin(planted, clean.split.test).any(axis=1)
    assert touched.all()
    chance = ATTACKERS["random"](clean, 80, np.random.default_rng(0))
    loss, by_chance = (margins(clean) - margins(clean.with_edges(edges)) for edges in (planted, chance))
    hit = np.unique(chance)
    assert loss[targets].mean() > 3 * by_chance[hit].mean()


def test_with_all_labels_known_every_node_is_a_target(graph: Graph) -> None:
    everyone = Split(np.arange(graph.num_nodes), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    assert len(ATTACKERS["targeted"](graph.with_split(everyone), 20, np.random.default_rng(0))) == 20


def test_a_complete_graph_gets_no_edges() -> None:
    full = Graph(5, [[u, v] for u in range(5) for v in range(u + 1, 5)], labels=[0, 1, 0, 1, 0])
    for name in ("dice", "random"):
        assert len(ATTACKERS[name](full, 3, np.random.default_rng(0))) == 0


def test_an_unknown_attacker_is_refused() -> None:
    with pytest.raises(InputError, match="no simulated attacker 'mallory'; there are mettack, unrolled, minmax, "):
        attackers_by_name("dice,mallory")
