"""The search that counts where the attacker's training nodes are unknown: without labels, or with all of them.

The wide search ranks well but counts the unusual edges of a clean graph, too. The settling search starts from its
posterior and removes only what that draws: on a clean graph the count then falls to nothing within a few rounds, since
unusual edges that stay are taught as genuine, while planted edges keep each other suspicious (docs/label-free.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from focusedcleaner.formatting import count
from focusedcleaner.graph import FloatArray, IntArray
from focusedcleaner.sanitizers.self_attack.attackers import Attacker
from focusedcleaner.sanitizers.self_attack.em import (
    AVERAGED_ROUNDS,
    MARGIN,
    Observed,
    Posterior,
    WideSearch,
    mean_log_odds,
    mean_posterior,
    shifted_to_sum,
)
from focusedcleaner.sanitizers.self_attack.judgement import Judgement
from focusedcleaner.verdict import Estimate, Verdict

FOUND_SHARE, PURPOSEFUL_SHARE = 0.01, 0.6
"""A finding is a larger share of all edges than the first, of which attackers that choose their edges explain at least
the second."""
CALM_SHARE = 0.005
"""Count, as a share of the edges, up to which there is no sign of poison."""
LOW_FACTOR, HIGH_FACTOR = 0.5, 1.3
"""What the interval adds to the smallest and the largest count of the last rounds."""


class SettlingSearch(WideSearch):
    """The search that counts: each round removes the edges drawn from the posterior of the one before.

    Args:
        observed: the graph, with clusters as labels.
        attackers: by name.
        wide: posteriors of the wide search, complete before the first round.
        training: of `PlantedEdgeEM`.
    """

    stream: ClassVar[int] = 2

    def __init__(
        self,
        observed: Observed,
        attackers: Mapping[str, Attacker],
        wide: list[Posterior],
        **training: Any,
    ) -> None:
        super().__init__(observed, attackers, **training)
        self.wide = wide

    def suspects(self, posteriors: list[Posterior], rng: np.random.Generator) -> tuple[IntArray, int, float]:
        planted = posteriors[-1].planted if posteriors else mean_posterior(self.wide)
        drawn = rng.random(self.graph.num_edges) < planted
        order = np.argsort(-(drawn + planted / 2), kind="stable")
        return order, int(MARGIN * drawn.sum()), float(planted.sum())


@dataclass(frozen=True)
class WideAndSettling:
    """The posteriors of a wide search and of the settling search that starts from it, as far as they are computed."""

    wide: list[Posterior]
    settled: list[Posterior]

    @property
    def last(self) -> list[Posterior]:
        """The last rounds."""
        return self.settled[-AVERAGED_ROUNDS:] or self.wide[-AVERAGED_ROUNDS:]

    @property
    def opinions(self) -> list[FloatArray]:
        """The mean posterior of each search."""
        return [mean_posterior(search) for search in (self.wide, self.settled) if search]


def judge_by_settling(observed: Observed, *searches: WideAndSettling, labels: bool) -> Judgement:
    """Rank by all searches, count by the settling ones, and decide by what attackers chose.

    Args:
        observed: the graph.
        searches: with clusters for classes and, where labels are known, with these; counts are averaged geometrically.
        labels: whether labels are known, for the reason.
    """
    computed = [search for search in searches if search.wide]
    edges = len(computed[0].last[0].planted)
    counts = _geometric([[posterior.expected for posterior in search.last] for search in computed])
    chosen = float(_geometric([[posterior.purposeful for posterior in search.last] for search in computed]).mean())
    number = float(counts.mean())
    widely = max(float(np.mean([one.expected for one in search.wide[-AVERAGED_ROUNDS:]])) for search in computed)
    high = max(HIGH_FACTOR * float(counts.max()), widely)
    estimate = Estimate(number, min(LOW_FACTOR * float(counts.min()), number), min(high, float(edges)))
    log_odds = mean_log_odds(observed.with_global_opinion([one for search in computed for one in search.opinions]))
    verdict = _verdict(estimate, chosen, edges, "" if labels else "without labels, ")
    if verdict.status == "no sign" and not labels and observed.graph.features is None:
        verdict = Verdict("uncertain", "without labels and attributes, edges alone can't show that none was planted")
    return Judgement(shifted_to_sum(log_odds, number), estimate, verdict)


def _geometric(rounds: list[list[float]]) -> FloatArray:
    """The geometric mean over searches of the numbers of each round."""
    size = min(map(len, rounds))
    logs = [np.log(np.maximum(numbers[-size:], 1e-3)) for numbers in rounds]
    mean: FloatArray = np.exp(np.mean(logs, axis=0))
    return mean


def _verdict(estimate: Estimate, chosen: float, edges: int, condition: str) -> Verdict:
    number = round(estimate.number)
    flags = f"{condition}{count(number, 'edge')} {'looks' if number == 1 else 'look'} planted"
    if chosen > FOUND_SHARE * edges and chosen >= PURPOSEFUL_SHARE * estimate.number:
        return Verdict("poisoned", f"{flags}, {round(chosen):,} of them as an attacker of models would choose them")
    if estimate.number <= CALM_SHARE * edges:
        return Verdict("no sign", f"{flags} beyond what is usual in this graph, too few for a finding")
    between = f"between {estimate.low:,.0f} and {estimate.high:,.0f} edges may be planted, or unusual by nature"
    return Verdict("uncertain", f"{condition}{between}")
