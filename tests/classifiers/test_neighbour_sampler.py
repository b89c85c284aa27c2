"""Sampled rows against those of Â."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.classifiers.neighbour_sampler import NeighbourSampler, draw_places
from focusedcleaner.graph import Graph
from tests.classifiers.dense import hat
from tests.strategies import labelled_graphs


@settings(deadline=None)
@given(graph=labelled_graphs(), neighbours=st.integers(1, 20), seed=st.integers(0, 1000))
def test_only_neighbours_are_drawn_and_no_more_than_asked_for(graph: Graph, neighbours: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = rng.permutation(graph.num_nodes)[: 1 + seed % graph.num_nodes]
    inputs, matrix = NeighbourSampler(graph, neighbours).sample(nodes, rng)
    assert set(nodes) <= set(inputs)
    assert matrix.shape == (len(nodes), len(inputs))
    whole = hat(graph)
    for row, node in enumerate(nodes):
        drawn = inputs[matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]]
        assert len(drawn) == len(set(drawn)) == 1 + min(neighbours, graph.degrees[node])
        assert (whole[node, drawn] > 0).all()


@settings(deadline=None)
@given(graph=labelled_graphs(), seed=st.integers(0, 1000))
def test_with_all_neighbours_rows_are_exact(graph: Graph, seed: int) -> None:
    nodes = np.random.default_rng(seed).permutation(graph.num_nodes)
    inputs, matrix = NeighbourSampler(graph, graph.num_nodes).sample(nodes, np.random.default_rng(seed))
    np.testing.assert_allclose(matrix.toarray(), hat(graph)[np.ix_(nodes, inputs)], rtol=1e-12)


def test_the_mean_of_the_estimates_is_the_row() -> None:
    star = Graph(6, [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2]])
    sampler, rng, total = NeighbourSampler(star, 2), np.random.default_rng(0), np.zeros((6, 6))
    for _ in range(1500):
        inputs, matrix = sampler.sample(np.arange(6), rng)
        total[:, inputs] += matrix.toarray()
    np.testing.assert_allclose(total / 1500, hat(star), atol=0.03)


def test_every_set_of_places_is_as_likely() -> None:
    rows, places = draw_places(np.full(6000, 4), 2, np.random.default_rng(0))
    pairs = np.sort(places[np.argsort(rows, kind="stable")].reshape(-1, 2), axis=1)
    sets, counts = np.unique(pairs, axis=0, return_counts=True)
    assert len(sets) == 6
    assert counts.min() > 880
    assert counts.max() < 1120
