"""The EM loop of self-attack: attack the graph without the suspects, learn to recognize planted edges, repeat."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.ensemble import HistGradientBoostingClassifier

from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.edge_features.extractor import EdgeFeatureExtractor, EdgeFeatures
from focusedcleaner.edge_features.global_structure import global_structure
from focusedcleaner.engine.parallel import map_parts
from focusedcleaner.graph import BoolArray, FloatArray, Graph, IntArray, Split
from focusedcleaner.sanitizers.self_attack.attackers import NOISE_LIKE, Attacker, on_another_split
from focusedcleaner.sanitizers.self_attack.regions import Partition, plant_in_regions

LEAST_PROBABILITY = 1e-4
"""Probabilities are kept this far from 0 and 1, so that no opinion has the last word."""
SLOW_ATTACKERS = ("unrolled", "minmax")
"""Attackers simulated only in the last rounds if there are others: earlier rounds only decide what to remove."""
UNROLLED_MAX_EDGES = 50_000
"""Edges of a whole graph up to which unrolled METTACK is simulated if there are other attackers: it takes as long as
all others."""
MIN_PLANTED_SHARE = 0.03
"""Smallest share of the edges that a simulated attacker plants: the classifier needs examples."""
FIRST_PLANTED_SHARE = 0.1
"""Share of the edges planted in the first round, before there is an estimate, and in every round of a wide search."""
FIRST_REMOVED_SHARE = 0.3
"""Share of the edges removed in the first round: more than an attacker plants."""
WIDE_REMOVED_SHARE = 0.25
"""Share of the edges removed in every round of a wide search."""
MARGIN, WIDER_MARGIN = 1.05, 1.2
"""Over-removal factor: edges removed before the simulated attacks, relative to those drawn. A planted edge that stays
is a wrong example of a genuine one and biases the count downwards; removing a few more edges counteracts that. The
wider margin is for graphs whose `rehearsal_split` is the split itself."""
AVERAGED_ROUNDS = 2
"""The last rounds, whose posteriors are averaged."""
MIN_VALIDATION_RATIO = 0.5
"""Smallest ratio of validation to training nodes at which the two are swapped for the rehearsal."""
GENUINE_SHARE, MAX_GENUINE = 0.5, 30_000
"""Share and largest number of an attacked graph's genuine edges in the training set: all attacked graphs have nearly
the same ones."""
ROWS = 2**13
"""Edges that are classified at once: their features stay in the processor's cache."""
HELD_OUT_SHARE = 0.2
"""Share of the edges that are never examples of genuine ones: on these it is seen how many flags a clean graph gets."""


@dataclass(frozen=True)
class Observed:
    """A graph as its defender sees it, with the features of its edges."""

    graph: Graph
    extractor: EdgeFeatureExtractor
    features: EdgeFeatures

    @classmethod
    def of(cls, graph: Graph) -> Observed:
        return cls.by(EdgeFeatureExtractor, graph)

    @classmethod
    def by(cls, kind: type[EdgeFeatureExtractor], graph: Graph) -> Observed:
        """The graph with the features that this kind of extractor computes."""
        extractor = kind(graph)
        return cls(graph, extractor, extractor.extract(graph))

    @cached_property
    def initial_scores(self) -> FloatArray:
        """A rough suspicion score of every edge: disagreement in class and attributes or, where there are no
        attributes, how badly the edge fits the global structure."""
        if self.global_opinion is not None:
            return self.global_opinion
        disagreement = self.features["agreement"] + self.features["agreement_by_attributes"]
        return -disagreement - 8 * self.features["attribute_similarity"]

    @cached_property
    def global_opinion(self) -> FloatArray | None:
        """Without attributes, the probability that an edge is planted by the global structure alone, of which the
        `FIRST_PLANTED_SHARE` is supposed to be; None with attributes."""
        if self.extractor.attributes is not None:
            return None
        suspicion = global_structure(self.graph)["global_suspicion"]
        return shifted_to_sum(suspicion, FIRST_PLANTED_SHARE * self.graph.num_edges)

    def with_global_opinion(self, opinions: list[FloatArray]) -> list[FloatArray]:
        """Add the `global_opinion`, if there is one, to other probabilities."""
        return opinions if self.global_opinion is None else [*opinions, self.global_opinion]

    @cached_property
    def all_labels(self) -> IntArray:
        """What an attacker knows: the defender's labels, and predictions for all other nodes."""
        known = self.extractor.labels
        return np.where(known >= 0, known, self.features.classes.argmax(axis=1))


@dataclass(frozen=True)
class Posterior:
    """The posterior of one round (the result of an E-step)."""

    planted: FloatArray
    """Probability of each of E edges of being planted."""
    priors: FloatArray
    """Estimated class shares: genuine edges, then those of each attacker."""
    purposeful: float = 0.0
    """Expected number of edges planted by attackers that choose them (`PlantedEdgeEM.purposeful`): random edges alone
    can't be told from the noise of a clean graph."""
    false_alarms: float = 0.0
    """The same number in a clean graph like this one, as far as the graph without the suspects is one."""

    @property
    def expected(self) -> float:
        """Expected number of planted edges."""
        return float(self.planted.sum())


@dataclass(frozen=True)
class PlantedEdgeClassifier:
    """The classifier of one round (the result of an M-step): tells genuine edges from those of each attacker."""

    model: HistGradientBoostingClassifier | None
    """None if no edge could be planted: then every edge counts as genuine."""
    class_shares: FloatArray
    """Share of each class in the training set."""

    def posterior(self, table: FloatArray) -> tuple[FloatArray, FloatArray]:
        """E-step: return the class probabilities of M edges, M × (1 + attackers), and the class shares, corrected for
        prior shift."""
        classes = np.zeros((len(table), len(self.class_shares)))
        if self.model is None:
            classes[:, 0] = 1.0
            return classes, self.class_shares
        present = self.model.classes_
        probabilities = np.concatenate(map_parts(self.model.predict_proba, _in_rows(table)))
        classes[:, present], present_priors = correct_prior_shift(probabilities, self.class_shares[present])
        priors = np.zeros(len(self.class_shares))
        priors[present] = present_priors
        return classes, priors


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
    parts, size = _in_rows(probabilities / trained), len(probabilities)
    priors = trained
    for _ in range(500):
        sums = map_parts(lambda part, priors: _reweighted(part, priors).sum(axis=0), parts, priors)
        previous, priors = priors, np.sum(sums, axis=0) / size
        if np.abs(priors - previous).max() < 1e-6:
            break
    return np.concatenate(map_parts(_reweighted, parts, previous)), priors


def _reweighted(ratio: FloatArray, priors: FloatArray) -> FloatArray:
    posterior = ratio * priors
    posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior


def _in_rows(table: FloatArray) -> list[FloatArray]:
    return np.split(table, range(ROWS, len(table), ROWS))


def mean_log_odds(opinions: Sequence[FloatArray], weights: Sequence[float] = ()) -> FloatArray:
    """Return the mean log odds of several probabilities (E each), by which edges are ranked.

    ``weights`` are those of the first opinions; the others have weight 1.
    """
    odds = [logit(np.clip(opinion, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)) for opinion in opinions]
    mean: FloatArray = np.average(odds, axis=0, weights=[*weights, *[1.0] * (len(odds) - len(weights))])
    return mean


def shifted_to_sum(log_odds: FloatArray, total: float) -> FloatArray:
    """Shift all log odds by the same constant, so that the probabilities add up to ``total``.

    >>> shifted_to_sum(np.array([2.0, 0.0, -2.0]), 1.5).round(2)
    array([0.88, 0.5 , 0.12])
    """
    target = float(np.clip(total, LEAST_PROBABILITY, len(log_odds) - LEAST_PROBABILITY))
    probabilities: FloatArray = expit(log_odds + brentq(lambda shift: expit(log_odds + shift).sum() - target, -60, 60))
    return probabilities


def mean_posterior(posteriors: list[Posterior]) -> FloatArray:
    """Return each edge's mean probability of being planted over the last `AVERAGED_ROUNDS` rounds."""
    return np.mean([posterior.planted for posterior in posteriors[-AVERAGED_ROUNDS:]], axis=0)


class PlantedEdgeEM:
    """Stochastic expectation-maximization of which edges of a graph were planted.

    A round draws the planted edges from the previous posterior, removes them, lets each attacker plant as many in the
    rest, and trains a classifier on these examples (M-step). The classifier's posterior of the real graph's edges,
    corrected for prior shift, is the result (E-step). The first round has no posterior: it removes the edges that the
    initial scores suspect.

    The simulated attackers work on another split (`rehearsal_split`). They plant at training nodes, where planted edges
    that were not removed would be taught as genuine; on the other split there are none at these nodes. `SLOW_ATTACKERS`
    take part in the last `AVERAGED_ROUNDS`. The classifier has ``trees`` boosting iterations.

    With a partition of the nodes, each attacker plants in a region of its own, and one poisoned graph shows what all of
    them planted: the cost of a round is that of some regions, and of one graph's features.
    """

    stream: ClassVar[int] = 0
    """Keeps the random draws of different searches apart."""
    tests_null: ClassVar[bool] = True
    """Whether the flags that a clean graph would get are measured."""

    def __init__(
        self,
        observed: Observed,
        attackers: Mapping[str, Attacker],
        *,
        rounds: int,
        trees: int,
        seed: int,
        partition: Partition | None = None,
    ) -> None:
        self.observed, self.graph, self.attackers, self.partition = observed, observed.graph, attackers, partition
        self.rounds, self.trees, self.seed = rounds, trees, seed
        self.rehearsal_extractor = self._rehearsal_extractor()
        """Extracts the features of the graphs poisoned by simulated attackers."""
        drawn = np.random.default_rng([seed, self.stream, 0]).random(self.graph.num_edges)
        self.held_out: BoolArray = drawn < HELD_OUT_SHARE
        self.purposeful = np.array([False, *(name not in NOISE_LIKE for name in attackers)])
        """Which classes are attackers that choose their edges."""

    def _rehearsal_extractor(self) -> EdgeFeatureExtractor:
        return EdgeFeatureExtractor(self.graph.with_split(rehearsal_split(self.graph, self.seed)))

    def run(self) -> tuple[list[Posterior], PlantedEdgeClassifier]:
        """Run all rounds; return their posteriors and the last classifier."""
        posteriors: list[Posterior] = []
        for number in range(self.rounds):
            classifier, rest = self.m_step(number, posteriors)
            posteriors.append(self.e_step(number, classifier, rest))
        return posteriors, classifier

    def round(self, number: int, posteriors: list[Posterior]) -> Posterior:
        """Run round ``number``, from 0; it depends only on the seed, the number and the posteriors before it."""
        return self.e_step(number, *self.m_step(number, posteriors))

    def attackers_of(self, number: int) -> list[str]:
        """Return the names of the attackers that are simulated in round ``number``."""
        large = self.partition is None and self.graph.num_edges > UNROLLED_MAX_EDGES
        skipped: tuple[str, ...] = ("unrolled",) if large else ()
        if number < self.rounds - AVERAGED_ROUNDS:
            skipped = SLOW_ATTACKERS
        return [name for name in self.attackers if name not in skipped] or list(self.attackers)

    def e_step(self, number: int, classifier: PlantedEdgeClassifier, rest: Graph) -> Posterior:
        """Return the posterior of the real edges; in the last rounds with the flags of the graph without suspects."""
        classes, priors = classifier.posterior(self.observed.features.table)
        unseen = self.held_out[self.graph.edge_numbers(rest.edges)]
        alarms = 0.0
        if self.tests_null and number >= self.rounds - AVERAGED_ROUNDS and unseen.any():
            calm, _ = classifier.posterior(self.rehearsal_extractor.extract(rest, np.flatnonzero(unseen)).table)
            alarms = float(calm[:, self.purposeful].sum() * rest.num_edges / unseen.sum())
        return Posterior(1 - classes[:, 0], priors, float(classes[:, self.purposeful].sum()), alarms)

    def m_step(self, number: int, posteriors: list[Posterior]) -> tuple[PlantedEdgeClassifier, Graph]:
        """Remove suspects, simulate the attackers on the rest and train the classifier of round ``number``.

        Returns:
            The classifier, and the graph without the suspects.
        """
        rng = np.random.default_rng([self.seed, self.stream, 1 + number])
        order, size, expected = self.suspects(posteriors, rng)
        removed = without_isolating(order[:size], self.graph.edges, self.graph.degrees, size)
        rest = self.graph.without_edges(self.graph.edges[removed])
        budget = min(int(max(expected, MIN_PLANTED_SHARE * self.graph.num_edges, 2)), rest.num_edges)
        table, classes = self._training_set(rest, budget, self.attackers_of(number), rng)
        return self._fit(table, classes, number), rest

    def suspects(self, posteriors: list[Posterior], rng: np.random.Generator) -> tuple[IntArray, int, float]:
        """Return the edges by suspicion, how many of them to remove, and how many edges to plant."""
        if not posteriors:
            shares = FIRST_REMOVED_SHARE, FIRST_PLANTED_SHARE
            size, expected = (share * self.graph.num_edges for share in shares)
            return np.argsort(-self.observed.initial_scores, kind="stable"), int(size), expected
        planted = posteriors[-1].planted
        drawn = rng.random(self.graph.num_edges) < planted
        margin = WIDER_MARGIN if self.rehearsal_extractor.split == self.graph.split else MARGIN
        order = np.argsort(-(drawn + planted / 2), kind="stable")
        return order, int(margin * drawn.sum()), posteriors[-1].expected

    def _training_set(
        self, rest: Graph, budget: int, names: Collection[str], rng: np.random.Generator
    ) -> tuple[FloatArray, IntArray]:
        """Return the features of genuine and planted edges, and their classes: 0 genuine, k planted by attacker k."""
        attacked = replace(rest, labels=self.observed.all_labels, split=self.rehearsal_extractor.split)
        chosen = {number: self.attackers[name] for number, name in enumerate(self.attackers, 1) if name in names}
        tables, classes = [], []
        for poisoned, attacker_at in self._rehearsals(attacked, chosen, budget, rng):
            genuine = self.graph.has_edges(poisoned.edges) & rest.has_edges(poisoned.edges)
            usable = np.flatnonzero(genuine)
            usable = usable[~self.held_out[self.graph.edge_numbers(poisoned.edges[usable])]]
            usable = _in_reach(usable, poisoned.edges, attacker_at, rng)
            most = MAX_GENUINE * len(np.unique(attacker_at[attacker_at > 0]))
            sample = rng.choice(usable, min(int(GENUINE_SHARE * len(usable)), most), replace=False)
            rows = np.sort(np.concatenate([sample, np.flatnonzero(~genuine)]))
            tables.append(self.rehearsal_extractor.extract(poisoned, rows).table)
            classes.append(np.where(genuine[rows], 0, attacker_at[poisoned.edges[rows, 0]]))
        return np.concatenate(tables), np.concatenate(classes)

    def _rehearsals(
        self, graph: Graph, attackers: dict[int, Attacker], budget: int, rng: np.random.Generator
    ) -> Iterator[tuple[Graph, IntArray]]:
        """Yield poisoned graphs, and the number of the attacker at each node, 0 where there is none: a graph for each
        attacker or, by regions, one for all."""
        if self.partition is not None:
            share = budget / graph.num_edges
            for group in self.partition.groups(attackers):
                planted, attacker_at = plant_in_regions(graph, self.partition, group, share, rng)
                yield graph.with_edges(planted), attacker_at
            return
        for number, attacker in attackers.items():
            yield graph.with_edges(attacker(graph, budget, rng)), np.full(graph.num_nodes, number)

    def _fit(self, table: FloatArray, classes: IntArray, number: int) -> PlantedEdgeClassifier:
        shares = np.bincount(classes, minlength=len(self.attackers) + 1) / len(classes)
        if not classes.any():  # the graph had no room for a planted edge
            return PlantedEdgeClassifier(None, shares)
        model = HistGradientBoostingClassifier(
            max_iter=self.trees,
            learning_rate=0.08,
            max_leaf_nodes=15,
            min_samples_leaf=20,
            l2_regularization=1.0,
            max_features=0.5,
            early_stopping=False,
            random_state=(self.seed + number) % 2**32,
        )
        return PlantedEdgeClassifier(model.fit(table, classes), shares)


def _in_reach(numbers: IntArray, edges: IntArray, attacker_at: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the edges with both ends where an attacker is, and half of those with one, so that each such node has its
    edges of all kinds in the right proportion."""
    if attacker_at.all():
        return numbers
    ends = (attacker_at[edges[numbers]] > 0).sum(axis=1)
    return numbers[rng.random(len(numbers)) < ends / 2]


class WideSearch(PlantedEdgeEM):
    """The search for poison that is not at the defender's training nodes.

    Such poison is everywhere, so that no split is free of it, and what stays in the graph is taught as genuine: each
    round removes a fixed share of the edges, more than an attacker plants. The attackers train on nodes of their own,
    drawn anew each time. Its ranking is good where the other search's is not; its count is too high, since unusual
    edges of a clean graph are removed as well (docs/self-attack.md).
    """

    stream: ClassVar[int] = 1
    tests_null: ClassVar[bool] = False

    def __init__(self, observed: Observed, attackers: Mapping[str, Attacker], **training: Any) -> None:
        elsewhere = {name: on_another_split(attacker) for name, attacker in attackers.items()}
        super().__init__(observed, elsewhere, **training)

    def _rehearsal_extractor(self) -> EdgeFeatureExtractor:
        return self.observed.extractor

    def suspects(self, posteriors: list[Posterior], rng: np.random.Generator) -> tuple[IntArray, int, float]:
        scores = self.observed.initial_scores
        if posteriors:
            scores = mean_log_odds(self.observed.with_global_opinion([mean_posterior(posteriors)]))
        size, expected = (share * self.graph.num_edges for share in (WIDE_REMOVED_SHARE, FIRST_PLANTED_SHARE))
        return np.argsort(-scores, kind="stable"), int(size), expected


def rehearsal_split(graph: Graph, seed: int) -> Split:
    """Return the split on which simulated attackers work: training and validation nodes are swapped.

    Attackers plant at training nodes, and there is no real poison at the swapped ones. The training set keeps its size
    if there are enough validation nodes. The split is unchanged if there are too few of them or the graph has no
    attributes (docs/self-attack.md says why).

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=100, seed=0)
    >>> np.intersect1d(rehearsal_split(graph, 0).train, graph.split.train)
    array([], dtype=int64)
    """
    assert graph.split is not None
    train, val = graph.split.train, graph.split.val
    if graph.features is None or len(val) < MIN_VALIDATION_RATIO * len(train):
        return graph.split
    chosen = np.random.default_rng(seed).permutation(val)[: len(train)]
    return Split(np.sort(chosen), np.sort(np.concatenate([train, np.setdiff1d(val, chosen)])), graph.split.test)
