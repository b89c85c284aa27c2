"""The outer loss over validation and test nodes, and its gradient with respect to the surrogate's logits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph


@dataclass(frozen=True)
class LossValue:
    """The loss at one point."""

    signal: Tensor
    """∂loss/∂Z, N × C."""
    parts: dict[str, float]
    """The mean cross-entropy of the normal nodes of each kind, and the accuracy on all validation nodes."""


class OuterLoss:
    """λ·CE(validation ∩ normal, true labels) + (1−λ)·CE(test ∩ normal, own predictions) (Eq. 6a).

    Each is a sum over its normal nodes divided by the number of *all* validation or test nodes: that one node is left
    out does not make the others weigh more.
    """

    def __init__(self, graph: Graph, *, dtype: torch.dtype, device: torch.device | str) -> None:
        if graph.split is None or graph.labels is None:
            raise InputError("the outer loss needs a graph with labels and a split")
        self.val = torch.tensor(graph.split.val, device=device)
        self.test = torch.tensor(graph.split.test, device=device)
        self.truth = torch.tensor(graph.labels[graph.split.val], device=device)
        self.dtype = dtype

    @property
    def validates(self) -> bool:
        """Whether there are validation nodes."""
        return len(self.val) > 0

    def at(self, logits: Tensor, normal: Tensor, share: float) -> LossValue:
        """The loss at Z over the normal nodes, λ being ``share``."""
        predicted = logits.argmax(1)
        signal = torch.zeros_like(logits)
        trusted = normal[self.val]
        first = self._add(signal, logits, self.val[trusted], self.truth[trusted], share / max(len(self.val), 1))
        nodes = self.test[normal[self.test]]
        second = self._add(signal, logits, nodes, predicted[nodes], (1 - share) / max(len(self.test), 1))
        right = (predicted[self.val] == self.truth).double().mean() if self.validates else math.nan
        parts = {"validation_loss": first, "test_loss": second, "validation_accuracy": float(right)}
        return LossValue(signal, parts)

    def _add(self, signal: Tensor, logits: Tensor, nodes: Tensor, labels: Tensor, weight: float) -> float:
        """Add weight·∂CE/∂Z for each of some nodes; their mean cross-entropy."""
        if not len(nodes):
            return math.nan
        target = one_hot(labels, logits.shape[1]).to(self.dtype)
        logs = torch.log_softmax(logits[nodes], 1)
        signal[nodes] += weight * (logs.exp() - target)
        return float(-(logs * target).sum(1).mean())
