"""The degree-distribution test: whether a flip is noticeable in the power law of the degrees."""

from __future__ import annotations

import math

import numpy as np

from focusedcleaner.graph import BoolArray, FloatArray, IntArray

LEAST_DEGREE = 2
"""d_min; the power law is fitted to degrees from here on."""


def log_likelihood(count: FloatArray, logs: FloatArray) -> FloatArray:
    """Return the maximum log-likelihood of a power law for ``count`` degrees whose logarithms sum to ``logs``.

    With the density p(d) = (α − 1)·m^(α−1)·d^−α, m = d_min − ½, the maximum is at α = 1 + n/(Σ log d − n·log m):

        l = n·log(α − 1) + n·(α − 1)·log m − α·Σ log d.
    """
    half = math.log(LEAST_DEGREE - 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = count / (logs - count * half)
        value = count * np.log(slope) + count * slope * half - (slope + 1) * logs
    return np.where(count > 0, value, 0.0)


class DegreeTest:
    """Likelihood-ratio test that the degrees before and after come from one power law:

        Λ = 2·(l(D₀) + l(D) − l(D₀ ∪ D)),  a flip passes where Λ < τ.

    The test of Zügner, Akbarnejad, Günnemann: "Adversarial Attacks on Neural Networks for Graph Data", KDD 2018, with
    the likelihood that their estimate of α maximizes, so that Λ is never negative. The change of n and Σ log d by
    a flip depends only on the degrees of its two ends: one table of degree × degree tests all pairs. ``degrees`` are
    those of the clean graph (N), ``threshold`` is τ.
    """

    def __init__(self, degrees: IntArray, threshold: float) -> None:
        self.threshold = threshold
        self.clean = _contribution(degrees).sum(axis=1)

    def passes(self, degrees: IntArray, change: int) -> tuple[IntArray, BoolArray]:
        """Test all insertions (``change`` = 1) or removals (−1) on a graph with these degrees (N).

        Return the group of each node (N), and which pairs of groups pass (K × K).
        """
        values, groups = np.unique(degrees, return_inverse=True)
        step = _contribution(values + change) - _contribution(values)
        now = _contribution(degrees).sum(axis=1)[:, None, None] + step[:, :, None] + step[:, None, :]
        return groups, self.ratio(now) < self.threshold

    def ratio(self, now: FloatArray) -> FloatArray:
        """Return Λ for a number of degrees and a sum of logarithms (2 × …)."""
        before = self.clean.reshape(2, *[1] * (now.ndim - 1))
        both = before + now
        return 2 * (log_likelihood(*before) + log_likelihood(*now) - log_likelihood(*both))


def _contribution(degrees: IntArray) -> FloatArray:
    """Return the contribution of each degree to n and to Σ log d, 2 × N."""
    counts = degrees >= LEAST_DEGREE
    return np.stack([counts.astype(float), np.where(counts, np.log(np.maximum(degrees, 1)), 0.0)])
