"""ElasticGNN against its dense formula and its objective."""

from __future__ import annotations

import numpy as np
import torch

from focusedcleaner.classifiers.elastic import Elastic, elastic, incidence
from focusedcleaner.engine.operators import propagation
from focusedcleaner.graph import Graph
from tests.classifiers.dense import Matrix, Weights, check_formula, hat, perceptron, small


def dense_elastic(graph: Graph, weights: Weights) -> Matrix:
    start = perceptron(graph, weights)
    u, v = graph.edges.T
    root = (graph.degrees + 1.0) ** -0.5
    delta = np.zeros((graph.num_edges, graph.num_nodes))
    delta[np.arange(len(u)), u], delta[np.arange(len(u)), v] = root[u], -root[v]
    share, values, dual = 1 / 2, start, np.zeros((graph.num_edges, start.shape[1]))
    for _ in range(10):
        target = share * start + (1 - share) * hat(graph) @ values
        dual = dual + delta @ (target - share * delta.T @ dual) / (2 * share)
        length = np.linalg.norm(dual, axis=1, keepdims=True)
        dual = np.where(length > 1, dual / np.where(length > 0, length, 1), dual)
        values = target - share * delta.T @ dual
    return np.asarray(values)


def test_elastic_formula() -> None:
    check_formula(Elastic(epochs=3), dense_elastic)


def test_message_passing_minimizes_its_objective() -> None:
    graph = small(3)
    spread, differences = propagation(graph), incidence(graph)
    start = torch.randn(14, 3, generator=torch.manual_seed(0))

    def loss(values: torch.Tensor) -> float:
        smooth = (values * (values - spread(values))).sum()
        return float(0.5 * (values - start).square().sum() + differences[0](values).norm(dim=1).sum() + 0.5 * smooth)

    optimum = elastic(start, spread, differences, (1.0, 1.0), 500)
    assert loss(optimum) < loss(elastic(start, spread, differences, (1.0, 1.0), 3)) < loss(start)
    rng = torch.manual_seed(1)
    for _ in range(20):
        assert loss(optimum) <= loss(optimum + 0.01 * torch.randn(14, 3, generator=rng)) + 1e-5
