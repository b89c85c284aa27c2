"""What a run has found so far: a value that each round adds to, and that a checkpoint holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from focusedcleaner.sanitizers.base import Columns, Findings


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

    def arrays(self) -> dict[str, Any]:
        """The journal as arrays by name."""
        found = self.findings()
        return {
            "removed": found.removed,
            "scores": found.scores,
            **{f"evidence.{name}": column for name, column in found.evidence.items()},
            **{f"trace.{name}": column for name, column in found.trace.items()},
            **{f"memory.{name}": tensor.cpu().numpy() for name, tensor in self.memory.items()},
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Journal:
        """The journal that `arrays` was made of; an empty one of none."""

        def part(prefix: str) -> dict[str, NDArray[Any]]:
            return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

        return cls(
            arrays["removed"].tolist() if arrays else [],
            arrays["scores"].tolist() if arrays else [],
            {name: list(array) for name, array in part("evidence.").items()},
            {name: list(array) for name, array in part("trace.").items()},
            {name: torch.from_numpy(array) for name, array in part("memory.").items()},
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
