"""Sanitizers that look at the graph once and give every edge a score."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from focusedcleaner.choice import by_suspicion, without_isolating
from focusedcleaner.graph import FloatArray, Graph
from focusedcleaner.sanitizers.base import Columns, Findings, Progress, Sanitizer
from focusedcleaner.settings import as_json


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

    def settings(self) -> dict[str, Any]:
        return dict(as_json(self))

    def find(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Findings:
        found = self.suspicion(graph, seed)
        order = by_suspicion(found.scores, seed)
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
