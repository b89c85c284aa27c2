"""RGCN: Gaussian features, of which those with a large variance are discounted."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import dropout, elu

from focusedcleaner.classifiers.base import SINGLE, Affine, Network, NetworkClassifier
from focusedcleaner.engine.operators import Operator, propagation, scaled_adjacency
from focusedcleaner.graph import Graph
from focusedcleaner.settings import bounded

_TINY = 1e-8


class _RGCNNetwork(Network):
    def __init__(self, model: RGCN, graph: Graph) -> None:
        super().__init__(model, graph)
        hidden, classes = model.hidden, graph.num_classes
        self.mean, self.variance = Affine(self.columns, hidden), Affine(self.columns, hidden)
        self.mean_out, self.variance_out = Affine(hidden, classes), Affine(hidden, classes)
        self._divergence: Tensor | float = 0.0

    def operators(self, graph: Graph) -> tuple[Operator, Operator]:
        return propagation(graph), Operator(scaled_adjacency(graph, power=-1.0), symmetric=True)

    def forward(self, x: Operator, operators: tuple[Operator, Operator]) -> Tensor:
        mean = elu(x(self.mean.weight) + self.mean.bias)
        variance = torch.relu(x(self.variance.weight) + self.variance.bias)
        self._divergence = divergence(mean, variance)
        mean, variance = convolve(mean, variance, *operators, attention=self.model.attention)
        mean = dropout(mean, self.model.dropout, self.training)
        variance = dropout(variance, self.model.dropout, self.training)
        mean, variance = self.mean_out(mean), torch.relu(self.variance_out(variance))
        mean, variance = convolve(mean, variance, *operators, attention=self.model.attention)
        return mean + torch.randn_like(mean) * (variance + _TINY).sqrt() if self.training else mean

    def penalty(self) -> Tensor | float:
        return self.model.divergence * self._divergence

    def groups(self, weight_decay: float) -> list[dict[str, object]]:
        first = [*self.mean.parameters(), *self.variance.parameters()]
        last = [*self.mean_out.parameters(), *self.variance_out.parameters()]
        return [{"params": first, "weight_decay": weight_decay}, {"params": last, "weight_decay": 0.0}]


@dataclass
class RGCN(NetworkClassifier):
    """Each node is a Gaussian with mean M and variance Σ per feature; attention α = exp(−γ·Σ) discounts uncertain ones:

        M₁ = ELU(X·W_M), Σ₁ = ReLU(X·W_Σ),
        M' = D^-½ (A + I) D^-½ (M ⊙ α),  Σ' = D^-1 (A + I) D^-1 (Σ ⊙ α ⊙ α),

    and again with M', Σ' of the first layer in place of X, then S = M'₂ + ε ⊙ √Σ'₂ with ε ~ N(0, I) in training and
    ε = 0 in prediction. The loss is the cross-entropy plus β·KL(N(M₁, Σ₁) ‖ N(0, I)) per node, with weight decay on the
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

    name = "rgcn"
    network = _RGCNNetwork

    hidden: int = bounded(64, "[1, 10000]")
    attention: float = bounded(1.0, "[0, inf)")
    divergence: float = bounded(5e-4, "[0, inf)")

    def bytes_held(self, graph: Graph) -> float:
        return 28.0 * SINGLE * graph.num_nodes * self.hidden  # means, variances and what their gradients need


def convolve(
    mean: Tensor, variance: Tensor, means: Operator, variances: Operator, *, attention: float
) -> tuple[Tensor, Tensor]:
    """Gaussian graph convolution without weights: return M' and Σ' of M and Σ (N × F each)."""
    weight = torch.exp(-attention * variance)
    return means(mean * weight), variances(variance * weight * weight)


def divergence(mean: Tensor, variance: Tensor) -> Tensor:
    """Return the mean over nodes of KL(N(M, Σ) ‖ N(0, I)) = ½ Σ_f (M² + Σ − 1 − log Σ)."""
    return 0.5 * (mean**2 + variance - 1 - torch.log(variance + _TINY)).sum(dim=1).mean()
