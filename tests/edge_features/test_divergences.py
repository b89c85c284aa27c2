"""ClassDiv's divergences against the double sums of the paper."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.edge_features.divergences import divergences
from focusedcleaner.engine import Structure
from focusedcleaner.graph import Graph
from tests.strategies import labelled_graphs


def double_sums(graph: Graph, distributions: np.ndarray) -> np.ndarray:
    """prox₁, prox₂ and Div_JS by their definitions."""
    adjacency = graph.adjacency().toarray()
    logs = np.log(distributions)
    divergence = (distributions * logs).sum(1)[:, None] - distributions @ logs.T
    result = np.zeros((graph.num_nodes, 3))
    for node in range(graph.num_nodes):
        neighbours = np.flatnonzero(adjacency[node])
        count = len(neighbours)
        if not count:
            continue
        result[node, 0] = divergence[node, neighbours].mean()
        if count > 1:
            result[node, 1] = divergence[np.ix_(neighbours, neighbours)].sum() / (count * (count - 1))
        mean = distributions[neighbours].mean(0)
        result[node, 2] = -(mean * np.log(mean)).sum() + (distributions * logs).sum(1)[neighbours].mean()
    return result


@settings(deadline=None, max_examples=60)
@given(graph=labelled_graphs(), seed=st.integers(0, 1000))
def test_divergences_are_the_double_sums(graph: Graph, seed: int) -> None:
    logits = np.random.default_rng(seed).normal(size=(graph.num_nodes, 3))
    distributions = torch.softmax(torch.tensor(logits), 1)
    ours = divergences(Structure(graph), distributions).numpy()
    np.testing.assert_allclose(ours, double_sums(graph, distributions.numpy()), atol=1e-12)


def test_divergences_of_certain_nodes_are_finite() -> None:
    graph = Graph(3, np.array([[0, 1], [1, 2]]))
    certain = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    assert torch.isfinite(divergences(Structure(graph), certain)).all()
