"""Sparse operators and their gradients against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from focusedcleaner.engine.operators import EdgeMatrix, Operator, attributes, propagation, scaled_adjacency
from focusedcleaner.graph import Graph


def small(seed: int) -> Graph:
    """A random graph with an isolated node."""
    return Graph.from_pairs(14, np.random.default_rng(seed).integers(0, 13, (28, 2)))


def normalized(matrix: np.ndarray) -> np.ndarray:
    sums = matrix.sum(axis=1)
    scale = np.where(sums > 0, np.where(sums > 0, sums, 1.0) ** -0.5, 0.0)
    return np.asarray(scale[:, None] * matrix * scale)


@pytest.mark.parametrize("seed", range(3))
def test_operators_and_their_gradients(seed: int) -> None:
    graph = small(seed)
    dense = torch.randn(14, 3, dtype=torch.float64, requires_grad=True, generator=torch.manual_seed(seed))
    operator = Operator(scaled_adjacency(graph, loops=0.0), dtype=torch.float64)
    np.testing.assert_allclose(
        operator(dense).detach(), normalized(graph.adjacency().toarray()) @ dense.detach().numpy()
    )
    assert torch.autograd.gradcheck(operator, (dense,))
    pattern = EdgeMatrix(graph)
    values = torch.rand(len(pattern.rows), dtype=torch.float64, requires_grad=True)
    matrix = np.zeros((14, 14))
    matrix[pattern.rows, pattern.columns] = values.detach()
    np.testing.assert_allclose(pattern.times(values, dense).detach(), matrix @ dense.detach().numpy())
    assert torch.autograd.gradcheck(pattern.times, (values, dense))
    assert torch.equal(pattern.rows[pattern.mirror], pattern.columns)
    np.testing.assert_allclose(pattern.matrix(pattern.normalized(values)).to_dense().detach(), normalized(matrix))


def test_propagation_and_attributes() -> None:
    graph = small(0)
    expected = normalized(graph.adjacency().toarray() + np.eye(14))
    np.testing.assert_allclose(propagation(graph)(torch.eye(14)), expected, rtol=1e-6)
    assert torch.equal(attributes(graph)(torch.eye(14)), torch.eye(14))
