"""AirGNN against its dense formula and its objective."""

from __future__ import annotations

import numpy as np
import torch

from focusedcleaner.classifiers.air import Air, adaptive
from focusedcleaner.engine.operators import propagation
from focusedcleaner.graph import Graph
from tests.classifiers.dense import Matrix, Weights, check_formula, hat, perceptron, relu, small


def dense_air(graph: Graph, weights: Weights) -> Matrix:
    start = values = perceptron(graph, weights)
    for _ in range(10):
        change = hat(graph) @ values - start
        length = np.linalg.norm(change, axis=1, keepdims=True)
        share = relu(1 - 0.5 / np.where(length > 0, length, 1e-300))
        values = (1 - share) * start + share * (start + change)
    return np.asarray(values)


def test_air_formula() -> None:
    check_formula(Air(epochs=3, smoothness=0.5), dense_air)


def test_message_passing_lowers_its_objective() -> None:
    spread = propagation(small(3))
    start = torch.randn(14, 3, generator=torch.manual_seed(0))

    def loss(values: torch.Tensor) -> float:
        return float(0.5 * (values * (values - spread(values))).sum() + 0.5 * (values - start).norm(dim=1).sum())

    assert loss(adaptive(start, spread, 0.5, 200)) < loss(adaptive(start, spread, 0.5, 2))
