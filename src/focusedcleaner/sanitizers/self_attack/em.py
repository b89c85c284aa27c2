"""The EM loop of self-attack: attack the graph without the suspects, learn to recognize planted edges, repeat."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.edge_features.extractor import EdgeFeatureExtractor, EdgeFeatures
from focusedcleaner.edge_features.global_structure import global_structure
from focusedcleaner.graph import FloatArray, Graph, IntArray, Split
from focusedcleaner.sanitizers.self_attack.attackers import Attacker

SLOW_ATTACKERS = ("unrolled", "minmax")
"""Attackers simulated only in the last rounds if there are others: earlier rounds only decide what to remove."""
MIN_PLANTED_SHARE = 0.03
"""Smallest share of the edges that a simulated attacker plants: the classifier needs examples."""
FIRST_PLANTED_SHARE = 0.1
"""Share of the edges planted in the first round, before there is an estimate."""
FIRST_REMOVED_SHARE = 0.3
"""Share of the edges removed in the first round: more than an attacker plants."""
MARGIN, WIDER_MARGIN = 1.05, 1.2
"""Over-removal factor: edges removed before the simulated attacks, relative to those drawn. A planted edge that stays
is a wrong example of a genuine one and biases the count downwards; removing a few more edges counteracts that. The
wider margin is for graphs whose `rehearsal_split` is the split itself."""
AVERAGED_ROUNDS = 3
"""The last rounds, whose posteriors are averaged."""
MIN_VALIDATION_RATIO = 0.5
"""Smallest ratio of validation to training nodes at which the two are swapped for the rehearsal."""
GENUINE_SHARE, MAX_GENUINE = 0.5, 100_000
"""Share and largest number of an attacked graph's genuine edges in the training set: all attacked graphs have nearly
the same ones."""


@dataclass(frozen=True)
class Posterior:
    """The posterior of one round (the result of an E-step)."""

    planted: FloatArray
    """Probability of each of E edges of being planted."""
    priors: FloatArray
    """Estimated class shares: genuine edges, then those of each attacker."""

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

    def posterior(self, features: EdgeFeatures) -> Posterior:
        """E-step: return the posterior of a graph's edges, corrected for prior shift."""
        if self.model is None:
            return Posterior(np.zeros(len(features.table)), self.class_shares)
        present = self.model.classes_
        probabilities = self.model.predict_proba(features.table)
        posterior, present_priors = correct_prior_shift(probabilities, self.class_shares[present])
        priors = np.zeros(len(self.class_shares))
        priors[present] = present_priors
        return Posterior(1 - posterior[:, 0], priors)


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
    for _ in range(500):
        posterior = ratio * priors
        posterior /= posterior.sum(axis=1, keepdims=True)
        previous, priors = priors, posterior.mean(axis=0)
        if np.abs(priors - previous).max() < 1e-6:
            break
    return posterior, priors


def mean_posterior(posteriors: list[Posterior]) -> FloatArray:
    """Return each edge's mean probability of being planted over the last `AVERAGED_ROUNDS` rounds."""
    return np.mean([posterior.planted for posterior in posteriors[-AVERAGED_ROUNDS:]], axis=0)


class PlantedEdgeEM:
    """Stochastic expectation-maximization of which edges of a graph were planted.

    A round draws the planted edges from the previous posterior, removes them, lets each attacker plant as many in the
    rest, and trains a classifier on these examples (M-step). The classifier's posterior of the real graph's edges,
    corrected for prior shift, is the result (E-step). The first round has no posterior: it removes the edges whose
    endpoints agree least in class and attributes.

    The simulated attackers work on another split (`rehearsal_split`). They plant at training nodes, where planted edges
    that were not removed would be taught as genuine; on the other split there are none at these nodes. `SLOW_ATTACKERS`
    take part in the last `AVERAGED_ROUNDS`. The classifier has ``trees`` boosting iterations.
    """

    def __init__(self, graph: Graph, attackers: Mapping[str, Attacker], *, rounds: int, trees: int, seed: int) -> None:
        self.graph, self.attackers, self.rounds, self.trees, self.seed = graph, attackers, rounds, trees, seed
        self.extractor = EdgeFeatureExtractor(graph)
        self.rehearsal_extractor = EdgeFeatureExtractor(graph.with_split(rehearsal_split(graph, seed)))
        """Extracts the features of the graphs poisoned by simulated attackers."""
        self.features = self.extractor.extract(graph)

    def run(self) -> tuple[FloatArray, PlantedEdgeClassifier]:
        """Run all rounds; return the mean posterior of the last ones, E probabilities, and the last classifier."""
        posteriors: list[Posterior] = []
        for number in range(self.rounds):
            classifier = self.m_step(number, posteriors[-1] if posteriors else None)
            posteriors.append(classifier.posterior(self.features))
        return mean_posterior(posteriors), classifier

    def initial_scores(self) -> FloatArray:
        """Return a rough suspicion score of every edge: disagreement in class and attributes or, where there are no
        attributes, how badly the edge fits the global structure."""
        if self.extractor.attributes is None:
            return global_structure(self.graph)["global_suspicion"]
        disagreement = self.features["agreement"] + self.features["agreement_by_attributes"]
        return -disagreement - 8 * self.features["attribute_similarity"]

    def round(self, number: int, previous: Posterior | None) -> Posterior:
        """Run round ``number``, from 0; it depends only on the seed, the number and the previous posterior."""
        return self.m_step(number, previous).posterior(self.features)

    def m_step(self, number: int, previous: Posterior | None) -> PlantedEdgeClassifier:
        """Remove suspects, simulate the attackers on the rest and train the classifier of round ``number``."""
        rng = np.random.default_rng([self.seed, number])
        if previous is None:
            size, order = int(FIRST_REMOVED_SHARE * self.graph.num_edges), np.argsort(-self.initial_scores())
            expected = FIRST_PLANTED_SHARE * self.graph.num_edges
        else:
            drawn = rng.random(self.graph.num_edges) < previous.planted
            margin = WIDER_MARGIN if self.rehearsal_extractor.split == self.graph.split else MARGIN
            size, order = int(margin * drawn.sum()), np.argsort(-(drawn + previous.planted / 2), kind="stable")
            expected = previous.expected
        removed = without_isolating(order[:size], self.graph.edges, self.graph.degrees, size)
        rest = self.graph.without_edges(self.graph.edges[removed])
        skip_slow = number < self.rounds - AVERAGED_ROUNDS and not set(SLOW_ATTACKERS).issuperset(self.attackers)
        budget = min(int(max(expected, MIN_PLANTED_SHARE * self.graph.num_edges, 2)), rest.num_edges)
        table, classes = self._training_set(rest, budget, SLOW_ATTACKERS if skip_slow else (), rng)
        return self._fit(table, classes, number)

    def _training_set(
        self, rest: Graph, budget: int, skipped: Collection[str], rng: np.random.Generator
    ) -> tuple[FloatArray, IntArray]:
        """Return the features of genuine and planted edges, and their classes: 0 genuine, k planted by attacker k."""
        # Attackers know every label: the defender's labels, and predictions for all other nodes.
        known, predicted = self.extractor.labels, self.features.classes.argmax(axis=1)
        labels = np.where(known >= 0, known, predicted)
        attacked = replace(rest, labels=labels, split=self.rehearsal_extractor.split)
        tables, classes = [], []
        for number, (name, attacker) in enumerate(self.attackers.items(), start=1):
            if name in skipped:
                continue
            poisoned = rest.with_edges(attacker(attacked, budget, rng))
            edge_classes = np.where(rest.has_edges(poisoned.edges), 0, number)
            rows = _sample_rows(edge_classes, rng)
            tables.append(self.rehearsal_extractor.extract(poisoned).table[rows])
            classes.append(edge_classes[rows])
        return np.concatenate(tables), np.concatenate(classes)

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


def _sample_rows(classes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the rows of all planted edges and of a sample of the genuine ones."""
    genuine = np.flatnonzero(classes == 0)
    sample = rng.choice(genuine, min(int(GENUINE_SHARE * len(genuine)), MAX_GENUINE), replace=False)
    return np.sort(np.concatenate([sample, np.flatnonzero(classes)]))
