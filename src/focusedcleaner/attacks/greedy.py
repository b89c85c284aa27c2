"""Greedy attacks: one flip after the other, with a checkpoint to resume from."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from focusedcleaner.attacks.base import Attack, FlipsSoFar, Progress
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.io.disk import Checkpoint


@dataclass(frozen=True)
class FlipLog:
    """Everything that the next flip depends on: the flips so far, and the search's state."""

    flips: list[tuple[int, int]] = field(default_factory=list)
    state: Mapping[str, Tensor] = field(default_factory=dict)

    def pairs(self) -> IntArray:
        return np.array(self.flips, dtype=np.int64).reshape(-1, 2)

    def arrays(self) -> dict[str, Any]:
        """Return the log as arrays by name, for a checkpoint."""
        return {"flips": self.pairs(), **{name: tensor.numpy() for name, tensor in self.state.items()}}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> FlipLog:
        """Restore a log from its `arrays`; empty if there are none."""
        flips = [(int(u), int(v)) for u, v in arrays.get("flips", ())]
        return cls(flips, {name: torch.from_numpy(part) for name, part in arrays.items() if name != "flips"})


class GreedySearch(Protocol):
    """The poisoned graph so far, and the choice of the next flip."""

    def next_flip(self) -> tuple[int, int] | None:
        """Flip the best pair u < v and return it; None if no pair is left."""
        ...

    def state(self) -> Mapping[str, Tensor]:
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
        log = FlipLog.of(file.load())
        try:
            search = self.search(graph, log)
            while len(log.flips) < budget and (pair := search.next_flip()) is not None:
                log = FlipLog([*log.flips, pair], search.state())  # one assignment: Ctrl-C can't leave half a log
                progress(len(log.flips), budget)
                if file.due:
                    file.save(log.arrays())
        except KeyboardInterrupt:
            if log.flips:
                file.save(log.arrays())
            raise FlipsSoFar(log.pairs()) from None
        return log.pairs()[:budget]
