"""ClassDiv: victims are nodes whose neighbourhood has unusually divergent classes, by a deep Gaussian mixture model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.detectors import mlp
from focusedcleaner.detectors.base import Detector, Memory, Victims, View
from focusedcleaner.edge_features.divergences import divergences
from focusedcleaner.engine.parallel import PART, SMALL_PART, by_rows, joined, map_parts, summed
from focusedcleaner.settings import bounded
from focusedcleaner.surrogate.inner import softmax_jvp

MANY_NODES, SAMPLED_NODES = 2**15, 2**14
"""Nodes from which the mixture's network is trained on a sample only, and its size; a graph's energies are computed in
parts of so many nodes."""
Moments = tuple[Tensor, Tensor, Tensor]
"""K, K × D and K × D × D values: of the constant, the linear and the quadratic terms."""
RIDGE = 1e-4
"""Added to every variance of features scaled to [0, 1], so that constant or duplicated features have a density."""


@dataclass(frozen=True)
class ClassDiv(Detector):
    """Six divergences in a deep Gaussian mixture; victims have E(M_i) > κ_t, κ_t = β·Q_τ(E) + (1−β)·κ_{t−1}.

    M = (prox₁, prox₂, Div_JS) of softmax(PCA(X)/T) and of softmax(Z/T) (Eq. 7), each scaled to [0, 1] (Eq. 11); without
    attributes the last three only. The mixture is Eq. 12, the threshold Eq. 13, the victims Eq. 14. From
    "FocusedCleaner", Section 6.4.1.

    Energies are those of the features before they are scaled, so that κ_t averages numbers of one unit. After k
    removals at a time, κ_t is that of k steps with the same quantile: 1 − (1−β)^k stands for β.

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

    tau: float = bounded(0.6, "[0, 1]")
    beta: float = bounded(0.3, "[0, 1]")
    temperature: float = bounded(2.0, "(0, inf)")
    hidden: int = bounded(100, "[1, 10000]")
    rate: float = bounded(1e-2, "(0, inf)")
    first_epochs: int = bounded(100, "[1, 100000]")
    epochs: int = bounded(2, "[0, 100000]")
    warm_start: bool = True

    def features(self, view: View, like: View | None = None) -> Tensor:
        """Return M (Eq. 11e), 6 × N or 3 × N, each row scaled to [0, 1] by its range in ``like`` or else in ``view``.

        A constant row becomes 0.
        """
        raw = self._divergences(view)
        low, width = _range_of(raw if like is None else self._divergences(like))
        return torch.cat(map_parts(_scaled, raw.split(PART), low, width), 1)

    def _divergences(self, view: View) -> Tensor:
        """Return the features before they are scaled, N × 6 or N × 3."""
        columns = [divergences(view.structure, by_rows(self._softmax, view.logits))]
        if view.reduced is not None:
            columns.insert(0, divergences(view.structure, by_rows(self._softmax, view.reduced)))
        return torch.cat(columns, 1)

    def _softmax(self, logits: Tensor) -> Tensor:
        return torch.softmax(logits / self.temperature, 1)

    def victims(self, view: View, memory: Memory) -> Victims:
        raw = self._divergences(view)
        low, width = _range_of(raw)
        features = torch.cat(map_parts(_scaled, raw.split(PART), low, width), 1)
        sample = _sample(features, view.seed)
        several = len(view.structure.blocks) > 1
        parts = [part.contiguous() for part in sample.split(SMALL_PART, 1)] if several else [sample]
        warm = self.warm_start and bool(memory)
        sizes = len(features), self.hidden, view.logits.shape[1]
        start = memory if warm else mlp.initial_weights(*sizes, seed=view.seed)
        epochs = self.epochs if warm else self.first_epochs
        gradient = partial(energy_gradient, [Monomials(part) for part in parts])
        weights = mlp.train(start, parts, gradient, epochs=epochs, rate=self.rate)
        energy = energies(features, weights) + width.log().sum().float()
        threshold = quantile(energy, self.tau)
        if "threshold" in memory:
            threshold = torch.lerp(threshold, memory["threshold"], (1 - self.beta) ** view.removed)
        return Victims.above(energy, threshold, {**weights, "threshold": threshold})


def _range_of(raw: Tensor) -> tuple[Tensor, Tensor]:
    """Return the least value of each column and the width of its range; 1 for a constant column."""
    ranges = map_parts(_range, raw.split(PART))
    low, high = torch.stack([low for low, _ in ranges]).amin(0), torch.stack([high for _, high in ranges]).amax(0)
    return low, torch.where(high > low, high - low, 1.0)


def _range(raw: Tensor) -> tuple[Tensor, Tensor]:
    return raw.amin(0), raw.amax(0)


def _scaled(raw: Tensor, low: Tensor, width: Tensor) -> Tensor:
    return ((raw - low) / width).T.float().contiguous()


def _sample(features: Tensor, seed: int) -> Tensor:
    """Draw the nodes that the mixture's network is trained on: all, if there are at most `MANY_NODES`."""
    if features.shape[1] <= MANY_NODES:
        return features
    drawn = torch.randperm(features.shape[1], generator=torch.Generator().manual_seed(seed))[:SAMPLED_NODES]
    return features[:, drawn.sort().values].contiguous()


def quantile(values: Tensor, share: float) -> Tensor:
    """As `torch.quantile`, to the last digit, but without sorting and for any number of values.

    >>> quantile(torch.tensor([3.0, 1.0, 2.0, 4.0]), 0.5)
    tensor(2.5000)
    """
    rank = values.new_tensor(share) * (len(values) - 1)
    below = int(rank)
    above = min(below + 1, len(values) - 1)
    parted = torch.from_numpy(np.partition(values.numpy(), (below, above)))
    return torch.lerp(parted[below], parted[above], rank - below)


def energy_gradient(parts: list[Monomials], outputs: list[Tensor]) -> list[Tensor]:
    """Return the gradient of the mean energy with respect to the network's outputs, through the softmax of Eq. 12b.

    Nodes may come in parts, whose moments are added in their order.
    """
    num_nodes = sum(part.shape[1] for part in outputs)
    memberships = map_parts(_membership, [*zip(parts, outputs, strict=True)])
    mixture = Mixture.of_moments(*_added([moments for _, moments in memberships]), num_nodes)
    form = mixture.gradient_form(*_added(map_parts(_responsibilities, parts, mixture, 1 / num_nodes)))
    return map_parts(_through_softmax, [(*pair, part) for pair, part in zip(memberships, parts, strict=True)], form)


def _membership(part: tuple[Monomials, Tensor]) -> tuple[Tensor, Moments]:
    monomials, outputs = part
    membership = torch.softmax(outputs, 0)
    return membership, monomials.moments(membership)


def _responsibilities(monomials: Monomials, mixture: Mixture, weight: float) -> Moments:
    return monomials.moments(torch.softmax(mixture.log_densities(monomials), 0) * weight)


def _through_softmax(part: tuple[Tensor, Moments, Monomials], form: Moments) -> Tensor:
    membership, _, monomials = part
    return softmax_jvp(membership, monomials.quadratic(*form))


def _added(parts: list[Moments]) -> Moments:
    total, first, second = (summed([*kind]) for kind in zip(*parts, strict=True))
    return total, first, second


def energies(features: Tensor, weights: Memory) -> Tensor:
    """Return the energy of each node (features D × N) in the mixture whose memberships a network predicts.

    The nodes are taken in parts, whose moments are added in their order.
    """
    parts = [part.contiguous() for part in features.split(MANY_NODES, 1)]
    mixture = Mixture.of_moments(*_added(map_parts(_moments, parts, weights)), features.shape[1])
    return joined(map_parts(_energies, parts, mixture))


def _moments(features: Tensor, weights: Memory) -> Moments:
    return Monomials(features).moments(torch.softmax(mlp.apply(features, weights), 0))


def _energies(features: Tensor, mixture: Mixture) -> Tensor:
    return -torch.logsumexp(mixture.log_densities(Monomials(features)), 0)


class Monomials:
    """Φ = (1, m, m·m^T) for the columns m of M (D × N): moments and quadratic forms are products with Φ."""

    def __init__(self, features: Tensor) -> None:
        self.width = len(features)
        squares = (features.unsqueeze(0) * features.unsqueeze(1)).flatten(0, 1)
        self.matrix = torch.cat([torch.ones_like(features[:1]), features, squares])

    def moments(self, weights: Tensor) -> Moments:
        """Return Σ_i w_ik, Σ_i w_ik m_i and Σ_i w_ik m_i m_i^T for K × N weights: K, K × D and K × D × D values."""
        sums = weights @ self.matrix.T
        return sums[:, 0], sums[:, 1 : self.width + 1], sums[:, self.width + 1 :].view(-1, self.width, self.width)

    def quadratic(self, constant: Tensor, linear: Tensor, square: Tensor) -> Tensor:
        """Return constant_k + linear_k·m_i + m_i^T·square_k·m_i, K × N."""
        return torch.cat([constant.unsqueeze(1), linear, square.flatten(1)], 1) @ self.matrix


def _product(matrix: Tensor, vector: Tensor) -> Tensor:
    return (matrix @ vector.unsqueeze(2)).squeeze(2)


class Mixture:
    """The Gaussian mixture that soft memberships γ (K × N) define, and the density of each node (Eq. 12c–e).

    As in `mlp`, a column stands for a node: features are D × N. φ, μ and Σ are the γ-weighted moments of the features;
    densities use Cholesky factors and log-sum-exp.
    """

    def __init__(self, monomials: Monomials, membership: Tensor) -> None:
        self._fit(*monomials.moments(membership), membership.shape[1])
        self.monomials, self.joint = monomials, self.log_densities(monomials)

    @classmethod
    def of_moments(cls, total: Tensor, first: Tensor, second: Tensor, num_nodes: int) -> Self:
        """The mixture with these `Monomials.moments` of the memberships of all nodes."""
        mixture = cls.__new__(cls)
        mixture._fit(total, first, second, num_nodes)
        return mixture

    def _fit(self, total: Tensor, first: Tensor, second: Tensor, num_nodes: int) -> None:
        total, width = total.clamp_min(1e-12), first.shape[1]
        mean = first / total.unsqueeze(1)
        covariance = second / total.view(-1, 1, 1) - mean.unsqueeze(2) * mean.unsqueeze(1)
        factor = torch.linalg.cholesky(covariance + RIDGE * torch.eye(width, dtype=mean.dtype))
        inverse = torch.cholesky_inverse(factor)
        linear = _product(inverse, mean)
        log_scale = factor.diagonal(dim1=1, dim2=2).log().sum(1) + 0.5 * width * math.log(2 * math.pi)
        constant = (total / num_nodes).log() - log_scale - 0.5 * (mean * linear).sum(1)
        self.total, self.mean, self.covariance, self.inverse = total, mean, covariance, inverse
        self._quadratic = constant, linear, -0.5 * inverse

    def log_densities(self, monomials: Monomials) -> Tensor:
        """Return log φ_k + log N(m_i; μ_k, Σ_k), K × N."""
        return monomials.quadratic(*self._quadratic)

    def energies(self) -> Tensor:
        """Return E(m) = −log Σ_k φ_k N(m; μ_k, Σ_k), N values (Eq. 12e)."""
        return -torch.logsumexp(self.joint, 0)

    def gradient(self, weights: Tensor | float) -> Tensor:
        """Return ∂(Σ_i weight_i·E(m_i))/∂γ, K × N."""
        return self.monomials.quadratic(
            *self.gradient_form(*self.monomials.moments(torch.softmax(self.joint, 0) * weights))
        )

    def gradient_form(self, share: Tensor, first: Tensor, second: Tensor) -> Moments:
        """Return the constant, linear and square part of `gradient` in closed form, from the moments of the weighted
        responsibilities.

        With responsibilities r_ik = softmax_k(joint), weighted, and their moments about μ_k (R = Σ r, v = Σ r(m − μ),
        T = Σ r(m − μ)(m − μ)^T), the gradient is

            −(1/n_k)·[R + v^T Σ^-1 (m_i − μ) + ½ (m_i − μ)^T B (m_i − μ) − ½ tr(B·S)],  B = Σ^-1 T Σ^-1 − R Σ^-1,

        where n_k = Σ_i γ_ik, S is the covariance and Σ = S + ridge: a quadratic form in m_i, one product with Φ.
        """
        mean, inverse = self.mean, self.inverse
        shift = first - share.unsqueeze(1) * mean
        cross = first.unsqueeze(2) * mean.unsqueeze(1)
        spread = second - cross - cross.mT + share.view(-1, 1, 1) * mean.unsqueeze(2) * mean.unsqueeze(1)
        b = inverse @ spread @ inverse - share.view(-1, 1, 1) * inverse
        linear, b_mean = _product(inverse, shift), _product(b, mean)
        constant = share - (linear * mean).sum(1) + 0.5 * (b_mean * mean).sum(1)
        constant = constant - 0.5 * (b * self.covariance).sum((1, 2))
        scale = -1 / self.total
        return scale * constant, scale.unsqueeze(1) * (linear - b_mean), 0.5 * scale.view(-1, 1, 1) * b
