"""AirGNN: message passing whose residual adapts to each node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from focusedcleaner.classifiers.layers import Perceptron, attributes_for, num_columns
from focusedcleaner.classifiers.training import Network, NetworkClassifier
from focusedcleaner.engine.operators import Operator, propagation
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph

_TINY = 1e-12


@dataclass
class Air(NetworkClassifier):
    """Propagates H = MLP(X) by proximal gradient steps on λ·tr(Fᵀ(I − Â)F) + (1 − λ)·Σᵢ ‖Fᵢ − Hᵢ‖₂:

        Y = Â·F,  βᵢ = max(1 − (1 − λ) / (2λ·‖Yᵢ − Hᵢ‖₂), 0),  Fᵢ ← (1 − βᵢ)·Hᵢ + βᵢ·Yᵢ,

    K times from F = H, the steps being of size 1/(2λ). A node whose neighbours disagree with it follows them; one whose
    neighbours agree keeps what it is. Liu, Ding, Jin, Xu, Ma, Liu, Tang: "Graph Neural Networks with Adaptive
    Residual", NeurIPS 2021 (https://openreview.net/forum?id=hfkER_KJiNw).

    Args:
        smoothness: λ, between 0 (H alone) and 1 (propagation alone).
        steps: K.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> Air().fit(graph, seed=0).accuracy(graph) > 0.7
    True
    """

    name: ClassVar[str] = "air"

    hidden: int = 64
    smoothness: float = 0.5
    steps: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0 < self.smoothness <= 1 and self.steps >= 0):
            raise InputError("AirGNN's smoothness lies above 0 and at most at 1, and its steps at 0 or above")

    def network(self, graph: Graph) -> Network:
        perceptron = Perceptron(num_columns(graph), self.hidden, graph.num_classes, self.dropout)
        return _AirNetwork(self, perceptron)


class _AirNetwork(Network):
    def __init__(self, how: Air, perceptron: Perceptron) -> None:
        super().__init__()
        self.how, self.perceptron = how, perceptron

    def prepare(self, graph: Graph) -> tuple[Operator, Operator]:
        return propagation(graph), attributes_for(graph, self.perceptron.first)

    def forward(self, inputs: tuple[Operator, Operator]) -> Tensor:
        propagate, features = inputs
        return adaptive(self.perceptron(features), propagate, self.how.smoothness, self.how.steps)


def adaptive(start: Tensor, propagate: Operator, smoothness: float, steps: int) -> Tensor:
    """Adaptive message passing: F after K steps from H (N × C)."""
    values, threshold = start, (1 - smoothness) / (2 * smoothness)
    for _ in range(steps):
        change = propagate(values) - start
        length = (change.square().sum(dim=1, keepdim=True) + _TINY).sqrt()
        values = start + torch.relu(1 - threshold / length) * change
    return values
