"""What a run has found so far: a value that each round adds to, and that a checkpoint holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from focusedcleaner.sanitizers.base import Columns, Findings

T = TypeVar("T")


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
    added: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of nodes that got an edge."""
    added_scores: list[float] = field(default_factory=list)

    @property
    def size(self) -> int:
        """What the round took from the budget."""
        return len(self.edges) + len(self.added)


@dataclass(frozen=True)
class Journal:
    """A run after a whole number of rounds: everything that the next round depends on."""

    removed: Sequence[int] = ()
    scores: Sequence[float] = ()
    evidence: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    trace: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    memory: Mapping[str, Tensor] = field(default_factory=dict)
    """Tensors that the method hands from round to round."""
    added: Sequence[tuple[int, int]] = ()
    added_scores: Sequence[float] = ()

    @property
    def rounds(self) -> int:
        return len(next(iter(self.trace.values()), []))

    @property
    def spent(self) -> int:
        """How much of the budget is used up."""
        return len(self.removed) + len(self.added)

    def edges_by_round(self) -> Iterator[Sequence[int]]:
        """The edges that each round removed."""
        return _cut(self.removed, self.trace.get("removed", ()))

    def added_by_round(self) -> Iterator[Sequence[tuple[int, int]]]:
        """The pairs that each round connected; none where the trace does not count them."""
        return _cut(self.added, self.trace.get("added", ()))

    def part(self, prefix: str) -> dict[str, Tensor]:
        """What of the memory is under names that begin so, without that beginning."""
        return _part(self.memory, prefix)

    def plus(self, done: Round) -> Journal:
        """The journal with one more round; this one stays as it is, so that an interruption never sees half a round."""
        trace = {"round": self.rounds + 1, "removed": len(self.removed) + len(done.edges), **done.trace}
        return Journal(
            [*self.removed, *done.edges],
            [*self.scores, *done.scores],
            {name: [*self.evidence.get(name, ()), *values] for name, values in done.evidence.items()},
            {name: [*self.trace.get(name, ()), value] for name, value in trace.items()},
            done.memory,
            [*self.added, *done.added],
            [*self.added_scores, *done.added_scores],
        )

    def arrays(self) -> dict[str, Any]:
        """The journal as arrays by name."""
        found = self.findings()
        return {
            "removed": found.removed,
            "scores": found.scores,
            "added": found.added,
            "added_scores": found.added_scores,
            **{f"evidence.{name}": column for name, column in found.evidence.items()},
            **{f"trace.{name}": column for name, column in found.trace.items()},
            **{f"memory.{name}": tensor.cpu().numpy() for name, tensor in self.memory.items()},
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Journal:
        """The journal that `arrays` was made of; an empty one of none."""
        if not arrays:
            return cls()
        return cls(
            arrays["removed"].tolist(),
            arrays["scores"].tolist(),
            {name: list(array) for name, array in _part(arrays, "evidence.").items()},
            {name: list(array) for name, array in _part(arrays, "trace.").items()},
            {name: torch.from_numpy(array) for name, array in _part(arrays, "memory.").items()},
            [(int(u), int(v)) for u, v in arrays["added"]],
            arrays["added_scores"].tolist(),
        )

    def findings(self) -> Findings:
        return Findings(
            np.array(self.removed, dtype=np.int64),
            np.array(self.scores, dtype=np.float64),
            _columns(self.evidence),
            _columns(self.trace),
            np.array(self.added, dtype=np.int64).reshape(-1, 2),
            np.array(self.added_scores, dtype=np.float64),
        )


def _part(named: Mapping[str, T], prefix: str) -> dict[str, T]:
    return {name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)}


def _cut(values: Sequence[T], ends: Iterable[int]) -> Iterator[Sequence[T]]:
    """A sequence in the pieces that end where ``ends`` says."""
    start = 0
    for end in ends:
        yield values[start:end]
        start = end


def _columns(lists: Mapping[str, Iterable[Any]]) -> Columns:
    return {key: np.array(values) for key, values in lists.items()}
