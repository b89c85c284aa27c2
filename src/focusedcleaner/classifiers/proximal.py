"""AirGNN and ElasticGNN: proximal steps that smooth the output of a perceptron over the edges."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from focusedcleaner.classifiers.base import TwoLayers
from focusedcleaner.engine.operators import Operator, propagation
from focusedcleaner.graph import Graph

_TINY = 1e-12


class _AirNetwork(TwoLayers):
    def __init__(self, model: Air, graph: Graph) -> None:
        super().__init__(model, graph)
        self.smoothness, self.steps = model.smoothness, model.steps

    def operators(self, graph: Graph) -> Operator:
        return propagation(graph)

    def forward(self, x: Operator, propagate: Operator) -> Tensor:
        return adaptive(self.perceptron(x), propagate, self.smoothness, self.steps)


def adaptive(start: Tensor, propagate: Operator, smoothness: float, steps: int) -> Tensor:
    """Adaptive message passing: return F after K steps from H (N × C)."""
    values, threshold = start, (1 - smoothness) / (2 * smoothness)
    for _ in range(steps):
        change = propagate(values) - start
        length = (change.square().sum(dim=1, keepdim=True) + _TINY).sqrt()
        values = start + torch.relu(1 - threshold / length) * change
    return values


class _ElasticNetwork(TwoLayers):
    def __init__(self, model: Elastic, graph: Graph) -> None:
        super().__init__(model, graph)
        self.weights, self.steps = (model.sparse_weight, model.smooth_weight), model.steps

    def operators(self, graph: Graph) -> tuple[Operator, tuple[Operator, Operator]]:
        return propagation(graph), incidence(graph)

    def forward(self, x: Operator, operators: tuple[Operator, tuple[Operator, Operator]]) -> Tensor:
        return elastic(self.perceptron(x), *operators, self.weights, self.steps)


def incidence(graph: Graph) -> tuple[Operator, Operator]:
    """Return Δ (E × N; +1 at u and −1 at v of each edge, scaled by d^-½ with d = degree + 1) and its transpose."""
    scale = (graph.degrees + 1.0) ** -0.5
    edge = np.arange(graph.num_edges)
    values = np.concatenate([scale[graph.edges[:, 0]], -scale[graph.edges[:, 1]]])
    places = (np.concatenate([edge, edge]), graph.edges.T.ravel())
    matrix = sp.coo_array((values, places), shape=(graph.num_edges, graph.num_nodes)).tocsr()
    return Operator(matrix), Operator(sp.csr_array(matrix.T))


def elastic(
    start: Tensor, propagate: Operator, differences: tuple[Operator, Operator], weights: tuple[float, float], steps: int
) -> Tensor:
    """Elastic message passing: return F after K steps from H (N × C)."""
    along, back = differences
    sparse, smooth = weights
    share = 1 / (1 + smooth)
    values, dual = start, along(start) * 0
    for _ in range(steps):
        target = share * start + (1 - share) * propagate(values)
        dual = dual + along(target - share * back(dual)) / (2 * share)
        length = (dual.square().sum(dim=1, keepdim=True) + _TINY).sqrt()
        dual = dual * torch.clamp(sparse / length, max=1.0)
        values = target - share * back(dual)
    return values
