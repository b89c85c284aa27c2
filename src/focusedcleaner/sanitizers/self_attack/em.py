"""From suspicion to probability: attack the graph without the suspects, learn to recognize it, suspect again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.edge_features.extractor import EdgeFeatureExtractor, EdgeFeatures
from focusedcleaner.graph import FloatArray, Graph, IntArray, Split
from focusedcleaner.sanitizers.self_attack.attackers import Attacker
from focusedcleaner.sanitizers.self_attack.prior_shift import correct_prior_shift

SLOW = ("unrolled", "minmax")
"""Attackers that all but the last rounds do without, if there are others: those only find out what to take out."""
LEAST_PLANTED = 0.03
"""Share of the edges that a simulated attacker plants at least: a learner needs examples."""
FIRST_PLANTED = 0.1
"""The same in the first round, when nothing is known yet."""
FIRST_CUT = 0.3
"""Share of the edges that the first round takes out: more than an attacker plants."""
MARGIN, WIDER_MARGIN = 1.05, 1.2
"""A round takes out so many times the edges that it draws. What is planted and stays is taught as genuine, so that
errors could only make the number smaller; taking out a few more pushes the other way. The wider margin is for graphs
whose attackers can't rehearse elsewhere (`rehearsed`)."""
KEPT = 3
"""Rounds, the last ones, whose opinions are averaged."""
FEWEST_IN_EXCHANGE = 0.5
"""Validation nodes, as a share of the training nodes, that are enough to stand in for them."""
GENUINE_SHOWN, MOST_GENUINE = 0.5, 100_000
"""Share of an attacked graph's genuine edges that the learner sees, and their largest number: every attacker leaves
nearly the same ones, so that a sample of each will do."""


@dataclass(frozen=True)
class Posterior:
    """What a round makes of every edge."""

    planted: FloatArray
    """E probabilities."""
    shares: FloatArray
    """How common the edges of each kind are: genuine ones, then those of each attacker."""

    @property
    def number(self) -> float:
        """How many edges are planted, by expectation."""
        return float(self.planted.sum())


@dataclass(frozen=True)
class PlantedEdgeClassifier:
    """What a round has learnt: tells planted edges from genuine ones in any graph over the same nodes."""

    learner: HistGradientBoostingClassifier | None
    """None where there was nothing to learn from: then everything looks genuine."""
    trained: FloatArray
    """How common each kind of edges was where it learnt."""

    def opinion(self, clues: EdgeFeatures) -> Posterior:
        """What it makes of a graph's edges by their clues."""
        if self.learner is None:
            return Posterior(np.zeros(len(clues.table)), self.trained)
        present = self.learner.classes_
        found = correct_prior_shift(self.learner.predict_proba(clues.table), self.trained[present])
        shares = np.zeros(len(self.trained))
        shares[present] = found.shares
        return Posterior(1 - found.posterior[:, 0], shares)


def mean_posterior(opinions: list[Posterior]) -> FloatArray:
    """The mean of the last `KEPT` rounds' probabilities."""
    mean: FloatArray = np.mean([opinion.planted for opinion in opinions[-KEPT:]], axis=0)
    return mean


@dataclass(frozen=True)
class PlantedEdgeEM:
    """Stochastic expectation-maximization: which edges of a graph were planted?

    A round draws the planted edges from the opinion of the round before, takes them out, lets each attacker plant as
    many in what is left, and trains a classifier to tell genuine edges from those of each attacker by their clues. Its
    opinion of the real graph's edges, corrected for how common each kind is there (`correct_prior_shift`),
    is its result.

    The simulated attackers work on another split (`rehearsed`): what is planted and stayed in the graph is then not
    where they plant, at the training nodes, and is not taught as what genuine edges look like there.

    The first round has no opinion to draw from: it takes out the edges whose ends agree least in class and attributes.

    Args:
        graph: as the defender sees it.
        attackers: by name.
        rounds: how many there will be; the slow attackers take part in the last `KEPT`.
        trees: of the classifier.
        seed: fixes everything random.
    """

    graph: Graph
    attackers: Mapping[str, Attacker]
    rounds: int
    trees: int
    seed: int
    examiner: EdgeFeatureExtractor
    rehearsal: EdgeFeatureExtractor
    """Looks at the graphs that the simulated attackers have poisoned."""
    clues: EdgeFeatures

    @classmethod
    def of(
        cls, graph: Graph, attackers: Mapping[str, Attacker], *, rounds: int, trees: int, seed: int
    ) -> PlantedEdgeEM:
        """Look at the graph once; all rounds use the clues."""
        examiner, rehearsal = (
            EdgeFeatureExtractor(graph),
            EdgeFeatureExtractor(graph.with_split(rehearsed(graph, seed))),
        )
        return cls(graph, attackers, rounds, trees, seed, examiner, rehearsal, examiner.extract(graph))

    def concluded(self) -> FloatArray:
        """Go through all rounds; the mean opinion of the last ones, E probabilities."""
        opinions: list[Posterior] = []
        for number in range(self.rounds):
            opinions.append(self.round(number, opinions[-1] if opinions else None))
        return mean_posterior(opinions)

    def trained(self) -> PlantedEdgeClassifier:
        """Go through all rounds; the classifier of the last one."""
        posterior = None
        for number in range(self.rounds):
            classifier = self.judge(number, posterior)
            posterior = classifier.opinion(self.clues)
        return classifier

    def first_suspicion(self) -> FloatArray:
        """A rough score of every edge: disagreement in class, seen both ways, and in attributes."""
        score = -self.clues["agreement"]
        if self.examiner.attributes is not None:
            score = score - self.clues["agreement_by_attributes"] - 8 * self.clues["attribute_similarity"]
        return score

    def round(self, number: int, before: Posterior | None) -> Posterior:
        """Round ``number``, from 0 on; it depends on the seed, its number and the opinion before alone."""
        return self.judge(number, before).opinion(self.clues)

    def judge(self, number: int, before: Posterior | None) -> PlantedEdgeClassifier:
        """What round ``number`` learns."""
        rng = np.random.default_rng([self.seed, number])
        if before is None:
            wanted, order = int(FIRST_CUT * self.graph.num_edges), np.argsort(-self.first_suspicion())
            expected = FIRST_PLANTED * self.graph.num_edges
        else:
            drawn = rng.random(self.graph.num_edges) < before.planted
            margin = WIDER_MARGIN if self.rehearsal.split == self.graph.split else MARGIN
            wanted, order = int(margin * drawn.sum()), np.argsort(-(drawn + before.planted / 2), kind="stable")
            expected = before.number
        gone = without_isolating(order[:wanted], self.graph.edges, self.graph.degrees, wanted)
        rest = self.graph.without_edges(self.graph.edges[gone])
        left_out = SLOW if number < self.rounds - KEPT and not set(SLOW).issuperset(self.attackers) else ()
        table, kinds = self._examples(rest, int(max(expected, LEAST_PLANTED * self.graph.num_edges, 2)), left_out, rng)
        return self._learned(table, kinds, number)

    def _examples(
        self, rest: Graph, budget: int, left_out: Collection[str], rng: np.random.Generator
    ) -> tuple[FloatArray, NDArray[np.int64]]:
        """EdgeFeatures of genuine and planted edges, and who planted them: 0 for nobody."""
        guessed = replace(rest, labels=self._guessed_labels(), split=self.rehearsal.split)
        tables, kinds = [], []
        for kind, (name, attacker) in enumerate(self.attackers.items(), start=1):
            if name in left_out:
                continue
            poisoned = rest.with_edges(attacker(guessed, budget, rng))
            who = np.where(np.isin(poisoned.edge_keys, rest.edge_keys), 0, kind)
            shown = _sample(who, rng)
            tables.append(self.rehearsal.extract(poisoned).table[shown])
            kinds.append(who[shown])
        return np.concatenate(tables), np.concatenate(kinds)

    def _guessed_labels(self) -> IntArray:
        """What an attacker knows: every node's class. Here, the likeliest where it is unknown."""
        guess: IntArray = self.clues.classes.argmax(axis=1)
        return np.where(self.examiner.labels >= 0, self.examiner.labels, guess)

    def _learned(self, table: FloatArray, kinds: NDArray[np.int64], number: int) -> PlantedEdgeClassifier:
        shares = np.bincount(kinds, minlength=len(self.attackers) + 1) / len(kinds)
        if not kinds.any():  # no room for a single planted edge: nothing can be learnt
            return PlantedEdgeClassifier(None, shares)
        learner = HistGradientBoostingClassifier(
            max_iter=self.trees,
            learning_rate=0.08,
            max_leaf_nodes=15,
            min_samples_leaf=20,
            l2_regularization=1.0,
            max_features=0.5,
            early_stopping=False,
            random_state=(self.seed + number) % 2**32,
        )
        return PlantedEdgeClassifier(learner.fit(table, kinds), shares)


def rehearsed(graph: Graph, seed: int) -> Split:
    """The split on which simulated attackers work: training and validation nodes are exchanged. Attackers gather at
    training nodes, and there is no real poison at these. As many train as before where there are enough; the split
    itself where too few nodes validate or there are no attributes (docs/self-attack.md says why).

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=100, seed=0)
    >>> np.intersect1d(rehearsed(graph, 0).train, graph.split.train)
    array([], dtype=int64)
    """
    assert graph.split is not None
    train, val = graph.split.train, graph.split.val
    if graph.attributes is None or len(val) < FEWEST_IN_EXCHANGE * len(train):
        return graph.split
    chosen = np.random.default_rng(seed).permutation(val)[: len(train)]
    return Split(np.sort(chosen), np.sort(np.concatenate([train, np.setdiff1d(val, chosen)])), graph.split.test)


def _sample(who: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The planted edges and a sample of the others, by number."""
    genuine = np.flatnonzero(who == 0)
    shown = rng.choice(genuine, min(int(GENUINE_SHOWN * len(genuine)), MOST_GENUINE), replace=False)
    return np.sort(np.concatenate([shown, np.flatnonzero(who)]))
