"""The correction of prior shift."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.sanitizers.self_attack.prior_shift import correct_prior_shift


@given(share=st.floats(0.02, 0.6), trained=st.floats(0.05, 0.6), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_priors_are_recovered_whatever_the_training_shares(share: float, trained: float, seed: int) -> None:
    """Two normal distributions, and the Bayes classifier for other class shares."""
    rng = np.random.default_rng(seed)
    planted = rng.random(4000) < share
    x = rng.normal(np.where(planted, 4.0, 0.0))
    odds = trained / (1 - trained) * np.exp(4 * x - 8)
    posterior, priors = correct_prior_shift(
        np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1), np.array([1 - trained, trained])
    )
    assert priors[1] == pytest.approx(planted.mean(), abs=0.03)
    assert priors == pytest.approx(posterior.mean(axis=0), abs=1e-4)
    exact = share * np.exp(4 * x - 8) / (share * np.exp(4 * x - 8) + 1 - share)
    assert np.abs(posterior[:, 1] - exact).mean() < 0.03
