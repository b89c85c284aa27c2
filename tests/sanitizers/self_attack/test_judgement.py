"""From the searches to a count and a verdict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.datasets import synthetic
from focusedcleaner.sanitizers.self_attack.em import Observed, Posterior, shifted_to_sum
from focusedcleaner.sanitizers.self_attack.harm import Harm
from focusedcleaner.sanitizers.self_attack.judgement import NATURAL_SHARE, judge

EDGES = 4_000
OBSERVED = Observed.of(synthetic(60, num_attributes=10, seed=0).without_test_labels())
"""With attributes; its edges are not used."""
NO_HARM = Harm(5, 5)


def search(planted: int, *, purposeful: float = 0.0, false_alarms: float = 0.0, sure: float = 0.95) -> list[Posterior]:
    """Two equal rounds of a search that suspects the first edges."""
    probabilities = np.full(EDGES, 1e-5)
    probabilities[:planted] = sure
    return [Posterior(probabilities, np.array([1.0]), purposeful, false_alarms)] * 2


def test_a_clear_finding_is_poisoned_and_counted_by_the_search_at_the_training_nodes() -> None:
    found = judge(OBSERVED, search(300, purposeful=280, false_alarms=4), search(400), NO_HARM)
    assert found.verdict.status == "poisoned"
    assert found.verdict.expected_false_alarms == 4
    assert found.estimate.number == pytest.approx(285, abs=1)
    assert found.estimate.low < 285 < found.estimate.high
    assert found.planted.sum() == pytest.approx(found.estimate.number, rel=1e-3)


def test_random_edges_alone_are_no_finding() -> None:
    found = judge(OBSERVED, search(300, purposeful=5), search(400), NO_HARM)
    assert found.verdict.status == "uncertain"
    assert "unusual by nature" in found.verdict.reason


def test_a_clean_graph_with_as_many_flags_is_no_finding() -> None:
    assert (
        judge(OBSERVED, search(60, purposeful=50, false_alarms=45), search(400), NO_HARM).verdict.status == "uncertain"
    )


def test_few_flags_and_no_harm_are_no_sign() -> None:
    assert judge(OBSERVED, search(6, purposeful=3), search(200), NO_HARM).verdict.status == "no sign"
    assert judge(OBSERVED, search(6, purposeful=3), search(200), Harm(12, 5)).verdict.status == "uncertain"


def test_much_harm_is_a_finding_of_its_own() -> None:
    found = judge(OBSERVED, search(50, purposeful=3), search(700), Harm(30, 4))
    assert found.verdict.status == "poisoned"
    assert "30 hidden labels" in found.verdict.reason
    assert found.estimate.number == pytest.approx(0.95 * 700 - NATURAL_SHARE * EDGES, rel=0.01)


@given(
    log_odds=st.lists(st.floats(-9, 9), min_size=2, max_size=30).map(np.array),
    share=st.floats(0.01, 0.99),
)
def test_shifted_probabilities_keep_the_order_and_have_the_sum(log_odds: np.ndarray, share: float) -> None:
    shifted = shifted_to_sum(log_odds, share * len(log_odds))
    assert shifted.sum() == pytest.approx(share * len(log_odds), rel=1e-6)
    assert (np.diff(shifted[np.argsort(log_odds)]) >= -1e-12).all()


@given(planted=st.integers(0, EDGES), wide=st.integers(0, EDGES), purposeful=st.floats(0, EDGES))
def test_the_count_lies_in_its_interval(planted: int, wide: int, purposeful: float) -> None:
    estimate = judge(OBSERVED, search(planted, purposeful=purposeful), search(wide), NO_HARM).estimate
    assert 0 <= estimate.low <= estimate.number <= estimate.high <= EDGES
