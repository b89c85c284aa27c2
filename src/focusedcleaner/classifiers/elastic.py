"""ElasticGNN: smooth over edges, but not across every one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from focusedcleaner.classifiers.layers import Perceptron, attributes_for, num_columns
from focusedcleaner.classifiers.training import Network, NetworkClassifier
from focusedcleaner.engine.operators import Operator, propagation
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph

_TINY = 1e-12


@dataclass
class Elastic(NetworkClassifier):
    """Propagates H = MLP(X) by K primal-dual steps on ½‖F − H‖² + λ₁·‖ΔF‖₂₁ + (λ₂/2)·tr(Fᵀ(I − Â)F):

        Y = g·H + (1 − g)·Â·F,  g = 1/(1 + λ₂),
        Z ← P(Z + (1/(2g))·Δ·(Y − g·ΔᵀZ)),  F ← Y − g·ΔᵀZ,

    where Δ is the incidence matrix with its columns scaled by d^-½ and P shortens each edge's row to λ₁ at most. The
    norm that is not squared lets a few edges differ much, as planted ones do. Liu, Jin, Ma, Li, Liu, Wang, Yan, Tang:
    "Elastic Graph Neural Networks", ICML 2021 (https://arxiv.org/abs/2107.06996).

    Args:
        sparse_weight: λ₁.
        smooth_weight: λ₂.
        steps: K.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> Elastic().fit(graph, seed=0).accuracy(graph) > 0.7
    True
    """

    name: ClassVar[str] = "elastic"

    hidden: int = 64
    sparse_weight: float = 3.0
    smooth_weight: float = 3.0
    steps: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (min(self.sparse_weight, self.smooth_weight) >= 0 and self.steps >= 0):
            raise InputError("ElasticGNN's weights and steps must be 0 or above")

    def network(self, graph: Graph) -> Network:
        perceptron = Perceptron(num_columns(graph), self.hidden, graph.num_classes, self.dropout)
        return _ElasticNetwork(self, perceptron)


class _ElasticNetwork(Network):
    def __init__(self, how: Elastic, perceptron: Perceptron) -> None:
        super().__init__()
        self.how, self.perceptron = how, perceptron

    def prepare(self, graph: Graph) -> tuple[Operator, tuple[Operator, Operator], Operator]:
        return propagation(graph), incidence(graph), attributes_for(graph, self.perceptron.first)

    def forward(self, inputs: tuple[Operator, tuple[Operator, Operator], Operator]) -> Tensor:
        propagate, differences, features = inputs
        how = self.how
        return elastic(
            self.perceptron(features), propagate, differences, (how.sparse_weight, how.smooth_weight), how.steps
        )


def incidence(graph: Graph) -> tuple[Operator, Operator]:
    """Δ (E × N, u of each edge minus v, scaled by d^-½ with d = degree + 1) and its transpose."""
    scale = (graph.degrees + 1.0) ** -0.5
    edge = np.arange(graph.num_edges)
    values = np.concatenate([scale[graph.edges[:, 0]], -scale[graph.edges[:, 1]]])
    places = (np.concatenate([edge, edge]), graph.edges.T.ravel())
    matrix = sp.coo_array((values, places), shape=(graph.num_edges, graph.num_nodes)).tocsr()
    return Operator(matrix), Operator(sp.csr_array(matrix.T))


def elastic(
    start: Tensor, propagate: Operator, differences: tuple[Operator, Operator], weights: tuple[float, float], steps: int
) -> Tensor:
    """Elastic message passing: F after K steps from H (N × C)."""
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
