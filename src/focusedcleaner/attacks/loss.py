"""What an attacker raises: how wrong the surrogate is on the nodes that matter."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from focusedcleaner.graph import Graph


class AttackerLoss:
    """λ·loss(training nodes, labels) + (1−λ)·loss(the others, ŷ), means over nodes.

    A node's loss is its cross-entropy, or with "cw" its margin −max(Z_y − max_{c ≠ y} Z_c, 0).

    Args:
        graph: with labels for its training nodes.
        predicted: ŷ, N class numbers.
        lambda_: λ.
        kind: "ce" or "cw".
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
        """∂loss/∂Z, N × C."""
        if self.kind == "ce":
            return self.weights * (torch.softmax(logits, 1) - self.target)
        margin, rival = self._margins(logits)
        return self.weights * (margin > 0).unsqueeze(1) * (one_hot(rival, logits.shape[1]) - self.target)

    def value(self, logits: Tensor) -> float:
        """The loss."""
        if self.kind == "ce":
            return -float((self.weights * self.target * torch.log_softmax(logits, 1)).sum())
        return -float((self.weights.squeeze(1) * self._margins(logits)[0].clamp_min(0)).sum())

    def _margins(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """By how much each node's label leads, and the class that comes next."""
        own = (logits * self.target).sum(1)
        best, rival = torch.where(self.target > 0, -torch.inf, logits).max(1)
        return own - best, rival
