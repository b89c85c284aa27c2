"""Sanitizers that look at the graph once and give every edge a score."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from focusedcleaner.edge_features.edge_selection import rank_by_score, without_isolating
from focusedcleaner.graph import FloatArray, Graph
from focusedcleaner.registry import EdgeScorer
from focusedcleaner.sanitizers.base import Columns, Findings, Progress, Sanitizer


@dataclass(frozen=True)
class Suspicion:
    """What a filter makes of every edge."""

    scores: FloatArray
    """E values: the higher, the earlier an edge goes."""
    evidence: Columns = field(default_factory=dict)
    """A column per kind of evidence, a row per edge."""


class Filter(Sanitizer):
    """Removes the edges of highest score, those of equal score in an order that the seed decides.

    An edge whose removal would isolate a node stays. A filter takes a second, not hours: interrupted, it has nothing.
    """

    @abstractmethod
    def suspicion(self, graph: Graph, seed: int) -> Suspicion:
        """Judge every edge of the graph."""

    @property
    def least_score(self) -> float | None:
        """The score from which on an edge has to go, for a filter that chooses its budget."""
        return None

    @property
    def chooses_budget(self) -> bool:
        return self.least_score is not None

    def edge_scorer(self, graph: Graph, *, seed: int = 0) -> EdgeScorer:
        """Each edge's suspicion as its rank among the graph's edges, from 0 (least) to 1 (most suspicious)."""
        del graph

        def score(trial: Graph) -> FloatArray:
            ranks = np.argsort(rank_by_score(self.suspicion(trial, seed).scores, seed))
            return 1 - ranks / max(trial.num_edges - 1, 1)

        return score

    def find(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Findings:
        found = self.suspicion(graph, seed)
        order = rank_by_score(found.scores, seed)
        if self.least_score is not None:
            order = order[found.scores[order] >= self.least_score]
        size = len(order) if budget is None else budget
        removed = np.array(without_isolating(order, graph.edges, graph.degrees, size), dtype=np.int64)
        if progress is not None:
            progress(len(removed), len(removed))
        return Findings(
            removed,
            found.scores[removed],
            {name: column[removed] for name, column in found.evidence.items()},
            {"round": np.array([1]), "removed": np.array([len(removed)])},
        )
