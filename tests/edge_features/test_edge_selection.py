"""Selection of edges by score, against one removal at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.edge_features.edge_selection import (
    first_by_score,
    mark_highest,
    rank_by_score,
    removable_by_score,
    without_isolating,
)
from focusedcleaner.graph import Graph
from tests.strategies import labelled_graphs


@settings(deadline=None, max_examples=60)
@given(graph=labelled_graphs(), size=st.integers(0, 20), seed=st.integers(0, 1000))
def test_selection_equals_removing_one_edge_at_a_time(graph: Graph, size: int, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(graph.num_edges)
    left, expected = graph, list[int]()
    for number in order:
        fewer = left.without_edges(graph.edges[[number]])
        if len(expected) < size and ((fewer.degrees > 0) == (graph.degrees > 0)).all():
            left = fewer
            expected.append(int(number))
    assert without_isolating(order, graph.edges, graph.degrees, size) == expected


def test_the_seed_only_breaks_ties() -> None:
    scores = np.array([1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 3.0])
    orders = {tuple(rank_by_score(scores, seed).tolist()) for seed in range(10)}
    assert len(orders) > 1
    assert {order[0] for order in orders} == {7}
    assert {order[-1] for order in orders} == {0}
    assert rank_by_score(scores, 4).tolist() == rank_by_score(scores, 4).tolist()


@settings(deadline=None)
@given(scores=st.lists(st.integers(0, 5), min_size=1, max_size=30), size=st.integers(0, 40), seed=st.integers(0, 5))
def test_the_first_by_score_are_those_of_the_whole_ranking(scores: list[int], size: int, seed: int) -> None:
    values = np.array(scores, dtype=float)
    expected = rank_by_score(values, seed)[:size].tolist()
    assert first_by_score(values, size, seed).tolist() == expected
    assert np.flatnonzero(mark_highest(values, size, seed)).tolist() == sorted(expected)


@settings(deadline=None)
@given(graph=labelled_graphs(), seed=st.integers(0, 5), data=st.data())
def test_removable_by_score_are_those_of_the_whole_ranking(graph: Graph, seed: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(0, 3), min_size=graph.num_edges, max_size=graph.num_edges))
    size, scores = data.draw(st.integers(0, graph.num_edges)), np.array(values, dtype=float)
    expected = without_isolating(rank_by_score(scores, seed), graph.edges, graph.degrees, size)
    assert removable_by_score(scores, graph, size, seed).tolist() == expected
