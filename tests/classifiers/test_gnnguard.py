"""GNNGuard against its formula."""

from __future__ import annotations

import numpy as np
import torch

from focusedcleaner.classifiers.gnnguard import GNNGuard, importance
from focusedcleaner.engine.operators import EdgeMatrix
from focusedcleaner.graph import Graph
from tests.classifiers.dense import Matrix, Weights, adjacency, check_formula, cosine, features, relu, small


def dense_gnnguard(graph: Graph, weights: Weights) -> Matrix:
    def attention(values: Matrix) -> Matrix:
        alike = cosine(values) * adjacency(graph)
        alike[alike < 0.1] = 0
        count, total = (alike > 0).sum(axis=1, keepdims=True), alike.sum(axis=1, keepdims=True)
        shares = alike / np.where(total > 0, total, 1) * count / (count + 1)
        return np.asarray(shares + np.diag(1 / (count[:, 0] + 1)))

    def scaled(matrix: Matrix) -> Matrix:
        root = matrix.sum(axis=1) ** -0.5
        return root[:, None] * matrix * root

    first = attention(features(graph))
    hidden = relu(scaled(first) @ features(graph) @ weights["first.weight"] + weights["first.bias"])
    second = 0.5 * first + 0.5 * attention(hidden)
    return scaled(second) @ hidden @ weights["second.weight"] + weights["second.bias"]


def test_formula() -> None:
    check_formula(GNNGuard(epochs=3), dense_gnnguard)


def test_importance_sums_to_one_at_every_node() -> None:
    pattern = EdgeMatrix(small(2))
    sums = pattern.row_sums(importance(pattern, torch.rand(len(pattern.rows)), 0.1))
    torch.testing.assert_close(sums, torch.ones(14))
