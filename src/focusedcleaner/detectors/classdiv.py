"""ClassDiv: victims are the nodes whose neighbourhood's classes disagree in an unusual way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from focusedcleaner.detectors import mlp
from focusedcleaner.detectors.base import Detector, Memory, Victims, View
from focusedcleaner.detectors.mixture import Mixture, Monomials
from focusedcleaner.edge_features.divergences import divergences
from focusedcleaner.errors import InputError


@dataclass(frozen=True)
class ClassDiv(Detector):
    """Six divergences into a deep Gaussian mixture; victims have E(M_i) > κ_t, κ_t = β·Q_τ(E) + (1−β)·κ_{t−1}.

    M = (prox₁, prox₂, Div_JS) of softmax(Z/T) and of softmax(PCA(X)/T), each scaled to [0, 1] (Eq. 10); without
    attributes the first three alone. From "FocusedCleaner", Section 6.4.1.

    Args:
        tau: the quantile τ of the energies above which a node is a victim.
        beta: the weight β of this step's quantile in the threshold.
        temperature: T of the softmax.
        hidden: width of the mixture's network.
        rate: Adam's.
        first_epochs: epochs of the mixture's training in the first step.
        epochs: epochs in each later step, from the weights of the step before.
        warm_start: whether there are such; otherwise each step trains afresh for ``first_epochs``.
    """

    name: ClassVar[str] = "classdiv"

    tau: float = 0.6
    beta: float = 0.3
    temperature: float = 2.0
    hidden: int = 100
    rate: float = 1e-2
    first_epochs: int = 100
    epochs: int = 2
    warm_start: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.tau <= 1 or not 0 <= self.beta <= 1:
            raise InputError(f"tau and beta lie between 0 and 1, not {self.tau:g} and {self.beta:g}")
        if self.temperature <= 0 or self.rate <= 0 or min(self.hidden, self.first_epochs) < 1 or self.epochs < 0:
            raise InputError("ClassDiv's temperature, rate, width and epochs must be positive")

    def features(self, view: View, like: View | None = None) -> Tensor:
        """M, 6 × N or 3 × N, each row scaled to [0, 1]; a constant row becomes 0.

        Args:
            view: whose features.
            like: whose features fill [0, 1], where these are to be compared with another view's.
        """
        raw = self._divergences(view)
        scale = raw if like is None else self._divergences(like)
        low, high = scale.amin(1, keepdim=True), scale.amax(1, keepdim=True)
        return ((raw - low) / torch.where(high > low, high - low, 1.0)).float().contiguous()

    def _divergences(self, view: View) -> Tensor:
        columns = [divergences(view.structure, torch.softmax(view.logits / self.temperature, 1))]
        if view.reduced is not None:
            columns.insert(0, divergences(view.structure, torch.softmax(view.reduced / self.temperature, 1)))
        return torch.cat(columns, 1).T

    def victims(self, view: View, memory: Memory) -> Victims:
        features = self.features(view)
        monomials = Monomials(features)

        def slope(outputs: Tensor) -> Tensor:
            """Of the mean energy, through the softmax that makes memberships of outputs."""
            membership = torch.softmax(outputs, 0)
            direction = Mixture.of(monomials, membership).slope(1 / features.shape[1])
            return membership * (direction - (membership * direction).sum(0))

        warm = self.warm_start and bool(memory)
        start = memory
        if not warm:
            sizes = len(features), self.hidden, view.logits.shape[1]
            start = mlp.fresh(*sizes, seed=view.seed, device=features.device)
        epochs = self.epochs if warm else self.first_epochs
        learnt = mlp.train(start, features, slope, epochs=epochs, rate=self.rate)
        energy = Mixture.of(monomials, torch.softmax(mlp.apply(features, learnt), 0)).energies()
        threshold = torch.quantile(energy, self.tau)
        if "threshold" in memory:
            threshold = self.beta * threshold + (1 - self.beta) * memory["threshold"]
        return Victims.above(energy, threshold, {**learnt, "threshold": threshold})
