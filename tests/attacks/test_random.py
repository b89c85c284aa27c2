"""Random flips: their guarantees, and that they are uniform."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from focusedcleaner.attacks import Attack, Dice, RandomAttack
from focusedcleaner.attacks.random import draw_deletions, draw_insertions
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from tests.attacks.promises import check_promises

KINDS = [Dice, RandomAttack]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30, deadline=None)
@given(
    num_nodes=st.integers(20, 150),
    mean_degree=st.floats(1, 5),
    power=st.floats(0.05, 0.9),
    share=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    seed=st.integers(0, 2**40),
)
def test_promises(
    kind: type[RandomAttack], num_nodes: int, mean_degree: float, power: float, share: float, seed: int
) -> None:
    graph = synthetic(num_nodes, mean_degree, 3, 0.7, 0, seed=seed % 1000)
    try:
        poisoning = check_promises(kind(share), graph, power, seed)
    except InputError:
        assume(False)
        raise
    assert len(poisoning.added) + len(poisoning.removed) == poisoning.budget
    assert len(poisoning.removed) == int(share * poisoning.budget + 1e-9)


def test_insertions_are_uniform_over_the_pairs_that_are_left() -> None:
    graph, groups = Graph(5, [[0, 1]]), np.array([0, 0, 0, 1, 2])
    rng = np.random.default_rng(0)
    drawn = [tuple(draw_insertions(graph, groups, 1, rng)[0]) for _ in range(2100)]
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
    candidates = rng.random(graph.num_edges) < 0.8
    order = graph.edges[np.random.default_rng(seed).permutation(np.flatnonzero(candidates))]
    left, expected = graph.degrees.copy(), []
    for u, v in order.tolist():
        if left[u] > 1 and left[v] > 1:
            expected.append([u, v])
            left[[u, v]] -= 1
    assert draw_deletions(graph, candidates, len(expected), np.random.default_rng(seed)).tolist() == expected
    with pytest.raises(InputError, match=f"but only {len(expected)} suitable ones"):
        draw_deletions(graph, candidates, len(expected) + 1, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("attack", "graph", "message"),
    [
        (Dice(1.0), Graph(3, [[0, 1], [1, 2]], labels=[0, 0, 0]), "without isolating a node"),
        (Dice(0.0), Graph(3, [[0, 1], [1, 2]], labels=[0, 0, 0]), "only 0 suitable pairs"),
        (RandomAttack(), Graph(3, [[0, 1], [0, 2], [1, 2]]), "only 0 suitable pairs"),
        (RandomAttack(1.0), Graph(2, [[0, 1]]), "only 0 suitable ones"),
    ],
)
def test_impossible_attacks_are_refused(attack: Attack, graph: Graph, message: str) -> None:
    with pytest.raises(InputError, match=message):
        attack.poison(graph, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_shares_are_checked(kind: type[RandomAttack], share: float) -> None:
    with pytest.raises(InputError, match=r"share_removed must lie in \[0, 1\]"):
        kind(share)


@pytest.mark.parametrize("attack", [Dice(), RandomAttack()])
def test_settings_and_progress(attack: RandomAttack) -> None:
    calls: list[tuple[int, int]] = []
    attack.poison(synthetic(100, seed=0), 10, progress=lambda done, of, stage="": calls.append((done, of)))
    assert calls[-1] == (10, 10)
    assert attack.settings() == {"kind": type(attack).__name__, "share_removed": attack.share_removed}
