"""A method that only ranks, as the default where nothing can tell whether a graph was attacked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.base import Progress, Sanitizer, Selection, no_scores
from focusedcleaner.verdict import Verdict


@dataclass(frozen=True)
class RankingOnly(Sanitizer):
    """Runs another method; without a budget, it lists the edges that the method would remove and removes none.

    Args:
        method: the method, which can't choose its budget.
        reason: why its edges are only listed, for the verdict "uncertain".
    """

    method: Sanitizer
    reason: str

    @property
    def name(self) -> str:  # type: ignore[override]  # of an object, not of the class
        return self.method.name

    @property
    def needs_labels(self) -> bool:  # type: ignore[override]
        return self.method.needs_labels

    @property
    def scores_edges(self) -> bool:  # type: ignore[override]
        return self.method.scores_edges

    @property
    def probabilistic(self) -> bool:  # type: ignore[override]
        return self.method.probabilistic

    @property
    def chooses_budget(self) -> bool:
        return True

    def settings(self) -> dict[str, Any]:
        return self.method.settings()

    def select_edges(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Selection:
        allowed = self.method.allowed(graph, None) if budget is None else budget
        found = self.method.select_edges(graph, allowed, seed=seed, progress=progress, checkpoint=checkpoint)
        if budget is not None:
            return found
        return Selection(
            np.empty(0, dtype=np.int64),
            no_scores(),
            trace={name: column for name, column in found.trace.items() if name != "removed"},
            interrupted=found.interrupted,
            shortfall="" if len(found.removed) else found.shortfall,
            verdict=Verdict("uncertain", self.reason),
            suspects=found.removed,
            suspect_scores=found.scores,
            suspect_evidence=found.evidence,
            edge_scores=found.edge_scores,
            probabilistic=found.probabilistic,
        )
