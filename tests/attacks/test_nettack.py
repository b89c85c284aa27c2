"""Nettack's incremental logits against a dense recomputation, and what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from focusedcleaner.attacks import Nettack
from focusedcleaner.attacks.nettack import logits_after_flips
from focusedcleaner.datasets import synthetic
from focusedcleaner.engine.structure import MutableEdges
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph
from focusedcleaner.surrogate import Surrogate
from tests.strategies import labelled_graphs


def dense_logits(adjacency: FloatArray, xw: FloatArray) -> FloatArray:
    loops = adjacency + np.eye(len(adjacency))
    scale = 1 / np.sqrt(loops.sum(1))
    normalized = scale[:, None] * loops * scale
    return normalized @ normalized @ xw


@settings(deadline=None, max_examples=60)
@given(graph=labelled_graphs(), target=st.integers(0, 5), seed=st.integers(0, 1000))
def test_logits_after_each_flip_are_exact(graph: Graph, target: int, seed: int) -> None:
    xw = np.random.default_rng(seed).normal(size=(graph.num_nodes, 3))
    ours, linked = logits_after_flips(MutableEdges(graph), xw, target)
    dense = graph.adjacency().toarray()
    np.testing.assert_array_equal(linked, dense[target] > 0)
    for other in range(graph.num_nodes):
        if other != target:
            flipped = dense.copy()
            flipped[target, other] = flipped[other, target] = 1 - dense[target, other]
            np.testing.assert_allclose(ours[other], dense_logits(flipped, xw)[target], atol=1e-12)


@settings(deadline=None, max_examples=30)
@given(
    graph=labelled_graphs(),
    targets=st.sets(st.integers(0, 5), min_size=1, max_size=4),
    per_target=st.integers(1, 5),
    ratio=st.sampled_from([None, 0.1]),
)
def test_promises(graph: Graph, targets: set[int], per_target: int, ratio: float | None) -> None:
    before = graph.fingerprint()
    method = Nettack(tuple(targets), per_target, likelihood_ratio=ratio)
    poisoning = method.poison(graph, graph.num_edges)
    flips = poisoning.flips
    assert flips is not None
    assert graph.fingerprint() == before
    assert len(flips) <= min(poisoning.budget, per_target * len(targets))
    assert len(np.unique(flips, axis=0)) == len(flips)
    assert all(targets & set(pair) for pair in flips.tolist())
    bare = MutableEdges(graph)
    for u, v in flips:
        bare.flip(u, v)
        assert (bare.degrees > 0)[graph.degrees > 0].all()
    assume(len(flips) > 1)
    np.testing.assert_array_equal(method.poison(graph, len(flips) - 1).flips, flips[:-1])


def test_targets_take_turns_and_fall() -> None:
    graph = synthetic(300, seed=0)
    assert graph.labels is not None
    logits = Surrogate(graph).fit()
    right = logits.logits.argmax(1).numpy() == graph.labels
    targets = tuple(int(node) for node in np.flatnonzero(right & (graph.degrees > 3))[:6])
    poisoning = Nettack(targets, 5, likelihood_ratio=None).poison(graph, 100)
    flips = poisoning.flips
    assert flips is not None
    assert len(flips) == 30
    for turn, pair in enumerate(flips.tolist()):
        assert targets[turn % 6] in pair
    after = dense_logits(poisoning.graph.adjacency().toarray(), logits.xw.numpy()).argmax(1)
    assert (after[list(targets)] != graph.labels[list(targets)]).mean() >= 0.8


def test_targets_of_the_protocol() -> None:
    graph = synthetic(300, seed=0)
    assert graph.split is not None
    targets = Nettack().targets_in(graph)
    assert len(targets)
    assert np.isin(targets, graph.split.test).all()
    assert (graph.degrees[targets] > 10).all()
    with pytest.raises(InputError, match="no test node has more than 500 neighbours"):
        Nettack(above_degree=500).poison(graph, 5)


@pytest.mark.parametrize("targets", [(300,), (-1,), (3, 1000)])
def test_targets_out_of_range_are_told(targets: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="is not a node: nodes are numbered 0 to 299"):
        Nettack(targets).poison(synthetic(300, seed=0), 5)


def test_settings_are_checked() -> None:
    for wrong in ({"targets": ()}, {"targets": (1, 1)}, {"per_target": 0}, {"likelihood_ratio": -1.0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Nettack(**wrong)
