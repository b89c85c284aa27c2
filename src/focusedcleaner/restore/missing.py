"""Missing edges: hide some edges, learn to find them among the candidate pairs, then search for truly missing ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier

from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.budget import Budget, edges_allowed
from focusedcleaner.edge_features.class_regression import class_distributions
from focusedcleaner.edge_features.edge_selection import rank_by_score, without_isolating
from focusedcleaner.edge_features.pair_features import INVERSE_DECAY, PairFeatures
from focusedcleaner.engine import one_thread
from focusedcleaner.graph import BoolArray, FloatArray, Graph, IntArray, no_pairs, pair_keys
from focusedcleaner.io.convert import as_graph
from focusedcleaner.restore.candidates import Candidates
from focusedcleaner.sanitizers.base import Columns, Progress, common_evidence, no_scores
from focusedcleaner.sanitizers.checks import check_sanitizable
from focusedcleaner.surrogate import Implicit, Surrogate

SIMILAR_NEIGHBOURS = 20
"""Nodes with the most similar attributes that are paired with each node."""
HIDDEN_SHARE = 0.05
"""Share of the edges hidden at a time."""
MAX_NEGATIVES = 50_000
"""Largest number of other candidates per training set; their sample weights add up to the number of all of them."""
WEIGHT_DECAY = 1e-3
"""Weight decay of the attacked surrogate, as in our METTACK."""

HidingStrategy = Callable[[Graph, IntArray, int, np.random.Generator], IntArray]
"""Returns at most ``number`` edges (H × 2) of a graph, given the (predicted) class of each node and a generator."""


@dataclass(frozen=True)
class Missing:
    """Edges that an attacker may have removed, the most likely first."""

    pairs: IntArray
    """M × 2 pairs u < v without an edge."""
    scores: FloatArray
    """Probability of each pair of being missing *if* as many edges are missing as were hidden: trust only the order."""
    evidence: Columns
    """One column per kind of evidence, one row per pair."""
    candidates: int
    """Number of candidate pairs."""
    reach: float
    """Share of the hidden edges that were among the candidates: the highest recall of any list."""


def missing_edges(
    graph: Graph | Any,
    limit: Budget = 100,
    *,
    seed: int = 0,
    excluded: IntArray | None = None,
    repeats: int = 2,
    trees: int = 100,
    progress: Progress | None = None,
) -> Missing:
    """Propose edges that an attacker may have removed from a graph; the input is not changed.

        score(u, v) = P((u, v) was hidden | features of (u, v)),

    by a classifier (histogram gradient boosting) trained on copies of the graph from which edges were hidden the way
    attackers remove them: anywhere within a class, at training nodes, and where it harms a model most. Candidates are
    pairs with a common neighbour and pairs with similar attributes; the features are those of `PairFeatures`. Learning
    missing edges from a graph's own edges: Zhang, Chen: "Link Prediction Based on Graph Neural Networks", NeurIPS 2018.

    Args:
        graph: a cleaned `Graph`, PyG `Data`, NetworkX graph or scipy matrix, with labels and a split; the labels of
            test nodes are not used.
        limit: the maximum number of proposals: 100, or "1%" of the graph's edges.
        seed: seed of all random draws.
        excluded: K × 2 pairs u < v that are not proposed, such as the edges that a sanitizer removed.
        repeats: how many times each hiding strategy is used.
        trees: boosting iterations of the classifier.
        progress: called with (training sets built so far, total).

    Raises:
        InputError: the graph or the limit can't be used.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, seed=0)
    >>> missing = missing_edges(graph, limit=10, repeats=1, trees=10)
    >>> missing.pairs.shape, graph.with_edges(missing.pairs).num_edges - graph.num_edges
    ((10, 2), 10)
    """
    graph = as_graph(graph)
    check_sanitizable(graph, "restore", labels=False)
    graph.check_labelled("restore")
    allowed = edges_allowed(limit, graph.num_edges, what="limit")
    seen = graph.without_test_labels()
    order = seen.canonical_order
    if excluded is not None:
        excluded = np.sort(order.places(excluded), axis=1)
    with one_thread():
        search = _Search(seen.in_canonical_order(), seed, trees)
        found = search.run(allowed, excluded, HIDING_STRATEGIES * repeats, progress)
    pairs, evidence = order.pairs_back(found.pairs, found.evidence)
    return replace(found, pairs=pairs, evidence=evidence)


class _Search:
    """Trains on one graph and scores its candidates."""

    def __init__(self, graph: Graph, seed: int, trees: int) -> None:
        self.graph, self.seed, self.trees = graph, seed, trees
        self.likeness = PairFeatures(graph)
        self.candidates = Candidates(graph, self.likeness.tfidf, neighbours=SIMILAR_NEIGHBOURS)
        self.classes = class_distributions(graph, INVERSE_DECAY)

    def run(
        self, limit: int, excluded: IntArray | None, strategies: Sequence[HidingStrategy], progress: Progress | None
    ) -> Missing:
        pairs = self.candidates.pairs(self.graph)
        if excluded is not None:
            keys, others = (pair_keys(np.asarray(part), self.graph.num_nodes) for part in (pairs, excluded))
            pairs = pairs[~np.isin(keys, others)]
        parts = []
        for number, strategy in enumerate(strategies):
            parts.append(self._training_set(strategy, np.random.default_rng([self.seed, number])))
            if progress is not None:
                progress(number + 1, len(strategies))
        hidden, reached = sum(part[3] for part in parts), sum(int(part[1].sum()) for part in parts)
        reach = reached / hidden if hidden else float("nan")
        if not len(pairs) or not reached:
            return Missing(no_pairs(), no_scores(), {}, len(pairs), reach)
        features, positive, weights = (np.concatenate([part[column] for part in parts]) for column in range(3))
        model = HistGradientBoostingClassifier(
            max_iter=self.trees,
            learning_rate=0.06,
            max_leaf_nodes=15,
            l2_regularization=1.0,
            max_features=0.5,
            early_stopping=False,
            random_state=self.seed % 2**32,
        ).fit(features, positive, sample_weight=weights)
        scores = model.predict_proba(self._features(self.graph, pairs))[:, 1]
        best = rank_by_score(scores, self.seed)[:limit]
        return Missing(pairs[best], scores[best], self._evidence(pairs[best]), len(pairs), reach)

    def _training_set(
        self, strategy: HidingStrategy, rng: np.random.Generator
    ) -> tuple[FloatArray, BoolArray, FloatArray, int]:
        """Hide edges; return, of the remaining graph's candidates, the features, whether they were hidden and the
        sample weights; and the number of hidden edges."""
        size = max(1, int(HIDDEN_SHARE * self.graph.num_edges))
        hidden = strategy(self.graph, self.classes.argmax(axis=1), size, rng)
        rest = self.graph.without_edges(hidden)
        pairs = self.candidates.pairs(rest)
        positive = self.graph.has_edges(pairs)
        negatives = np.flatnonzero(~positive)
        sample = negatives if len(negatives) <= MAX_NEGATIVES else rng.choice(negatives, MAX_NEGATIVES, replace=False)
        rows = np.sort(np.concatenate([np.flatnonzero(positive), sample]))
        weights = np.where(positive[rows], 1.0, len(negatives) / max(len(sample), 1))
        return self._features(rest, pairs[rows]), positive[rows], weights, len(hidden)

    def _features(self, graph: Graph, pairs: IntArray) -> FloatArray:
        return np.stack(list(self.likeness.columns(graph, pairs).values()), axis=1)

    def _evidence(self, pairs: IntArray) -> Columns:
        u, v = pairs.T
        return {
            "class_agreement": (self.classes[u] * self.classes[v]).sum(axis=1),
            "classes_u": self.classes[u],
            "classes_v": self.classes[v],
            **common_evidence(self.graph, pairs),
        }


def within_classes(graph: Graph, classes: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Hide edges within a class anywhere, as DICE removes them."""
    u, v = graph.edges.T
    return _draw(graph, classes[u] == classes[v], number, rng)


def at_training_nodes(graph: Graph, classes: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Hide edges within a class between a training node and another node, as METTACK and MinMax remove them."""
    assert graph.split is not None
    u, v = graph.edges.T
    at_training = np.isin(graph.edges, graph.split.train).sum(axis=1) == 1
    return _draw(graph, at_training & (classes[u] == classes[v]), number, rng)


def by_gradient(graph: Graph, classes: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Hide half of the edges whose removal, by one meta-gradient, harms a surrogate most, drawn at random."""
    attacked = replace(graph, labels=classes)
    surrogate = Surrogate(attacked, inner=Implicit(WEIGHT_DECAY))
    fitted = surrogate.fit()
    loss = AttackerLoss(attacked, torch.tensor(classes), 0.0)
    gain = -surrogate.meta_gradient(fitted, loss.signal(fitted.logits)).edges().numpy()
    best = np.zeros(graph.num_edges, dtype=bool)
    best[np.argsort(-gain, kind="stable")[: 2 * number]] = True
    return _draw(graph, best & (gain > 0), number, rng)


HIDING_STRATEGIES: tuple[HidingStrategy, ...] = (within_classes, at_training_nodes, by_gradient)


def _draw(graph: Graph, candidates: BoolArray, number: int, rng: np.random.Generator) -> IntArray:
    """Draw at most ``number`` of the candidate edges at random, isolating no node."""
    order = rng.permutation(np.flatnonzero(candidates))
    return graph.edges[without_isolating(order, graph.edges, graph.degrees, number)]
