"""Candidate pairs by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.datasets import synthetic
from focusedcleaner.edge_features.pair_features import PairFeatures
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.restore.candidates import Candidates, distance_two, similar_pairs
from tests.strategies import labelled_graphs

Pairs = set[tuple[int, int]]


def pairs_of(keys: IntArray, num_nodes: int) -> Pairs:
    return {divmod(int(key), num_nodes) for key in keys}


@settings(deadline=None, max_examples=40)
@given(graph=labelled_graphs())
def test_pairs_at_distance_two_are_those_with_a_common_neighbour(graph: Graph) -> None:
    dense = graph.adjacency().toarray()
    expected = {(u, v) for u, v in combinations(range(graph.num_nodes), 2) if dense[u] @ dense[v] > 0}
    assert pairs_of(distance_two(graph), graph.num_nodes) == expected


@settings(deadline=None, max_examples=40)
@given(graph=labelled_graphs(), most=st.integers(0, 40))
def test_a_limit_keeps_middle_nodes_of_small_degree(graph: Graph, most: int) -> None:
    expected: Pairs = set()
    walked = 0
    neighbours = [np.flatnonzero(row) for row in graph.adjacency().toarray()]
    for middle in sorted(range(graph.num_nodes), key=lambda node: len(neighbours[node])):
        around = set(combinations(neighbours[middle].tolist(), 2))
        walked += len(around)
        if walked > most:
            break
        expected |= around
    assert pairs_of(distance_two(graph, most), graph.num_nodes) == expected


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), most_alike=st.integers(1, 8), num_nodes=st.integers(1, 12))
def test_similar_pairs_match_brute_force(seed: int, most_alike: int, num_nodes: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.random((num_nodes, 6)) * (rng.random((num_nodes, 6)) < 0.4)
    rows = np.sort(rng.choice(num_nodes, rng.integers(1, num_nodes + 1), replace=False))
    expected: Pairs = set()
    for node in rows.tolist():
        others = sorted((-float(dense[node] @ dense[other]), other) for other in range(num_nodes) if other != node)
        expected |= {(min(node, v), max(node, v)) for product, v in others[:most_alike] if product < -1e-12}
    found = similar_pairs(sp.csr_array(dense), rows, most_alike)
    assert pairs_of(found, num_nodes) == expected


def test_blocks_do_not_change_similar_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    rare, everyone = PairFeatures(synthetic(num_nodes=60, seed=0)).tfidf, np.arange(60)
    assert rare is not None
    whole = similar_pairs(rare, everyone, 4)
    monkeypatch.setattr("focusedcleaner.restore.candidates.BLOCK", 100)
    np.testing.assert_array_equal(similar_pairs(rare, everyone, 4), whole)


def test_training_nodes_come_first_if_not_all_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic(num_nodes=60, seed=0)
    assert graph.split is not None
    rare = PairFeatures(graph).tfidf
    assert rare is not None
    monkeypatch.setattr("focusedcleaner.restore.candidates.MAX_PRODUCTS", 60 * len(graph.split.train))
    found = Candidates(graph, rare, neighbours=3).similar
    np.testing.assert_array_equal(found, similar_pairs(rare, graph.split.train, 3))
