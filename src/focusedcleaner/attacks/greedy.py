"""Attacks that flip one pair after the other, and how they survive an interruption."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from focusedcleaner.attacks.base import Attack, Flips, FlipsSoFar, Progress, added_and_removed
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.io.checkpoint import Checkpoint


@dataclass(frozen=True)
class FlipLog:
    """An attack after a whole number of flips: everything that the next flip depends on."""

    flips: list[tuple[int, int]] = field(default_factory=list)
    memory: Mapping[str, Tensor] = field(default_factory=dict)
    """Tensors that the method hands from flip to flip."""

    def pairs(self) -> IntArray:
        return np.array(self.flips, dtype=np.int64).reshape(-1, 2)

    def arrays(self) -> dict[str, Any]:
        """The log as arrays by name."""
        return {"flips": self.pairs(), **{name: tensor.numpy() for name, tensor in self.memory.items()}}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> FlipLog:
        """The log that `arrays` was made of; an empty one of none."""
        flips = [(int(u), int(v)) for u, v in arrays.get("flips", ())]
        return cls(flips, {name: torch.from_numpy(part) for name, part in arrays.items() if name != "flips"})


@dataclass(frozen=True)
class Flip:
    """What one step adds to the log: a pair u < v, and tensors for the next step."""

    pair: tuple[int, int]
    memory: Mapping[str, Tensor]


class UnderWay(Protocol):
    """An attack at work on one graph."""

    def next(self) -> Flip | None:
        """Choose the next pair and flip it; None where no pair is left."""
        ...


class GreedyAttack(Attack):
    """An attack that never looks at its budget: a smaller budget's flips are the beginning of a larger one's."""

    ordered: ClassVar[bool] = True

    @abstractmethod
    def begin(self, graph: Graph, seed: int, log: FlipLog) -> UnderWay:
        """Start on a graph, or go on after the flips in the log."""

    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress | None) -> tuple[IntArray, IntArray]:
        return added_and_removed(graph, self._in_order(graph, budget, seed, progress, None))

    def run(self, graph: Graph, budget: int, *, seed: int, progress: Progress | None, checkpoint: Path | None) -> Flips:
        flips = self._in_order(graph, budget, seed, progress, checkpoint)
        return (*added_and_removed(graph, flips), flips)

    def _in_order(
        self, graph: Graph, budget: int, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> IntArray:
        keeper = Checkpoint(checkpoint, graph=graph.fingerprint(), seed=seed, settings=self.settings())
        log = FlipLog.of(keeper.load())
        try:
            under_way = self.begin(graph, seed, log)
            while len(log.flips) < budget:
                step = under_way.next()
                if step is None:
                    break
                log = FlipLog([*log.flips, step.pair], step.memory)  # one assignment: Ctrl-C leaves no half of it
                if progress is not None:
                    progress(len(log.flips), budget)
                if keeper.due:
                    keeper.save(log.arrays())
        except KeyboardInterrupt:
            if log.flips:
                keeper.save(log.arrays())
            raise FlipsSoFar(log.pairs()) from None
        return log.pairs()[:budget]
