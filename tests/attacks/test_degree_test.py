"""The degree-distribution test against direct maximization of the likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from focusedcleaner.attacks import Mettack
from focusedcleaner.attacks.degree_test import DegreeTest
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import IntArray


def best_likelihood(degrees: IntArray) -> float:
    """The largest log-likelihood over all exponents, found numerically."""
    tail = degrees[degrees >= 2]
    if not len(tail):
        return 0.0

    def negative(log_slope: float) -> float:
        slope = np.exp(log_slope)
        return -float(np.sum(np.log(slope) + slope * np.log(1.5) - (slope + 1) * np.log(tail)))

    return -float(minimize_scalar(negative, bounds=(-10, 10), method="bounded", options={"xatol": 1e-10}).fun)


def ratio(before: IntArray, after: IntArray) -> float:
    both = np.concatenate([before, after])
    return 2 * (best_likelihood(before) + best_likelihood(after) - best_likelihood(both))


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 9), min_size=4, max_size=9), st.integers(0, 1000), st.sampled_from([1, -1]))
def test_every_flip_is_judged_as_if_alone(degrees: list[int], seed: int, change: int) -> None:
    now = np.array(degrees)
    clean = np.random.default_rng(seed).integers(0, 9, 12)
    threshold = 0.05
    groups, allowed = DegreeTest(clean, threshold).passes(now, change)
    for u in range(len(now)):
        for v in range(u + 1, len(now)):
            after = now.copy()
            after[[u, v]] += change
            if (after < 0).any():
                continue
            expected = ratio(clean, after)
            if abs(expected - threshold) > 1e-6:
                assert allowed[groups[u], groups[v]] == (expected < threshold)


def test_the_same_degrees_are_alike() -> None:
    degrees = synthetic(200, seed=0).degrees
    test = DegreeTest(degrees, 0.004)
    assert test.ratio(test.clean) == pytest.approx(0.0, abs=1e-9)


def test_an_attack_under_the_test_passes_it() -> None:
    graph = synthetic(80, seed=1)
    poisoning = Mettack(likelihood_ratio=0.004).poison(graph, "20%")
    assert ratio(graph.degrees, poisoning.graph.degrees) < 0.004 + 1e-6
    strict = Mettack(likelihood_ratio=1e-6).poison(graph, "20%")
    assert ratio(graph.degrees, strict.graph.degrees) < 1e-6 + 1e-7
    assert strict.flips is not None
    free = Mettack().poison(graph, "20%").flips
    assert free is not None
    assert not np.array_equal(strict.flips, free)
