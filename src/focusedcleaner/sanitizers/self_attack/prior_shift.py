"""Prior shift: corrects a classifier's posterior where the class priors differ from those of its training set."""

from __future__ import annotations

import numpy as np

from focusedcleaner.graph import FloatArray

MAX_ITERATIONS = 500
TOLERANCE = 1e-6


def correct_prior_shift(probabilities: FloatArray, trained: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corrected posterior p (M × K) and the class priors s (K): the fixed point of

        p_k(x) ∝ (s_k/t_k)·p̂_k(x),  s_k = mean of p_k,

    by expectation-maximization of s. Saerens, Latinne, Decaestecker: "Adjusting the Outputs of a Classifier to New a
    Priori Probabilities: A Simple Procedure", Neural Computation 2002 (https://doi.org/10.1162/089976602753284446).

    Args:
        probabilities: p̂, M × K, of a classifier.
        trained: t, the K class shares of its training set.

    >>> confident = np.repeat([[0.99, 0.01], [0.02, 0.98]], [90, 10], axis=0)
    >>> posterior, priors = correct_prior_shift(confident, np.array([0.5, 0.5]))
    >>> priors.round(2)
    array([0.92, 0.08])
    """
    ratio = probabilities / trained
    priors = trained
    for _ in range(MAX_ITERATIONS):
        posterior = ratio * priors
        posterior /= posterior.sum(axis=1, keepdims=True)
        previous, priors = priors, posterior.mean(axis=0)
        if np.abs(priors - previous).max() < TOLERANCE:
            break
    return posterior, priors
