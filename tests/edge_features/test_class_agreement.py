"""Class distributions against a regression on dense features."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from focusedcleaner.edge_features.class_agreement import class_distributions, divergences
from focusedcleaner.engine import Structure
from focusedcleaner.graph import Graph
from tests.strategies import labelled_graphs


def test_class_distributions_are_those_of_the_dense_features(graph: Graph) -> None:
    """The regression's probabilities on dense [x | P²x], for weights that are not all one."""
    seen = graph.without_test_labels()
    assert seen.labels is not None
    assert seen.attributes is not None
    weights = np.random.default_rng(0).random(graph.num_edges)
    found = class_distributions(seen, weights, 10.0)
    dense = np.eye(graph.num_nodes)
    for (u, v), weight in zip(graph.edges, weights, strict=True):
        dense[u, v] = dense[v, u] = weight
    step = dense / dense.sum(1, keepdims=True)
    own = seen.attributes.toarray()
    own = own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-12)
    rows = np.hstack([own, step @ step @ own])
    known = seen.labels >= 0
    model = LogisticRegression(C=10.0, max_iter=200, tol=1e-3).fit(rows[known], seen.labels[known])
    assert found[~known] == pytest.approx(model.predict_proba(rows)[~known], abs=1e-3)
    assert (found[known].argmax(1) == seen.labels[known]).all()
    assert set(np.unique(found[known])) == {0.0, 1.0}


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
