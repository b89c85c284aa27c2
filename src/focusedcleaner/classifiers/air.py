"""AirGNN: message passing whose residual adapts to each node."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from focusedcleaner.classifiers.base import SINGLE, NetworkClassifier, TwoLayers
from focusedcleaner.engine.operators import Operator
from focusedcleaner.graph import Graph
from focusedcleaner.settings import bounded

_TINY = 1e-12


class _AirNetwork(TwoLayers):
    def forward(self, x: Operator, propagate: Operator) -> Tensor:
        return adaptive(self.perceptron(x), propagate, self.model.smoothness, self.model.steps)


@dataclass
class Air(NetworkClassifier):
    """Propagates H = MLP(X) by proximal gradient steps on λ·tr(Fᵀ(I − Â)F) + (1 − λ)·Σᵢ ‖Fᵢ − Hᵢ‖₂:

        Y = Â·F,  βᵢ = max(1 − (1 − λ) / (2λ·‖Yᵢ − Hᵢ‖₂), 0),  Fᵢ ← (1 − βᵢ)·Hᵢ + βᵢ·Yᵢ,

    K times from F = H, with step size 1/(2λ). A node whose neighbours disagree with it follows them; one whose
    neighbours agree with it keeps H. Liu, Ding, Jin, Xu, Ma, Liu, Tang: "Graph Neural Networks with Adaptive
    Residual", NeurIPS 2021 (https://openreview.net/forum?id=hfkER_KJiNw).

    Args:
        smoothness: λ, between 0 (H alone) and 1 (propagation alone).
        steps: K.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> Air().fit(graph, seed=0).accuracy(graph) > 0.7
    True
    """

    name = "air"
    network = _AirNetwork

    hidden: int = bounded(64, "[1, 10000]")
    smoothness: float = bounded(0.5, "(0, 1]")
    steps: int = bounded(10, "[0, 10000]")

    def bytes_held(self, graph: Graph) -> float:
        return 6.0 * SINGLE * self.steps * graph.num_nodes * graph.num_classes  # what each step keeps for its gradient


def adaptive(start: Tensor, propagate: Operator, smoothness: float, steps: int) -> Tensor:
    """Adaptive message passing: return F after K steps from H (N × C)."""
    values, threshold = start, (1 - smoothness) / (2 * smoothness)
    for _ in range(steps):
        change = propagate(values) - start
        length = (change.square().sum(dim=1, keepdim=True) + _TINY).sqrt()
        values = start + torch.relu(1 - threshold / length) * change
    return values
