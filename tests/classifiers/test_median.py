"""MedianGCN against its formula."""

from __future__ import annotations

import numpy as np
import torch

from focusedcleaner.classifiers.median import Median, Neighbourhoods
from focusedcleaner.graph import Graph
from tests.classifiers.dense import Matrix, Weights, adjacency, check_formula, features, relu


def dense_median(graph: Graph, weights: Weights) -> Matrix:
    near = adjacency(graph) + np.eye(graph.num_nodes) > 0

    def median(values: Matrix) -> Matrix:
        rows = [np.sort(values[near[node]], axis=0) for node in range(graph.num_nodes)]
        return np.array([row[(len(row) - 1) // 2] for row in rows])

    hidden = relu(median(features(graph) @ weights["first.weight"]) + weights["first.bias"])
    return median(hidden @ weights["second.weight"]) + weights["second.bias"]


def test_formula() -> None:
    check_formula(Median(epochs=3), dense_median)


def test_medians_of_wide_neighbourhoods() -> None:
    star = Graph(9, [[0, leaf] for leaf in range(1, 9)])
    values = torch.tensor([5.0, 1, 2, 3, 4, 6, 7, 8, 9]).unsqueeze(1)
    assert Neighbourhoods(star).median(values).ravel().tolist() == [5.0, 1, 2, 3, 4, 5, 5, 5, 5]
