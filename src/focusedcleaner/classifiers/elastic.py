"""ElasticGNN: smooth over most edges, with large differences at a few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from focusedcleaner.classifiers.base import SINGLE, NetworkClassifier, TwoLayers
from focusedcleaner.engine.operators import Operator, propagation
from focusedcleaner.graph import Graph
from focusedcleaner.settings import bounded

_TINY = 1e-12


class _ElasticNetwork(TwoLayers):
    def operators(self, graph: Graph) -> tuple[Operator, tuple[Operator, Operator]]:
        return propagation(graph), incidence(graph)

    def forward(self, x: Operator, operators: tuple[Operator, tuple[Operator, Operator]]) -> Tensor:
        weights = self.model.sparse_weight, self.model.smooth_weight
        return elastic(self.perceptron(x), *operators, weights, self.model.steps)


@dataclass
class Elastic(NetworkClassifier):
    """Propagates H = MLP(X) by K primal-dual steps on ½‖F − H‖² + λ₁·‖ΔF‖₂₁ + (λ₂/2)·tr(Fᵀ(I − Â)F):

        Y = g·H + (1 − g)·Â·F,  g = 1/(1 + λ₂),
        Z ← P(Z + (1/(2g))·Δ·(Y − g·ΔᵀZ)),  F ← Y − g·ΔᵀZ,

    where Δ is the incidence matrix with its columns scaled by d^-½ and P clips the norm of each edge's row to λ₁. The
    norm is not squared, so a few edges may differ much, as planted ones do. It isn't free of scale, either: where λ₁ is
    large against H, as without attributes, all nodes get the same scores. Liu, Jin, Ma, Li, Liu, Wang, Yan, Tang:
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

    name = "elastic"
    network = _ElasticNetwork

    hidden: int = bounded(64, "[1, 10000]")
    sparse_weight: float = bounded(1.0, "[0, inf)")
    smooth_weight: float = bounded(1.0, "[0, inf)")
    steps: int = bounded(10, "[0, 10000]")

    def bytes_held(self, graph: Graph) -> float:
        return 6.0 * SINGLE * self.steps * graph.num_edges * graph.num_classes  # what each step keeps for its gradient


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
