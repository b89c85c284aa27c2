"""The loss that attackers maximize."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from focusedcleaner.graph import Graph

LossKind = Literal["ce", "cw", "tanh", "probability"]


class AttackerLoss:
    """The surrogate's loss, λ·loss(training nodes, labels) + (1−λ)·loss(the others, ŷ), with means over nodes.

    ``predicted`` is ŷ, N class numbers. With m = Z_y − max_{c ≠ y} Z_c the margin and p = softmax(Z), the ``kind`` of a
    node's loss is

        ce: −log p_y    cw: −max(m, 0)    tanh: −tanh(m)    probability: −p_y.

    The gradient of the last two is small at nodes that are wrong already: they leave the budget to the others.
    """

    def __init__(self, graph: Graph, predicted: Tensor, lambda_: float, kind: LossKind = "ce") -> None:
        assert graph.split is not None
        assert graph.labels is not None
        train = torch.tensor(graph.split.train)
        self.kind = kind
        self.labels = predicted.clone()
        self.labels[train] = torch.tensor(graph.labels)[train]
        self.target = one_hot(self.labels, graph.num_classes).double()
        others = graph.num_nodes - len(train)
        self.weights = torch.full((graph.num_nodes, 1), (1 - lambda_) / max(others, 1), dtype=torch.float64)
        self.weights[train] = lambda_ / len(train)

    def signal(self, logits: Tensor) -> Tensor:
        """Return ∂loss/∂Z, N × C."""
        if self.kind in ("ce", "probability"):
            softmax = torch.softmax(logits, 1)
            error = self.weights * (softmax - self.target)
            return error if self.kind == "ce" else (softmax * self.target).sum(1, keepdim=True) * error
        margin, rival = self._margins(logits)
        slope = (margin > 0).double() if self.kind == "cw" else 1 - torch.tanh(margin) ** 2
        return self.weights * slope.unsqueeze(1) * (one_hot(rival, logits.shape[1]) - self.target)

    def value(self, logits: Tensor) -> float:
        """Return the loss."""
        if self.kind == "ce":
            return -float((self.weights * self.target * torch.log_softmax(logits, 1)).sum())
        if self.kind == "probability":
            return -float((self.weights * self.target * torch.softmax(logits, 1)).sum())
        margin, _ = self._margins(logits)
        bounded = margin.clamp_min(0) if self.kind == "cw" else torch.tanh(margin)
        return -float((self.weights.squeeze(1) * bounded).sum())

    def _margins(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Return the margin of each node's label over the best other class, and that class."""
        own = (logits * self.target).sum(1)
        best, rival = torch.where(self.target > 0, -torch.inf, logits).max(1)
        return own - best, rival
