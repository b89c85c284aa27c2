"""From the two searches to an answer: the probability of every edge, their number, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from focusedcleaner.formatting import count
from focusedcleaner.graph import FloatArray
from focusedcleaner.sanitizers.self_attack.em import (
    AVERAGED_ROUNDS,
    Observed,
    Posterior,
    mean_log_odds,
    mean_posterior,
    shifted_to_sum,
)
from focusedcleaner.sanitizers.self_attack.harm import Harm
from focusedcleaner.verdict import Estimate, Verdict

NATURAL_SHARE = 0.1
"""Share of a clean graph's edges that the wide search counts, measured on clean citation graphs."""
LOW_FACTOR, HIGH_FACTOR = 0.7, 1.3
"""What the interval of the count adds for simulated attackers that differ from the real one."""
LEAST_FOUND, LEAST_FOUND_SHARE = 10.0, 0.005
"""A finding is more edges than this, and a larger share of all edges."""
HARMFUL, SUSPICIOUS = 3.0, 1.0
"""`Harm.z` from which the harm alone is a finding, and from which it is a reason for doubt."""
CALM_SHARE = 0.01
"""Count, as a share of the edges, up to which there is no sign of poison."""
EXPLAINED = 0.7
"""Share of the count by attackers at the training nodes from which the wide search's count is not needed."""
_Z90 = 1.645
"""Half-width, in standard deviations, of an interval that holds 90 % of a normal distribution."""


@dataclass(frozen=True)
class Judgement:
    """What self-attack says about a graph's edges."""

    planted: FloatArray
    """Probability of each of E edges of being planted; the sum is the estimated number."""
    estimate: Estimate
    verdict: Verdict


def judge(observed: Observed, focused: list[Posterior], wide: list[Posterior], harm: Harm) -> Judgement:
    """Combine the posteriors of the search at the training nodes, those of the wide search, and the harm measured."""
    last = focused[-AVERAGED_ROUNDS:]
    edges, counted = len(last[0].planted), last[-1].expected
    purposeful = np.array([posterior.purposeful for posterior in last])
    explained = float(min(purposeful.mean() / max(counted, 1.0), 1.0))
    widely = float(np.mean([posterior.expected for posterior in wide[-AVERAGED_ROUNDS:]])) if wide else counted
    number = max(counted, widely - NATURAL_SHARE * edges)
    spread = _Z90 * float(np.std([posterior.expected for posterior in last]))
    found = float(purposeful.mean() - _Z90 * purposeful.std())
    low = LOW_FACTOR * max(min(found, counted - spread), 0.0)
    high = HIGH_FACTOR * max(counted + spread, number)
    if explained < EXPLAINED:
        high = max(high, widely)
    estimate = Estimate(number, low, min(high, float(edges)))
    weights = 1 + explained, 1 - explained
    opinions = [mean_posterior(search) for search in (focused, wide) if search]
    log_odds = mean_log_odds(observed.with_global_opinion(opinions), weights[: len(opinions)])
    return Judgement(shifted_to_sum(log_odds, number), estimate, _verdict(estimate, last, found, harm))


def _verdict(estimate: Estimate, last: list[Posterior], found: float, harm: Harm) -> Verdict:
    """Decide by what attackers chose beyond the flags of a clean graph, and by the harm."""
    edges = len(last[0].planted)
    alarms = float(np.mean([posterior.false_alarms for posterior in last]))
    flags = round(float(np.mean([posterior.purposeful for posterior in last])))
    compared = f"a clean graph like this one would get {count(round(alarms), 'flag')}, this one got {flags:,}"
    if found > alarms + max(LEAST_FOUND, LEAST_FOUND_SHARE * edges):
        return Verdict("poisoned", compared, expected_false_alarms=alarms)
    if harm.z >= HARMFUL:
        reason = (
            f"{harm.gained} hidden labels are predicted only without the suspicious edges, {harm.lost} only with them"
        )
        return Verdict("poisoned", reason, expected_false_alarms=alarms)
    if last[-1].expected <= CALM_SHARE * edges and harm.z < SUSPICIOUS and estimate.number <= 2 * CALM_SHARE * edges:
        return Verdict("no sign", compared, expected_false_alarms=alarms)
    reason = f"between {estimate.low:,.0f} and {estimate.high:,.0f} edges may be planted, or unusual by nature"
    return Verdict("uncertain", reason, expected_false_alarms=alarms)
