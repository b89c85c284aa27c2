"""Flipped edges against a plain set of pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.engine.mutable_edges import MutableEdges
from focusedcleaner.graph import Graph
from tests.strategies import labelled_graphs


@settings(deadline=None, max_examples=30)
@given(graph=labelled_graphs(), seed=st.integers(0, 1000))
def test_flips_are_those_of_a_set(graph: Graph, seed: int) -> None:
    every = np.argwhere(np.triu(np.ones((graph.num_nodes,) * 2), 1))
    flips = np.random.default_rng(seed).permutation(every)[:6].tolist()
    edges, expected = MutableEdges(graph), {tuple(pair) for pair in graph.edges.tolist()}
    for u, v in flips:
        edges.flip(u, v)
        expected ^= {(u, v)}
    assert [tuple(pair) for pair in edges.edges.tolist()] == sorted(expected)
    degrees = Graph(graph.num_nodes, sorted(expected)).degrees
    assert edges.degrees.tolist() == degrees.tolist()
    flipped = {tuple(pair) for pair in flips}
    assert {tuple(pair) for pair in edges.not_insertable().tolist()} == expected | flipped
    removable = {pair for pair in expected - flipped if min(degrees[list(pair)]) > 1}
    assert {tuple(pair) for pair in edges.edges[edges.removable()].tolist()} == removable
    assert edges.structure().num_edges == len(expected)
