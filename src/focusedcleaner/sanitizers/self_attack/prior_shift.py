"""How much poison there is: the shares of the classes where only a classifier trained on other shares is at hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from focusedcleaner.graph import FloatArray

MOST_STEPS = 500
CLOSE = 1e-6


@dataclass(frozen=True)
class Shifted:
    """A classifier's opinion, corrected for how common each class is where it looks."""

    posterior: FloatArray
    """M × K."""
    shares: FloatArray
    """K: how common each class is."""


def correct_prior_shift(probabilities: FloatArray, trained: FloatArray) -> Shifted:
    """The fixed point of

        p_k(x) ∝ (s_k/t_k)·p̂_k(x),  s_k = mean of p_k,

    for probabilities p̂ of a classifier trained where class k has the share t_k: expectation-maximization of s, which
    raises its likelihood at every step. Saerens, Latinne, Decaestecker: "Adjusting the Outputs of a Classifier to New a
    Priori Probabilities: A Simple Procedure", Neural Computation 2002 (https://doi.org/10.1162/089976602753284446).

    Args:
        probabilities: p̂, M × K.
        trained: t, K shares.

    >>> sure = np.repeat([[0.99, 0.01], [0.02, 0.98]], [90, 10], axis=0)
    >>> correct_prior_shift(sure, np.array([0.5, 0.5])).shares.round(2)
    array([0.92, 0.08])
    """
    ratio = probabilities / trained
    shares = trained
    for _ in range(MOST_STEPS):
        posterior = ratio * shares
        posterior /= posterior.sum(axis=1, keepdims=True)
        before, shares = shares, posterior.mean(axis=0)
        if np.abs(shares - before).max() < CLOSE:
            break
    return Shifted(posterior, shares)
