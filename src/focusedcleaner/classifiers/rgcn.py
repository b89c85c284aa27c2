"""RGCN: features are Gaussian, and where they vary much they count little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import dropout, elu

from focusedcleaner.classifiers.layers import Affine, attributes_for, num_columns
from focusedcleaner.classifiers.training import Network, NetworkClassifier
from focusedcleaner.engine.operators import Operator, propagation, scaled_adjacency
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph

_TINY = 1e-8


@dataclass
class RGCN(NetworkClassifier):
    """Each node is a Gaussian with mean M and variance Σ per feature; attention α = exp(−γ·Σ) discounts uncertain ones:

        M₁ = ELU(X·W_M), Σ₁ = ReLU(X·W_Σ),
        M' = D^-½ (A + I) D^-½ (M ⊙ α),  Σ' = D^-1 (A + I) D^-1 (Σ ⊙ α ⊙ α),

    once more with the first layer's M', Σ' in the place of X, then S = M'₂ + ε ⊙ √Σ'₂ with ε ~ N(0, I) in training and
    ε = 0 in use. The loss has β·KL(N(M₁, Σ₁) ‖ N(0, I)) beside the cross-entropy, per node, and weight decay on the
    first layer only. Zhu, Zhang, Cui, Zhu: "Robust Graph Convolutional Networks Against Adversarial Attacks", KDD 2019
    (https://doi.org/10.1145/3292500.3330851).

    Args:
        attention: γ.
        divergence: β, the weight of the Kullback-Leibler divergence.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> RGCN().fit(graph, seed=0).accuracy(graph) > 0.7
    True
    """

    name: ClassVar[str] = "rgcn"

    hidden: int = 64
    attention: float = 1.0
    divergence: float = 5e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        if not min(self.attention, self.divergence) >= 0:
            raise InputError("RGCN's attention and divergence must be 0 or above")

    def network(self, graph: Graph) -> Network:
        return RGCNNetwork(self, num_columns(graph), graph.num_classes)


class RGCNNetwork(Network):
    """Weights for means and variances, two layers."""

    def __init__(self, how: RGCN, columns: int, classes: int) -> None:
        super().__init__()
        self.how = how
        self.mean, self.variance = Affine(columns, how.hidden), Affine(columns, how.hidden)
        self.mean_out, self.variance_out = Affine(how.hidden, classes), Affine(how.hidden, classes)
        self._divergence: Tensor | float = 0.0

    def prepare(self, graph: Graph) -> tuple[Operator, Operator, Operator]:
        variances = Operator(scaled_adjacency(graph, power=-1.0), symmetric=True)
        return propagation(graph), variances, attributes_for(graph, self.mean)

    def forward(self, inputs: tuple[Operator, Operator, Operator]) -> Tensor:
        *spread, features = inputs
        mean = elu(features(self.mean.weight) + self.mean.bias)
        variance = torch.relu(features(self.variance.weight) + self.variance.bias)
        self._divergence = divergence(mean, variance)
        mean, variance = convolve(mean, variance, *spread, attention=self.how.attention)
        mean = dropout(mean, self.how.dropout, self.training)
        variance = dropout(variance, self.how.dropout, self.training)
        mean, variance = self.mean_out(mean), torch.relu(self.variance_out(variance))
        mean, variance = convolve(mean, variance, *spread, attention=self.how.attention)
        return mean + torch.randn_like(mean) * (variance + _TINY).sqrt() if self.training else mean

    def penalty(self) -> Tensor | float:
        return self.how.divergence * self._divergence

    def groups(self, weight_decay: float) -> list[dict[str, object]]:
        first = [*self.mean.parameters(), *self.variance.parameters()]
        last = [*self.mean_out.parameters(), *self.variance_out.parameters()]
        return [{"params": first, "weight_decay": weight_decay}, {"params": last, "weight_decay": 0.0}]


def convolve(
    mean: Tensor, variance: Tensor, means: Operator, variances: Operator, *, attention: float
) -> tuple[Tensor, Tensor]:
    """The Gaussian graph convolution without its weights: M' and Σ' of M and Σ (N × F each)."""
    weight = torch.exp(-attention * variance)
    return means(mean * weight), variances(variance * weight * weight)


def divergence(mean: Tensor, variance: Tensor) -> Tensor:
    """The mean over nodes of KL(N(M, Σ) ‖ N(0, I)) = ½ Σ_f (M² + Σ − 1 − log Σ)."""
    return 0.5 * (mean**2 + variance - 1 - torch.log(variance + _TINY)).sum(dim=1).mean()
