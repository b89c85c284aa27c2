"""Greedy attacks: one flip after the other, with a checkpoint to resume from."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.attacks.base import Attack, FlipsSoFar, Progress
from focusedcleaner.graph import Graph, IntArray, no_pairs
from focusedcleaner.io.checkpoint import Checkpoint

FlipLog = Mapping[str, NDArray[Any]]
"""Everything that the next flip depends on: ``flips`` so far (F × 2), and the search's state by name."""


class GreedySearch(Protocol):
    """The poisoned graph so far, and the choice of the next flip."""

    def next_flip(self) -> tuple[int, int] | None:
        """Flip the best pair u < v and return it; None if no pair is left."""
        ...

    def state(self) -> FlipLog:
        """Return what a resumed search needs beside the flips."""
        ...


class GreedyAttack(Attack):
    """An attack that ignores its budget until it is spent: a smaller budget gives the first flips of a larger one."""

    ordered = True

    @abstractmethod
    def search(self, graph: Graph, log: FlipLog) -> GreedySearch:
        """Start on a graph, after the flips in the log."""

    def flip(
        self, graph: Graph, budget: int, *, seed: int, progress: Progress, checkpoint: Path | None = None
    ) -> IntArray:
        file = Checkpoint(checkpoint, graph=graph.fingerprint(), seed=seed, settings=self.settings())
        log: FlipLog = file.load() or {"flips": no_pairs()}
        try:
            search = self.search(graph, log)
            while len(log["flips"]) < budget and (pair := search.next_flip()) is not None:
                # One assignment: Ctrl-C can't leave half a log.
                log = {"flips": np.concatenate([log["flips"], [pair]]), **search.state()}
                progress(len(log["flips"]), budget)
                if file.due:
                    file.save(log)
        except KeyboardInterrupt:
            if len(log["flips"]):
                file.save(log)
            raise FlipsSoFar(log["flips"]) from None
        return log["flips"][:budget]
