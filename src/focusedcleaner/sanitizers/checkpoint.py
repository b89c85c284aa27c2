"""What a run has found so far, and how it survives an interruption."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from focusedcleaner.errors import InputError
from focusedcleaner.files.archive import Archive, packed
from focusedcleaner.files.disk import naming, write_files
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.base import Columns, Findings

SAVE_EVERY = 20.0
"""Seconds between two checkpoints of an undisturbed run."""


@dataclass(frozen=True)
class Round:
    """What one round adds to the journal."""

    edges: list[int]
    scores: list[float]
    evidence: Mapping[str, list[Any]]
    """A list per kind of evidence, as long as ``edges``."""
    trace: Mapping[str, float]
    memory: Mapping[str, Tensor]
    """Tensors for the next round."""


@dataclass(frozen=True)
class Journal:
    """A run after a whole number of rounds: everything that the next round depends on."""

    removed: Sequence[int] = ()
    scores: Sequence[float] = ()
    evidence: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    trace: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    memory: Mapping[str, Tensor] = field(default_factory=dict)
    """Tensors that the method hands from round to round."""

    @property
    def rounds(self) -> int:
        return len(next(iter(self.trace.values()), []))

    def edges_by_round(self) -> Iterator[Sequence[int]]:
        """The edges that each round removed."""
        start = 0
        for end in self.trace.get("removed", ()):
            yield self.removed[start:end]
            start = end

    def plus(self, done: Round) -> Journal:
        """The journal with one more round; this one stays as it is, so that an interruption never sees half a round."""
        trace = {"round": self.rounds + 1, "removed": len(self.removed) + len(done.edges), **done.trace}
        return Journal(
            [*self.removed, *done.edges],
            [*self.scores, *done.scores],
            {name: [*self.evidence.get(name, ()), *values] for name, values in done.evidence.items()},
            {name: [*self.trace.get(name, ()), value] for name, value in trace.items()},
            done.memory,
        )

    def findings(self) -> Findings:
        return Findings(
            np.array(self.removed, dtype=np.int64),
            np.array(self.scores, dtype=np.float64),
            _columns(self.evidence),
            _columns(self.trace),
        )


def _columns(lists: Mapping[str, Iterable[Any]]) -> Columns:
    return {key: np.array(values) for key, values in lists.items()}


class Checkpoint:
    """A file that holds a `Journal`; it goes on only with the run that it was made by."""

    def __init__(self, path: Path | None, *, graph: Graph, budget: int, seed: int, settings: Mapping[str, Any]) -> None:
        self.path = path
        run = {"graph": graph.fingerprint(), "budget": budget, "seed": seed, "settings": settings}
        self.key = hashlib.sha256(json.dumps(run, sort_keys=True).encode()).hexdigest()
        self.saved = time.monotonic()

    def load(self) -> Journal:
        """The journal in the file, or an empty one where there is no file."""
        if self.path is None or not self.path.exists():
            return Journal()
        with naming(self.path), Archive(self.path) as file:
            arrays = {name: file.read(name) for name in file.names}
        if str(arrays.pop("key", "")) != self.key:
            raise InputError(f"{self.path} belongs to another graph, method, budget or seed: resume with the same")

        def part(prefix: str) -> dict[str, NDArray[Any]]:
            return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

        return Journal(
            arrays["removed"].tolist(),
            arrays["scores"].tolist(),
            {name: list(array) for name, array in part("evidence.").items()},
            {name: list(array) for name, array in part("trace.").items()},
            {name: torch.from_numpy(array) for name, array in part("memory.").items()},
        )

    def save(self, journal: Journal) -> None:
        """Write the journal, whole or not at all."""
        self.saved = time.monotonic()
        if self.path is None or not journal.rounds:
            return
        found = journal.findings()
        arrays: dict[str, Any] = {"key": self.key, "removed": found.removed, "scores": found.scores}
        arrays |= {f"evidence.{name}": column for name, column in found.evidence.items()}
        arrays |= {f"trace.{name}": column for name, column in found.trace.items()}
        arrays |= {f"memory.{name}": tensor.cpu().numpy() for name, tensor in journal.memory.items()}
        write_files({self.path: packed({name: np.asarray(array) for name, array in arrays.items()})})

    def save_now_and_then(self, journal: Journal) -> None:
        """Write the journal if the last time was a while ago."""
        if time.monotonic() - self.saved > SAVE_EVERY:
            self.save(journal)
