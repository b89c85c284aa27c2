"""DICE and random flips keep what they promise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from focusedcleaner.attacks.base import Attack
from focusedcleaner.attacks.dice import Dice
from focusedcleaner.attacks.random import RandomAttack, _spared
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray

KINDS: list[Callable[[float], Attack]] = [Dice, RandomAttack]


def keys(graph: Graph, pairs: IntArray) -> IntArray:
    return pairs[:, 0] * graph.num_nodes + pairs[:, 1]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(
    num_nodes=st.integers(20, 150),
    mean_degree=st.floats(1, 5),
    power=st.floats(0.05, 0.9),
    share=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    seed=st.integers(0, 2**40),
)
def test_flips_are_as_promised(
    kind: Callable[[float], Attack], num_nodes: int, mean_degree: float, power: float, share: float, seed: int
) -> None:
    graph = synthetic(num_nodes, mean_degree, 3, 0.7, 0, seed=seed % 1000)
    before = graph.fingerprint()
    try:
        poisoning = kind(share).poison(graph, power, seed=seed)
    except InputError:
        assume(False)
        raise
    added, removed = keys(graph, poisoning.added), keys(graph, poisoning.removed)
    assert len(added) + len(removed) == poisoning.budget
    assert len(removed) == int(share * poisoning.budget + 1e-9)
    assert len(np.unique(added)) == len(added)
    assert len(np.unique(removed)) == len(removed)
    assert not np.isin(added, graph.edge_keys).any()
    assert np.isin(removed, graph.edge_keys).all()
    assert (poisoning.added[:, 0] < poisoning.added[:, 1]).all()
    assert poisoning.graph.num_edges == graph.num_edges + len(added) - len(removed)
    bare = graph.without_edges(poisoning.removed)
    assert ((bare.degrees > 0) == (graph.degrees > 0)).all()
    assert graph.fingerprint() == before
    again = kind(share).poison(graph, power, seed=seed)
    np.testing.assert_array_equal(again.added, poisoning.added)
    np.testing.assert_array_equal(again.removed, poisoning.removed)


def test_dice_deletes_within_and_inserts_between_classes() -> None:
    graph = synthetic(300, seed=3)
    assert graph.labels is not None
    poisoning = Dice().poison(graph, 0.3, seed=1)
    assert (np.diff(graph.labels[poisoning.added], axis=1) != 0).all()
    assert (np.diff(graph.labels[poisoning.removed], axis=1) == 0).all()


def test_dice_leaves_nodes_of_unknown_class_alone() -> None:
    graph = synthetic(300, seed=3).without_test_labels()
    assert graph.labels is not None
    poisoning = Dice(0.1).poison(graph, 20, seed=1)
    assert (graph.labels[poisoning.added] >= 0).all()
    assert (graph.labels[poisoning.removed] >= 0).all()


def test_insertions_are_uniform_over_the_pairs_that_are_left() -> None:
    graph = Graph(5, [[0, 1]], labels=[0, 0, 0, 1, 2])
    drawn = [tuple(Dice(0.0).poison(graph, 1, seed=seed).added[0]) for seed in range(2100)]
    pairs, counts = np.unique(drawn, axis=0, return_counts=True)
    assert pairs.tolist() == [[0, 3], [0, 4], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]]
    assert counts.min() > 230
    assert counts.max() < 370


def test_every_pair_that_is_left_can_be_used_up() -> None:
    path = Graph(4, [[0, 1], [1, 2], [2, 3]])
    added = RandomAttack().poison(path, 3, seed=0).added
    assert sorted(map(tuple, added.tolist())) == [(0, 2), (0, 3), (1, 3)]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), num_nodes=st.integers(2, 12))
def test_deletions_are_those_of_one_edge_after_the_other(seed: int, num_nodes: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph.from_pairs(num_nodes, rng.integers(0, num_nodes, (20, 2)))
    order = rng.permutation(graph.edges)
    left, expected = graph.degrees.copy(), []
    for u, v in order:
        expected.append(left[u] > 1 and left[v] > 1)
        left[[u, v]] -= expected[-1]
    assert _spared(order, graph.degrees).tolist() == expected


@pytest.mark.parametrize(
    ("attack", "graph", "budget", "message"),
    [
        (Dice(), Graph(3, [[0, 1], [1, 2]]), 1, "needs a graph with labels"),
        (Dice(1.0), Graph(3, [[0, 1], [1, 2]], labels=[0, 0, 0]), 1, "without isolating a node"),
        (Dice(0.0), Graph(3, [[0, 1], [1, 2]], labels=[0, 0, 0]), 1, "only 0 suitable pairs"),
        (RandomAttack(), Graph(3, [[0, 1], [0, 2], [1, 2]]), 1, "only 0 suitable pairs"),
        (RandomAttack(1.0), Graph(2, [[0, 1]]), 1, "only 0 suitable ones"),
    ],
)
def test_impossible_attacks_say_so(attack: Attack, graph: Graph, budget: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        attack.poison(graph, budget)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_shares_are_checked(kind: Callable[[float], Attack], share: float) -> None:
    with pytest.raises(InputError, match="share_removed"):
        kind(share)


@pytest.mark.parametrize("attack", [Dice(), RandomAttack()])
def test_settings_and_progress(attack: Attack) -> None:
    calls: list[tuple[int, int]] = []
    attack.poison(synthetic(100, seed=0), 10, progress=lambda done, of: calls.append((done, of)))
    assert calls[-1] == (10, 10)
    assert attack.settings() == {"kind": type(attack).__name__, "share_removed": attack.share_removed}  # type: ignore[attr-defined]
