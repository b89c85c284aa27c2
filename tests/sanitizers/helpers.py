"""Quick settings, a sanitizer that chooses its budget, and one that gives any verdict."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.base import Progress, Sanitizer, Selection
from focusedcleaner.verdict import Estimate, Status, Verdict

QUICK: dict[str, dict[str, Any]] = {
    "cld": {"first_epochs": 5, "epochs": 1},
    "lp": {"first_epochs": 5, "epochs": 1},
    "linkpred": {"first_epochs": 5, "epochs": 1},
    "maskgvae": {"partition_epochs": 3, "autoencoder_epochs": 3, "rounds": 2},
    "gasoline": {"folds": 2},
    "gasoline-d": {"folds": 2},
    "focused-ensemble": {"edges_per_round": 20},
    "focused-self-attack": {"edges_per_round": 20, "rounds": 1, "trees": 3, "attackers": "dice"},
    "self-attack": {"rounds": 1, "trees": 3, "attackers": "dice,random"},
}
"""Settings with which each method takes a fraction of a second."""


class Chooser(Sanitizer):
    """Selects the first seven edges; with ``interrupted``, as if Ctrl-C had been pressed."""

    name: ClassVar[str] = "chooser"

    def __init__(self, *, interrupted: bool = False) -> None:
        self.interrupted = interrupted

    @property
    def chooses_budget(self) -> bool:
        return True

    def settings(self) -> dict[str, Any]:
        return {}

    def select_edges(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Selection:
        assert budget is None
        return Selection(np.arange(7), np.ones(7), interrupted=self.interrupted)


FOUND = 8
"""Edges that `Judge` finds."""


@dataclass(frozen=True)
class Judge(Sanitizer):
    """Gives the verdict that it is told, with eight edges: removed if the graph is poisoned, else listed."""

    name: ClassVar[str] = "judge"
    scores_edges: ClassVar[bool] = True
    probabilistic: ClassVar[bool] = True
    status: Status = "poisoned"
    purpose: Literal["model", "evidence"] = "model"

    @property
    def chooses_budget(self) -> bool:
        return True

    def select_edges(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Selection:
        order = np.array(without_isolating(np.arange(graph.num_edges), graph.edges, graph.degrees, 2 * FOUND))
        scores = np.linspace(0.95, 0.05, 2 * FOUND)
        removed = np.arange(2 * FOUND) < ((FOUND if self.status == "poisoned" else 0) if budget is None else budget)
        every = np.full(graph.num_edges, 0.01)
        every[order] = scores
        if progress is not None:
            progress(1, 2, "round 1 of 2: random")
            progress(2, 2, "round 2 of 2: random, PGD")
        return Selection(
            order[removed],
            scores[removed],
            {"planted": scores[removed]},
            estimate=Estimate(8.4, 6, 12) if self.status == "poisoned" else None,
            verdict=Verdict(self.status, "a clean graph like this one would get 3 flags, this one got 8", 0.75, 3.2),
            suspects=order,
            suspect_scores=scores,
            suspect_evidence={"planted": scores},
            edge_scores=every,
            probabilistic=True,
        )
