"""Operators, similarities and eigenpairs of the lower layers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from focusedcleaner.edge_features.similarity import cosines, nearest_neighbours, unit_rows
from focusedcleaner.engine.edge_matrix import EdgeMatrix
from focusedcleaner.engine.operators import Operator, scaled_adjacency
from focusedcleaner.engine.spectral import leading
from focusedcleaner.graph import Graph
from tests.classifiers.dense import Matrix, adjacency, cosine, features, normalized, small


@pytest.mark.parametrize("seed", range(3))
def test_operators_and_their_gradients(seed: int) -> None:
    graph = small(seed)
    dense = torch.randn(14, 3, dtype=torch.float64, requires_grad=True, generator=torch.manual_seed(seed))
    operator = Operator(scaled_adjacency(graph, loops=0.0), dtype=torch.float64)
    np.testing.assert_allclose(operator(dense).detach(), normalized(adjacency(graph)) @ dense.detach().numpy())
    assert torch.autograd.gradcheck(operator, (dense,))
    pattern = EdgeMatrix(graph)
    values = torch.rand(len(pattern.rows), dtype=torch.float64, requires_grad=True)
    matrix = np.zeros((14, 14))
    matrix[pattern.rows, pattern.columns] = values.detach()
    np.testing.assert_allclose(pattern.times(values, dense).detach(), matrix @ dense.detach().numpy())
    assert torch.autograd.gradcheck(pattern.times, (values, dense))
    assert torch.equal(pattern.rows[pattern.mirror], pattern.columns)
    np.testing.assert_allclose(pattern.matrix(pattern.normalized(values)).to_dense().detach(), _row_scaled(matrix))


def _row_scaled(matrix: Matrix) -> Matrix:
    root = matrix.sum(axis=1) ** -0.5
    return root[:, None] * matrix * root


def test_similarities() -> None:
    graph = small(4)
    alike = cosine(features(graph))
    units = unit_rows(graph)
    np.testing.assert_allclose(cosines(units, graph.edges), alike[tuple(graph.edges.T)])
    pairs, values = nearest_neighbours(units, 2)
    np.testing.assert_allclose(values, alike[tuple(pairs.T)])
    np.fill_diagonal(alike, 0)
    expected = [np.sort(row)[::-1][:2] for row in alike]
    np.testing.assert_allclose(values, np.concatenate([row[row > 0] for row in expected]))


def test_leading_eigenvalues_of_a_larger_matrix() -> None:
    rng = np.random.default_rng(0)
    matrix = Graph.from_pairs(600, rng.integers(0, 600, (2000, 2))).adjacency()
    values, vectors = leading(matrix, 5)
    exact = np.linalg.eigvalsh(matrix.toarray())
    np.testing.assert_allclose(np.abs(values), np.sort(np.abs(exact))[::-1][:5], rtol=1e-6)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-6)
