"""RGCN against its formula, and the terms of its loss."""

from __future__ import annotations

import numpy as np
import torch

from focusedcleaner.classifiers.rgcn import RGCN, convolve, divergence
from focusedcleaner.engine.operators import propagation
from focusedcleaner.graph import Graph
from tests.classifiers.dense import Matrix, Weights, adjacency, check_formula, features, hat, normalized, relu, small


def dense_rgcn(graph: Graph, weights: Weights) -> Matrix:
    squared = normalized(adjacency(graph) + np.eye(graph.num_nodes), -1.0)
    X = features(graph)
    mean = X @ weights["mean.weight"] + weights["mean.bias"]
    mean = np.where(mean > 0, mean, np.expm1(np.minimum(mean, 0)))
    variance = relu(X @ weights["variance.weight"] + weights["variance.bias"])
    attention = np.exp(-variance)
    mean, variance = hat(graph) @ (mean * attention), squared @ (variance * attention**2)
    mean = mean @ weights["mean_out.weight"] + weights["mean_out.bias"]
    variance = relu(variance @ weights["variance_out.weight"] + weights["variance_out.bias"])
    return np.asarray(hat(graph) @ (mean * np.exp(-variance)))


def test_formula() -> None:
    check_formula(RGCN(epochs=3), dense_rgcn)


def test_divergence_is_that_of_torch() -> None:
    mean, variance = torch.randn(5, 3), torch.rand(5, 3) + 0.1
    normal = torch.distributions.Normal
    expected = torch.distributions.kl_divergence(normal(mean, variance.sqrt()), normal(0.0, 1.0)).sum(dim=1).mean()
    torch.testing.assert_close(divergence(mean, variance), expected)


def test_uncertain_features_count_less() -> None:
    spread = propagation(small(0))
    mean = torch.ones(14, 1)
    low, high = (convolve(mean, torch.full((14, 1), v), spread, spread, attention=1.0)[0] for v in (0.1, 2.0))
    assert (low > high).all()
