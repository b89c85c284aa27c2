"""Filters: sanitizers that score every edge once; the contract, the similarity filters and the random control."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.edge_features.edge_selection import rank_by_score, removable_by_score
from focusedcleaner.engine.sparse import row_products, row_squares
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.registry import EdgeScorer
from focusedcleaner.sanitizers.base import Columns, Progress, Sanitizer, Selection


@dataclass(frozen=True)
class EdgeScores:
    """A filter's score of every edge: what `Filter.score_edges` returns.

    >>> import numpy as np
    >>> EdgeScores(np.array([0.2, 0.9]), {"shared": np.array([3, 0])}).scores
    array([0.2, 0.9])
    """

    scores: FloatArray
    """E values; the highest are removed first."""
    evidence: Columns = field(default_factory=dict)
    """One column per kind of evidence, one row per edge."""
    at_ends: Columns = field(default_factory=dict)
    """The same with a row per node: of a removed edge, NAME_u and NAME_v are those of its ends."""

    def evidence_of(self, graph: Graph, edges: IntArray) -> Columns:
        """The evidence against some edges, given by their numbers."""
        u, v = graph.edges[edges].T
        columns = {name: column[edges] for name, column in self.evidence.items()}
        for name, column in self.at_ends.items():
            columns |= {f"{name}_u": column[u], f"{name}_v": column[v]}
        return columns


class Filter(Sanitizer):
    """Removes the edges with the highest scores; the seed breaks ties.

    An edge whose removal would isolate a node stays. Filters take seconds: an interrupted one returns nothing.

    >>> from focusedcleaner.datasets import synthetic
    >>> @dataclass(frozen=True)
    ... class Longest(Filter):
    ...     "Removes the edges between the nodes whose numbers differ most."
    ...     name = "longest"
    ...     def score_edges(self, graph, seed):
    ...         return EdgeScores(abs(graph.edges[:, 0] - graph.edges[:, 1]).astype(float))
    >>> Longest().sanitize(synthetic(200), budget=5)
    Sanitation(longest, uncertain: 5 of 400 edges removed)
    """

    scores_edges: ClassVar[bool] = True

    @abstractmethod
    def score_edges(self, graph: Graph, seed: int) -> EdgeScores:
        """Score every edge of the graph."""

    @property
    def min_score(self) -> float | None:
        """Lowest score of an edge that may be removed, for filters with a threshold; these choose their budget."""
        return None

    @property
    def chooses_budget(self) -> bool:
        return self.min_score is not None

    def edge_scorer(self, graph: Graph, *, seed: int = 0) -> EdgeScorer:
        """Return a function that scores edges by their rank in a graph: 0 the least, 1 the most suspicious."""
        del graph

        def score(trial: Graph) -> FloatArray:
            ranks = np.argsort(rank_by_score(self.score_edges(trial, seed).scores, seed))
            return 1 - ranks / max(trial.num_edges - 1, 1)

        return score

    def select_edges(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Selection:
        scored = self.score_edges(graph, seed)
        allowed = int(np.count_nonzero(scored.scores >= (-np.inf if self.min_score is None else self.min_score)))
        size = allowed if budget is None else min(budget, allowed)
        removed = removable_by_score(scored.scores, graph, size, seed)
        if self.min_score is not None:
            removed = removed[scored.scores[removed] >= self.min_score]
        if progress is not None:
            progress(len(removed), len(removed))
        return Selection(
            removed,
            scored.scores[removed],
            scored.evidence_of(graph, removed),
            {"round": np.array([1]), "removed": np.array([len(removed)])},
            edge_scores=scored.scores,
        )


@dataclass(frozen=True)
class SimilarityFilter(Filter):
    """Removes the edges between the nodes with the least similar attributes. Needs attributes.

    Args:
        threshold: only edges with a similarity at or below it are removed, as far as the budget allows; without a
            budget, all of them. None removes as many as the budget says.
    """

    needs_attributes: ClassVar[bool] = True
    threshold: float | None = None

    @property
    def min_score(self) -> float | None:
        return None if self.threshold is None else 0.0 - self.threshold

    @abstractmethod
    def similarities(self, graph: Graph) -> FloatArray:
        """Return the attribute similarity of each edge's endpoints, E values."""

    def score_edges(self, graph: Graph, seed: int) -> EdgeScores:
        if graph.attributes is None:
            others = "the default method or svd" + (", cld, lp or agreement" if len(graph.known_labels) else "")
            raise InputError(f"the graph has no attributes, and {self.name} compares nothing else: use {others}")
        return EdgeScores(0.0 - self.similarities(graph))


@dataclass(frozen=True)
class Jaccard(SimilarityFilter):
    """Removes the edges whose endpoints have the lowest Jaccard similarity of attributes:

        J(u, v) = |x_u ∧ x_v| / |x_u ∨ x_v|,  x binary (any value but 0 counts as 1); 0 if both are empty.

    Wu, Wang, Tyshetskiy, Docherty, Lu, Zhu: "Adversarial Examples on Graph Data: Deep Insights into Attack and
    Defense", IJCAI 2019 (https://arxiv.org/abs/1903.01610).

    Args:
        threshold: only edges with a similarity at or below it are removed, as far as the budget allows; without a
            budget, all of them. None removes as many as the budget says.
        distance: rank by the distance ‖x_u − x_v‖ instead of J, the farthest first; the threshold is then the largest
            distance that is kept, for example 6.3 on Cora and 8.15 on Citeseer.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, seed=0)
    >>> len(Jaccard().sanitize(graph, budget=20).removed)
    20
    >>> chosen = Jaccard(threshold=0.05).sanitize(graph)
    >>> chosen.auto, chosen.evidence["jaccard"].max() <= 0.05
    (True, np.True_)
    >>> far = Jaccard(threshold=5.0, distance=True).sanitize(graph)
    >>> (far.evidence["distance"] > 5).all()
    np.True_
    """

    name: ClassVar[str] = "jaccard"
    needs_labels: ClassVar[bool] = False
    distance: bool = False

    @property
    def min_score(self) -> float | None:
        if self.distance and self.threshold is not None:
            return float(np.nextafter(self.threshold, np.inf))
        return super().min_score

    def similarities(self, graph: Graph) -> FloatArray:
        assert graph.attributes is not None
        if self.distance:
            return 0.0 - attribute_distances(graph)
        binary = (graph.attributes != 0).astype(float)
        common = row_products(binary, binary, graph.edges)
        sizes = np.diff(graph.attributes.indptr)[graph.edges].sum(axis=1)
        return common / np.maximum(sizes - common, 1)

    def score_edges(self, graph: Graph, seed: int) -> EdgeScores:
        scores = super().score_edges(graph, seed).scores
        return EdgeScores(scores, {"distance": scores} if self.distance else {"jaccard": 0.0 - scores})


def attribute_distances(graph: Graph) -> FloatArray:
    """Return ‖x_u − x_v‖ of every edge, E values."""
    assert graph.attributes is not None
    squares = row_squares(graph.attributes)[graph.edges].sum(axis=1)
    squares -= 2 * row_products(graph.attributes, graph.attributes, graph.edges)
    return np.sqrt(np.maximum(squares, 0.0))


@dataclass(frozen=True)
class Cosine(SimilarityFilter):
    """Removes the edges whose endpoints have the lowest cosine similarity of attributes, which may be any real numbers:

        cos(u, v) = x_u·x_v / (‖x_u‖·‖x_v‖), 0 if an endpoint has no attributes.

    `Jaccard` with the cosine, which is how Zhang, Zitnik: "GNNGuard: Defending Graph Neural Networks against
    Adversarial Attacks", NeurIPS 2020 (https://arxiv.org/abs/2006.08149) compare nodes.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = Cosine().sanitize(synthetic(num_nodes=200, seed=0), budget=20)
    >>> (sanitation.scores == -sanitation.evidence["attribute_similarity"]).all()
    np.True_
    """

    name: ClassVar[str] = "cosine"
    needs_labels: ClassVar[bool] = False

    def similarities(self, graph: Graph) -> FloatArray:
        return attribute_cosines(graph, graph.edges)


@dataclass(frozen=True)
class RandomEdges(Filter):
    """Removes edges uniformly at random:

        score(u, v) ~ uniform in [0, 1), the highest first.

    The control of every comparison. Random edges as an attack: Jin, Ma, Liu, Tang, Wang, Tang: "Graph Structure
    Learning for Robust Graph Neural Networks", KDD 2020.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, seed=0)
    >>> one, other = (RandomEdges().sanitize(graph, 20, seed=seed).removed for seed in (0, 1))
    >>> len(one), (one == other).all()
    (20, np.False_)
    """

    name: ClassVar[str] = "random"
    needs_labels: ClassVar[bool] = False
    fits_bipartite: ClassVar[bool] = True

    def score_edges(self, graph: Graph, seed: int) -> EdgeScores:
        return EdgeScores(np.random.default_rng(seed).random(graph.num_edges))
