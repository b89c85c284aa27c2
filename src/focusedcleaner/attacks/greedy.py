"""Attacks that flip one pair after the other, and how they survive an interruption."""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.attacks.base import Attack, FlipsSoFar, Progress, added_and_removed
from focusedcleaner.errors import InputError
from focusedcleaner.files.disk import write_files
from focusedcleaner.graph import Graph, IntArray

SAVE_EVERY = 20.0
"""Seconds between two checkpoints of an undisturbed attack."""


@dataclass
class FlipLog:
    """An attack after a whole number of flips: everything that the next flip depends on."""

    flips: list[tuple[int, int]] = field(default_factory=list)
    memory: Mapping[str, Tensor] = field(default_factory=dict)
    """Tensors that the method hands from flip to flip."""

    def array(self) -> IntArray:
        return np.array(self.flips, dtype=np.int64).reshape(-1, 2)


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
        flips = self.flip_in_order(graph, budget, seed=seed, progress=progress, checkpoint=None)
        return added_and_removed(graph, flips)

    def flip_in_order(
        self, graph: Graph, budget: int, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> IntArray:
        keeper = Checkpoint(checkpoint, graph=graph, seed=seed, settings=self.settings())
        log = keeper.load()
        try:
            under_way = self.begin(graph, seed, log)
            while len(log.flips) < budget:
                step = under_way.next()
                if step is None:
                    break
                log.flips.append(step.pair)
                log.memory = step.memory
                if progress is not None:
                    progress(len(log.flips), budget)
                keeper.save_now_and_then(log)
        except KeyboardInterrupt:
            keeper.save(log)
            raise FlipsSoFar(log.array()) from None
        return log.array()[:budget]


class Checkpoint:
    """A file that holds a `FlipLog`; it goes on only with the graph, seed and settings that it was made by."""

    def __init__(self, path: Path | None, *, graph: Graph, seed: int, settings: Mapping[str, Any]) -> None:
        self.path = path
        run = {"graph": graph.fingerprint(), "seed": seed, "settings": settings}
        self.key = hashlib.sha256(json.dumps(run, sort_keys=True).encode()).hexdigest()
        self.saved = time.monotonic()

    def load(self) -> FlipLog:
        """The log in the file, or an empty one where there is no file."""
        if self.path is None or not self.path.exists():
            return FlipLog()
        try:
            with np.load(self.path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
            raise InputError(f"{self.path} is no checkpoint that can be read: {error}") from None
        if str(arrays.pop("key", "")) != self.key:
            raise InputError(f"{self.path} belongs to another graph, method or seed: resume with the same ones")
        flips = [(int(u), int(v)) for u, v in arrays.pop("flips")]
        return FlipLog(flips, {name: torch.from_numpy(array) for name, array in arrays.items()})

    def save(self, log: FlipLog) -> None:
        """Write the log, whole or not at all."""
        self.saved = time.monotonic()
        if self.path is None or not log.flips:
            return
        memory = {name: tensor.numpy() for name, tensor in log.memory.items()}
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, key=np.array(self.key), flips=log.array(), **memory)
        write_files({self.path: buffer.getvalue()})

    def save_now_and_then(self, log: FlipLog) -> None:
        """Write the log if the last time was a while ago."""
        if time.monotonic() - self.saved > SAVE_EVERY:
            self.save(log)
