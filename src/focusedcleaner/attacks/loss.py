"""The loss that attackers maximize."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from focusedcleaner.graph import Graph


class AttackerLoss:
    """The surrogate's loss, λ·loss(training nodes, labels) + (1−λ)·loss(the others, ŷ), with means over nodes.

    The loss of a node is its cross-entropy, or with the ``kind`` "cw" its margin −max(Z_y − max_{c ≠ y} Z_c, 0).
    ``predicted`` is ŷ, N class numbers.
    """

    def __init__(self, graph: Graph, predicted: Tensor, lambda_: float, kind: str = "ce") -> None:
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
        if self.kind == "ce":
            return self.weights * (torch.softmax(logits, 1) - self.target)
        margin, rival = self._margins(logits)
        return self.weights * (margin > 0).unsqueeze(1) * (one_hot(rival, logits.shape[1]) - self.target)

    def value(self, logits: Tensor) -> float:
        """Return the loss."""
        if self.kind == "ce":
            return -float((self.weights * self.target * torch.log_softmax(logits, 1)).sum())
        return -float((self.weights.squeeze(1) * self._margins(logits)[0].clamp_min(0)).sum())

    def _margins(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Return the margin of each node's label over the best other class, and that class."""
        own = (logits * self.target).sum(1)
        best, rival = torch.where(self.target > 0, -torch.inf, logits).max(1)
        return own - best, rival
