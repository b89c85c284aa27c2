"""ClassDiv: victims are nodes whose neighbourhood has unusually divergent classes."""

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
from focusedcleaner.surrogate.inner import softmax_jvp


@dataclass(frozen=True)
class ClassDiv(Detector):
    """Six divergences in a deep Gaussian mixture; victims have E(M_i) > κ_t, κ_t = β·Q_τ(E) + (1−β)·κ_{t−1}.

    M = (prox₁, prox₂, Div_JS) of softmax(PCA(X)/T) and of softmax(Z/T) (Eq. 7), each scaled to [0, 1] (Eq. 11); without
    attributes the last three only. The mixture is Eq. 12, the threshold Eq. 13, the victims Eq. 14. From
    "FocusedCleaner", Section 6.4.1.

    Args:
        tau: quantile τ of the energies above which a node is a victim.
        beta: weight β of this step's quantile in the threshold.
        temperature: T of the softmax.
        hidden: width of the mixture's network.
        rate: Adam's learning rate.
        first_epochs: training epochs in the first step.
        epochs: training epochs in later steps, from the previous step's weights.
        warm_start: whether later steps start from these weights; otherwise each trains anew for ``first_epochs``.
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
        """Return M (Eq. 11e), 6 × N or 3 × N, each row scaled to [0, 1]; a constant row becomes 0.

        Args:
            view: the nodes to describe.
            like: view that defines the scale; ``view`` itself if None.
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

        def gradient(outputs: Tensor) -> Tensor:
            """Return the gradient of the mean energy, through the softmax of Eq. 12b."""
            membership = torch.softmax(outputs, 0)
            return softmax_jvp(membership, Mixture.of(monomials, membership).gradient(1 / features.shape[1]))

        warm = self.warm_start and bool(memory)
        sizes = len(features), self.hidden, view.logits.shape[1]
        start = memory if warm else mlp.initial_weights(*sizes, seed=view.seed)
        epochs = self.epochs if warm else self.first_epochs
        weights = mlp.train(start, features, gradient, epochs=epochs, rate=self.rate)
        energy = Mixture.of(monomials, torch.softmax(mlp.apply(features, weights), 0)).energies()
        threshold = torch.quantile(energy, self.tau)
        if "threshold" in memory:
            threshold = self.beta * threshold + (1 - self.beta) * memory["threshold"]
        return Victims.above(energy, threshold, {**weights, "threshold": threshold})
