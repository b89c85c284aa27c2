"""Base classes of the sanitizers that work in rounds, with checkpoints between them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from focusedcleaner.detectors.base import with_prefix
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.io.disk import Checkpoint
from focusedcleaner.sanitizers.base import Progress, Sanitizer, Selection, no_scores

DEFAULT_ROUNDS = 80
"""Number of rounds in which the budget is spent if `edges_per_round` is not set."""


@dataclass(frozen=True)
class Journal(Selection):
    """The edges selected in all completed rounds, and everything else that the next round depends on."""

    memory: Mapping[str, Tensor] = field(default_factory=dict)
    """Tensors for the next round: warm starts, detector state."""

    @property
    def rounds(self) -> int:
        """Number of completed rounds."""
        return len(self.trace.get("round", ()))

    @property
    def spent(self) -> int:
        """Number of edges changed so far."""
        return len(self.removed) + len(self.added)

    def by_round(self, name: str) -> list[IntArray]:
        """Return the edges ``removed`` or, for methods whose trace counts them, the pairs ``added`` in each round."""
        return np.split(getattr(self, name), self.trace.get(name, []))[:-1]

    def plus(
        self,
        edges: list[int],
        scores: Sequence[float] | FloatArray,
        evidence: Mapping[str, list[Any] | NDArray[Any]],
        trace: Mapping[str, float],
        memory: Mapping[str, Tensor],
        added: Sequence[list[int]] = (),
        added_scores: Sequence[float] = (),
    ) -> Journal:
        """Return a new journal with one more round, so that an interruption never sees half a round.

        ``scores`` and each kind of evidence have one entry per removed edge, ``trace`` has one value per quantity.
        """
        trace = {"round": self.rounds + 1, "removed": len(self.removed) + len(edges), **trace}
        return Journal(
            _joined(self.removed, edges).astype(np.int64),
            _joined(self.scores, scores),
            {name: _joined(self.evidence.get(name), values) for name, values in evidence.items()},
            {name: _joined(self.trace.get(name), [value]) for name, value in trace.items()},
            _joined(self.added, added).astype(np.int64).reshape(-1, 2),
            _joined(self.added_scores, added_scores),
            memory=memory,
        )

    def arrays(self) -> dict[str, Any]:
        """Return the journal as named arrays, for a checkpoint."""
        return {
            **{name: getattr(self, name) for name in ("removed", "scores", "added", "added_scores")},
            **{f"evidence.{name}": column for name, column in self.evidence.items()},
            **{f"trace.{name}": column for name, column in self.trace.items()},
            **{f"memory.{name}": tensor.numpy() for name, tensor in self.memory.items()},
        }

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Journal:
        """Restore a journal from `arrays`; an empty mapping gives an empty journal."""
        if not arrays:
            return cls(np.empty(0, dtype=np.int64), no_scores())
        return cls(
            arrays["removed"],
            arrays["scores"],
            with_prefix(arrays, "evidence."),
            with_prefix(arrays, "trace."),
            arrays["added"],
            arrays["added_scores"],
            memory={name: torch.from_numpy(array) for name, array in with_prefix(arrays, "memory.").items()},
        )


class Cleaning(ABC):
    """One sanitation in progress: holds the graph as it stands after the rounds so far."""

    def __init__(self, cleaner: Any, graph: Graph, budget: int, seed: int) -> None:
        self.cleaner, self.graph, self.budget, self.seed = cleaner, graph, budget, seed

    @property
    def shortfall(self) -> str:
        """Why the last round has changed no edge."""
        return "every other edge is some node's last one"

    @abstractmethod
    def replay(self, journal: Journal) -> None:
        """Apply the rounds of an earlier, interrupted run to the graph."""

    @abstractmethod
    def round(self, journal: Journal, size: int) -> Journal:
        """Change at most ``size`` edges of the graph; return the journal with this round."""


class IterativeSanitizer(Sanitizer):
    """Changes a few edges, recomputes, and repeats until the budget is spent or no candidate is left.

    A round depends only on the graph, the settings, the seed and the `Journal`, so a run resumed from a checkpoint
    gives the same result.
    """

    edges_per_round: int | None = None

    @abstractmethod
    def begin(self, graph: Graph, budget: int, seed: int) -> Cleaning:
        """Start a cleaning of the graph."""

    def per_round(self, budget: int) -> int:
        """Return the number of edges changed per round."""
        return self.edges_per_round or math.ceil(budget / DEFAULT_ROUNDS)

    def select_edges(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Selection:
        assert budget is not None
        saved = Checkpoint(checkpoint, graph=graph.fingerprint(), budget=budget, seed=seed, settings=self.settings())
        journal = Journal.of(saved.load())
        per_round = self.per_round(budget)
        try:
            cleaning = self.begin(graph, budget, seed)
            cleaning.replay(journal)
            while journal.spent < budget:
                longer = cleaning.round(journal, min(per_round, budget - journal.spent))
                if longer.spent == journal.spent:
                    journal = replace(journal, shortfall=cleaning.shortfall)
                    break
                journal = longer
                if progress is not None:
                    progress(journal.spent, budget)
                if saved.due:
                    saved.save(journal.arrays())
        except KeyboardInterrupt:
            if journal.rounds:
                saved.save(journal.arrays())
            return replace(journal, interrupted=True)
        except InputError:  # such as a cluster that is gone: what has been done can be resumed
            if journal.rounds:
                saved.save(journal.arrays())
            raise
        return journal


def round_seed(seed: int, rounds: int) -> int:
    """Return a seed for the round that follows ``rounds`` others."""
    return int(np.random.SeedSequence([seed, rounds]).generate_state(1)[0])


def _joined(old: NDArray[Any] | None, new: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    if old is None or not len(old):
        return np.array(new)
    return np.concatenate([old, np.array(new)]) if len(new) else old
