"""Which edges are missing: hide some that are there, learn to find them among the candidates, then look for others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from focusedcleaner.budget import Budget, edges_allowed
from focusedcleaner.edge_features.class_agreement import class_distributions
from focusedcleaner.edge_features.edge_selection import rank_by_score
from focusedcleaner.edge_features.pair_features import INVERSE_DECAY, PairFeatures
from focusedcleaner.engine import one_thread
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.restore.candidates import Candidates
from focusedcleaner.restore.hiding import WAYS
from focusedcleaner.sanitizers.base import Columns, check_sanitizable, no_scores, plain_evidence

MOST_ALIKE = 20
"""Nodes of most similar attributes that are candidates for an edge with a node."""
HIDDEN = 0.05
"""Share of the edges that is hidden at a time."""
MOST_SHOWN = 50_000
"""Candidates without a hidden edge that the learner sees of each graph, at most; they weigh as much as all."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Missing:
    """Edges that an attacker may have removed, the likeliest first."""

    pairs: IntArray
    """M × 2 node numbers, the smaller first: none has an edge."""
    scores: FloatArray
    """How likely each is missing *if* as many edges are missing as were hidden to learn from: trust the order alone."""
    evidence: Columns
    """A column per kind of evidence, a row per pair."""
    candidates: int
    """Pairs that were looked at."""
    reach: float
    """The share of the hidden edges that were among the candidates; no list of any length finds more."""


@dataclass(frozen=True)
class _Lesson:
    """What the candidates of a graph look like, and which of them are hidden edges."""

    table: FloatArray
    hidden: FloatArray
    weights: FloatArray
    reached: int
    """Hidden edges among the candidates."""
    taken: int
    """Hidden edges."""


def missing_edges(
    graph: Graph,
    limit: Budget = 100,
    *,
    seed: int = 0,
    excluded: IntArray | None = None,
    repeats: int = 2,
    trees: int = 100,
    progress: Progress | None = None,
) -> Missing:
    """Propose edges that an attacker may have removed from a graph; the graph is not changed.

        score(u, v) = P((u, v) was hidden | its clues),

    by a classifier (histogram gradient boosting) that is trained on copies of the graph from which edges were hidden as
    attackers remove them: anywhere within a class, at training nodes, where it hurts a model most. Candidates are pairs
    with a common neighbour and pairs of most similar attributes; features: `PairFeatures`. That a graph's own edges
    teach what is missing is from Zhang, Chen: "Link Prediction Based on Graph Neural Networks", NeurIPS 2018.

    Args:
        graph: cleaned, with labels and a split; the labels of test nodes are not looked at.
        limit: how many edges to propose at most: 100, or "1%" of the graph's edges.
        seed: fixes everything random.
        excluded: K × 2 pairs u < v that are not to be proposed, as those that a sanitizer has removed.
        repeats: how often edges are hidden in each way.
        trees: of the classifier.
        progress: called with (graphs looked at so far, all of them).

    Raises:
        InputError: the graph or the limit can't be used.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, seed=0)
    >>> found = missing_edges(graph, limit=10, repeats=1, trees=10)
    >>> found.pairs.shape, graph.with_edges(found.pairs).num_edges - graph.num_edges
    ((10, 2), 10)
    """
    check_sanitizable(graph)
    allowed = edges_allowed(limit, graph.num_edges, what="limit")
    with one_thread():
        return _Search(graph.as_the_defender_sees_it(), seed, repeats, trees).found(allowed, excluded, progress)


class _Search:
    """Learning from one graph, and looking through its candidates."""

    def __init__(self, graph: Graph, seed: int, repeats: int, trees: int) -> None:
        self.graph, self.seed, self.repeats, self.trees = graph, seed, repeats, trees
        self.likeness = PairFeatures.of(graph)
        self.candidates = Candidates.of(graph, self.likeness.tfidf, most_alike=MOST_ALIKE)
        self.classes = class_distributions(graph, np.ones(graph.num_edges), INVERSE_DECAY)

    def found(self, limit: int, excluded: IntArray | None, progress: Progress | None) -> Missing:
        pairs = self.candidates.pairs(self.graph)
        if excluded is not None:
            pairs = pairs[~np.isin(self._keys(pairs), self._keys(excluded))]
        lessons, number = [], len(WAYS) * self.repeats
        for place in range(number):
            lessons.append(self._lesson(list(WAYS)[place % len(WAYS)], np.random.default_rng([self.seed, place])))
            if progress is not None:
                progress(place + 1, number)
        taken, reached = sum(lesson.taken for lesson in lessons), sum(lesson.reached for lesson in lessons)
        reach = reached / taken if taken else float("nan")
        if not len(pairs) or not reached:
            return Missing(no_pairs(), no_scores(), {}, len(pairs), reach)
        scores = self._learned(lessons).predict_proba(self._table(self.graph, pairs))[:, 1]
        best = rank_by_score(scores, self.seed)[:limit]
        return Missing(pairs[best], scores[best], self._evidence(pairs[best]), len(pairs), reach)

    def _lesson(self, way: str, rng: np.random.Generator) -> _Lesson:
        """Hide edges in one way, and look at the candidates of what is left."""
        hidden = WAYS[way](self.graph, self.classes.argmax(axis=1), max(1, int(HIDDEN * self.graph.num_edges)), rng)
        rest = self.graph.without_edges(hidden)
        pairs = self.candidates.pairs(rest)
        is_hidden = np.isin(self._keys(pairs), self._keys(hidden))
        others = np.flatnonzero(~is_hidden)
        shown = others if len(others) <= MOST_SHOWN else rng.choice(others, MOST_SHOWN, replace=False)
        rows = np.sort(np.concatenate([np.flatnonzero(is_hidden), shown]))
        weights = np.where(is_hidden[rows], 1.0, len(others) / max(len(shown), 1))
        return _Lesson(self._table(rest, pairs[rows]), is_hidden[rows], weights, int(is_hidden.sum()), len(hidden))

    def _learned(self, lessons: list[_Lesson]) -> HistGradientBoostingClassifier:
        table, hidden, weights = (
            np.concatenate([getattr(lesson, name) for lesson in lessons]) for name in ("table", "hidden", "weights")
        )
        learner = HistGradientBoostingClassifier(
            max_iter=self.trees,
            learning_rate=0.06,
            max_leaf_nodes=15,
            l2_regularization=1.0,
            max_features=0.5,
            early_stopping=False,
            random_state=self.seed % 2**32,
        )
        return learner.fit(table, hidden, sample_weight=weights)

    def _table(self, graph: Graph, pairs: IntArray) -> FloatArray:
        return np.stack(list(self.likeness.columns(graph, pairs).values()), axis=1)

    def _evidence(self, pairs: IntArray) -> Columns:
        u, v = pairs.T
        return {
            "class_agreement": (self.classes[u] * self.classes[v]).sum(axis=1),
            "classes_u": self.classes[u],
            "classes_v": self.classes[v],
            **plain_evidence(self.graph, pairs),
        }

    def _keys(self, pairs: IntArray) -> IntArray:
        return pairs[:, 0] * self.graph.num_nodes + pairs[:, 1]
