"""The energy of a Gaussian mixture with given soft memberships: the deep Gaussian mixture model, where a network gives
them.

As in `mlp`, a column stands for a node: features are D × N, memberships K × N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

RIDGE = 1e-4
"""Added to every variance of features scaled to [0, 1], so that constant or duplicated features have a density."""


class Monomials:
    """Φ = (1, m, m·m^T) for the columns m of M (D × N): moments and quadratic forms are products with Φ."""

    def __init__(self, features: Tensor) -> None:
        self.width = len(features)
        squares = (features.unsqueeze(0) * features.unsqueeze(1)).flatten(0, 1)
        self.matrix = torch.cat([torch.ones_like(features[:1]), features, squares])

    def moments(self, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return Σ_i w_ik, Σ_i w_ik m_i and Σ_i w_ik m_i m_i^T for K × N weights: K, K × D and K × D × D values."""
        sums = weights @ self.matrix.T
        return sums[:, 0], sums[:, 1 : self.width + 1], sums[:, self.width + 1 :].view(-1, self.width, self.width)

    def quadratic(self, constant: Tensor, linear: Tensor, square: Tensor) -> Tensor:
        """Return constant_k + linear_k·m_i + m_i^T·square_k·m_i, K × N."""
        return torch.cat([constant.unsqueeze(1), linear, square.flatten(1)], 1) @ self.matrix


def _product(matrix: Tensor, vector: Tensor) -> Tensor:
    return (matrix @ vector.unsqueeze(2)).squeeze(2)


@dataclass(frozen=True)
class Mixture:
    """The Gaussian mixture that soft memberships γ (K × N) define, and the density of each node (Eq. 12c–e).

    φ, μ and Σ are the γ-weighted moments of the features; densities use Cholesky factors and log-sum-exp.
    """

    monomials: Monomials
    joint: Tensor
    """log φ_k + log N(m_i; μ_k, Σ_k), K × N."""
    total: Tensor
    mean: Tensor
    covariance: Tensor
    inverse: Tensor

    @classmethod
    def of(cls, monomials: Monomials, membership: Tensor) -> Self:
        total, first, second = monomials.moments(membership)
        total = total.clamp_min(1e-12)
        mean = first / total.unsqueeze(1)
        covariance = second / total.view(-1, 1, 1) - mean.unsqueeze(2) * mean.unsqueeze(1)
        ridge = RIDGE * torch.eye(monomials.width, dtype=mean.dtype)
        factor = torch.linalg.cholesky(covariance + ridge)
        inverse = torch.cholesky_inverse(factor)
        linear = _product(inverse, mean)
        log_scale = factor.diagonal(dim1=1, dim2=2).log().sum(1) + 0.5 * monomials.width * math.log(2 * math.pi)
        constant = (total / membership.shape[1]).log() - log_scale - 0.5 * (mean * linear).sum(1)
        joint = monomials.quadratic(constant, linear, -0.5 * inverse)
        return cls(monomials, joint, total, mean, covariance, inverse)

    def energies(self) -> Tensor:
        """Return E(m) = −log Σ_k φ_k N(m; μ_k, Σ_k), N values (Eq. 12e)."""
        return -torch.logsumexp(self.joint, 0)

    def gradient(self, weights: Tensor | float) -> Tensor:
        """Return ∂(Σ_i weight_i·E(m_i))/∂γ, K × N, in closed form.

        With responsibilities r_ik = softmax_k(joint), weighted, and their moments about μ_k (R = Σ r, v = Σ r(m − μ),
        T = Σ r(m − μ)(m − μ)^T), the gradient is

            −(1/n_k)·[R + v^T Σ^-1 (m_i − μ) + ½ (m_i − μ)^T B (m_i − μ) − ½ tr(B·S)],  B = Σ^-1 T Σ^-1 − R Σ^-1,

        where n_k = Σ_i γ_ik, S is the covariance and Σ = S + ridge: a quadratic form in m_i, one product with Φ.
        """
        mean, inverse = self.mean, self.inverse
        share, first, second = self.monomials.moments(torch.softmax(self.joint, 0) * weights)
        shift = first - share.unsqueeze(1) * mean
        cross = first.unsqueeze(2) * mean.unsqueeze(1)
        spread = second - cross - cross.mT + share.view(-1, 1, 1) * mean.unsqueeze(2) * mean.unsqueeze(1)
        b = inverse @ spread @ inverse - share.view(-1, 1, 1) * inverse
        linear, b_mean = _product(inverse, shift), _product(b, mean)
        constant = share - (linear * mean).sum(1) + 0.5 * (b_mean * mean).sum(1)
        constant = constant - 0.5 * (b * self.covariance).sum((1, 2))
        scale = -1 / self.total
        return self.monomials.quadratic(
            scale * constant, scale.unsqueeze(1) * (linear - b_mean), 0.5 * scale.view(-1, 1, 1) * b
        )
