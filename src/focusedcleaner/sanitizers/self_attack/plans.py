"""Which searches self-attack makes, by what is known about the labels, and how their posteriors become an answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.edge_features.clusters import ClusterFeatureExtractor, with_clusters
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.self_attack.attackers import Attacker
from focusedcleaner.sanitizers.self_attack.em import Observed, PlantedEdgeEM, Posterior, WideSearch
from focusedcleaner.sanitizers.self_attack.harm import Harm, measure_harm
from focusedcleaner.sanitizers.self_attack.judgement import Judgement, judge
from focusedcleaner.sanitizers.self_attack.regions import Partition
from focusedcleaner.sanitizers.self_attack.settling import SettlingSearch, WideAndSettling, judge_by_settling

WIDE_ROUNDS = 3
"""Most rounds of a wide search, which settles sooner than the others."""
NO_HARM = Harm(0, 0)

Columns = Mapping[str, NDArray[Any]]


class Plan(ABC):
    """The searches of one run, with their posteriors as far as they are computed.

    Args:
        graph: as `focusedcleaner.sanitizers.usable_labels` returns it.
        attackers: simulated attackers that know the split, by name.
        elsewhere: those with training nodes of their own.
        rounds: EM rounds.
        trees: boosting iterations of the classifiers.
        seed: seed of all random draws.
        by_regions: whether attackers are rehearsed in regions of the graph (`regions`).
    """

    measures_harm: ClassVar[bool] = False
    """Whether the answer also asks if the suspicious edges do harm."""
    by_clusters: ClassVar[bool] = False
    """Whether the classes of the evidence are clusters."""

    observed: Observed
    searches: list[PlantedEdgeEM]

    def __init__(
        self,
        graph: Graph,
        attackers: Mapping[str, Attacker],
        elsewhere: Mapping[str, Attacker],
        *,
        rounds: int,
        trees: int,
        seed: int,
        by_regions: bool = False,
    ) -> None:
        self.graph, self.seed = graph, seed
        self.attackers, self.elsewhere = attackers, elsewhere
        partition = Partition.of(graph, seed) if by_regions else None
        self.rounds = rounds
        self.training: dict[str, Any] = {"trees": trees, "seed": seed, "partition": partition}
        self.posteriors: list[list[Posterior]] = []
        self.searches = []
        self.prepare()

    @abstractmethod
    def prepare(self) -> None:
        """Set ``observed`` and add the searches."""

    @abstractmethod
    def judge(self, harm: Harm) -> Judgement:
        """The answer of the posteriors that are computed."""

    def add(self, search: PlantedEdgeEM, posteriors: list[Posterior]) -> None:
        """Add a search, whose posteriors go into a list."""
        self.searches.append(search)
        self.posteriors.append(posteriors)

    def add_wide_and_settling(self, observed: Observed) -> WideAndSettling:
        """Add a wide search and the settling search that starts from it."""
        found = WideAndSettling([], [])
        self.add(WideSearch(observed, self.elsewhere, rounds=self.wide_rounds, **self.training), found.wide)
        settling = SettlingSearch(observed, self.elsewhere, found.wide, rounds=self.rounds, **self.training)
        self.add(settling, found.settled)
        return found

    @property
    def wide_rounds(self) -> int:
        return min(self.rounds, WIDE_ROUNDS)

    @property
    def done(self) -> int:
        """The number of rounds that are computed."""
        return sum(map(len, self.posteriors))

    @property
    def total(self) -> int:
        """The number of all rounds; measuring the harm is one."""
        return sum(search.rounds for search in self.searches) + self.measures_harm

    def harm(self) -> Harm:
        return measure_harm(self.graph, self.seed) if self.measures_harm else NO_HARM

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All posteriors as arrays, for a checkpoint."""
        parts = [posterior for search in self.posteriors for posterior in search]
        most = max(len(posterior.priors) for posterior in parts)
        return {
            "planted": np.array([posterior.planted for posterior in parts]),
            "priors": np.array([np.pad(posterior.priors, (0, most - len(posterior.priors))) for posterior in parts]),
            "flags": np.array([(posterior.purposeful, posterior.false_alarms) for posterior in parts]),
        }

    def restore(self, arrays: Columns | None) -> None:
        """Take over the posteriors of a checkpoint; the inverse of `arrays`."""
        rows = zip(*(arrays[name] for name in ("planted", "priors", "flags")), strict=True) if arrays else iter(())
        parts = [Posterior(planted, priors, *map(float, flags)) for planted, priors, flags in rows]
        for search, posteriors in zip(self.searches, self.posteriors, strict=True):
            posteriors += parts[: search.rounds]
            parts = parts[search.rounds :]

    def trace(self) -> Columns:
        """A row per round: whether its search is wide, the number of planted edges, and how many attackers chose."""
        parts = [posterior for search in self.posteriors for posterior in search]
        wide = [int(type(search) is WideSearch) for search in self.searches]
        return {
            "round": np.arange(1, len(parts) + 1),
            "wide_search": np.repeat(wide, list(map(len, self.posteriors))),
            "estimated_planted": np.array([posterior.expected for posterior in parts]),
            "purposeful": np.array([posterior.purposeful for posterior in parts]),
            "false_alarms": np.array([posterior.false_alarms for posterior in parts]),
        }


class KnownSplit(Plan):
    """Some labels are known: a search at the training nodes and a wide one."""

    measures_harm: ClassVar[bool] = True

    def prepare(self) -> None:
        self.observed = Observed.of(self.graph)
        self.add(PlantedEdgeEM(self.observed, self.attackers, rounds=self.rounds, **self.training), [])
        self.add(WideSearch(self.observed, self.elsewhere, rounds=self.wide_rounds, **self.training), [])

    def judge(self, harm: Harm) -> Judgement:
        focused, wide = self.posteriors
        return judge(self.observed, focused, wide, harm)


class NoLabels(Plan):
    """No label is known, or those of one class: clusters stand for classes; a wide search and a settling one."""

    by_clusters: ClassVar[bool] = True

    def prepare(self) -> None:
        self.observed = Observed.by(ClusterFeatureExtractor, with_clusters(self.graph, self.seed))
        self.found = self.add_wide_and_settling(self.observed)

    def judge(self, harm: Harm) -> Judgement:
        return judge_by_settling(self.observed, self.found, labels=False)


class AllLabels(Plan):
    """Every label is known, so that nothing tells where an attacker's training nodes are.

    The searches without labels are made, and the same with the labels: alone, these take every natural edge between
    classes for planted; together they rank better than either.
    """

    def prepare(self) -> None:
        bare = self.graph.unlabelled()
        by_clusters = Observed.by(ClusterFeatureExtractor, with_clusters(bare, self.seed))
        self.observed = Observed.by(ClusterFeatureExtractor, self.graph)
        self.found = [self.add_wide_and_settling(observed) for observed in (by_clusters, self.observed)]

    def judge(self, harm: Harm) -> Judgement:
        return judge_by_settling(self.observed, *self.found, labels=True)


def plan_for(graph: Graph) -> type[Plan]:
    """Choose by the labels: none or one class, every label, or some with a split."""
    if graph.split is None:
        return NoLabels
    return KnownSplit if len(graph.known_labels) < graph.num_nodes else AllLabels
