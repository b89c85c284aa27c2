"""Quick settings, and a sanitizer that chooses its budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.base import Progress, Sanitizer, Selection

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
