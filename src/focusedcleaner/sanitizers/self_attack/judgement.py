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
    edges = len(last[0].planted)
    counted = float(np.mean([posterior.expected for posterior in last]))
    purposeful = np.array([posterior.purposeful for posterior in last])
    opinions = [mean_posterior(search) for search in (focused, wide) if search]
    weights = [1 + purposeful.mean() / max(counted, 1.0), 1 - purposeful.mean() / max(counted, 1.0)][: len(opinions)]
    log_odds = mean_log_odds(observed.with_global_opinion(opinions), weights)
    elsewhere = counted
    if wide:
        beyond = np.mean([posterior.expected for posterior in wide[-AVERAGED_ROUNDS:]]) - NATURAL_SHARE * edges
        elsewhere = max(counted, float(beyond))
    alarms = float(np.mean([posterior.false_alarms for posterior in last]))
    found = float(purposeful.mean() - _Z90 * purposeful.std())
    needed = alarms + max(LEAST_FOUND, LEAST_FOUND_SHARE * edges)
    spread = _Z90 * float(np.std([posterior.expected for posterior in last]))
    low = LOW_FACTOR * max(min(found, counted - spread), 0.0)
    estimate = Estimate(elsewhere, low, min(HIGH_FACTOR * max(counted + spread, elsewhere), float(edges)))
    planted = shifted_to_sum(log_odds, elsewhere)
    flags = (
        f"a clean graph like this one would get {count(round(alarms), 'flag')}, this one got {purposeful.mean():,.0f}"
    )
    if found > needed and observed.global_opinion is None:  # without attributes clean graphs get flags, too
        verdict = Verdict("poisoned", flags, expected_false_alarms=alarms)
    elif harm.z >= HARMFUL:
        harmful = f"without the suspicious edges {harm.gained} hidden labels more were predicted, {harm.lost} fewer"
        verdict = Verdict("poisoned", harmful, expected_false_alarms=alarms)
    elif counted <= CALM_SHARE * edges and harm.z < SUSPICIOUS and elsewhere <= 2 * CALM_SHARE * edges:
        verdict = Verdict("no sign", flags, expected_false_alarms=alarms)
    else:
        doubt = f"between {low:,.0f} and {estimate.high:,.0f} edges may be planted, or unusual by nature"
        verdict = Verdict("uncertain", f"{doubt}; {flags}", expected_false_alarms=alarms)
    return Judgement(planted, estimate, verdict)
