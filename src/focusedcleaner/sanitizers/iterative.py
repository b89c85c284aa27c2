"""Base classes of the sanitizers that work in rounds, with checkpoints between them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from focusedcleaner.detectors import View, reduced_attributes
from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.io.disk import Checkpoint
from focusedcleaner.sanitizers.base import InterruptedSelection, Progress, Sanitizer, Selection, no_scores
from focusedcleaner.surrogate import InnerTraining, Surrogate

DEFAULT_ROUNDS = 80
"""Number of rounds in which the budget is spent if `edges_per_round` is not set."""

T = TypeVar("T")


@dataclass(frozen=True)
class Round:
    """The result of one round."""

    edges: list[int]
    """Removed edges, as positions in the graph's edge list."""
    scores: list[float]
    evidence: Mapping[str, list[Any]]
    """One list per kind of evidence, one entry per removed edge."""
    trace: Mapping[str, float]
    memory: Mapping[str, Tensor]
    """Tensors for the next round: warm starts, detector state."""
    added: list[list[int]] = field(default_factory=list)
    """Inserted pairs."""
    added_scores: list[float] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Number of edges changed."""
        return len(self.edges) + len(self.added)


@dataclass(frozen=True)
class Journal(Selection):
    """The edges selected in all completed rounds, and everything else that the next round depends on."""

    memory: Mapping[str, Tensor] = field(default_factory=dict)
    """`Round.memory` of the last round."""

    @property
    def rounds(self) -> int:
        """Number of completed rounds."""
        return len(self.trace.get("round", ()))

    @property
    def spent(self) -> int:
        """Number of edges changed so far."""
        return len(self.removed) + len(self.added)

    def removed_by_round(self) -> list[IntArray]:
        """Return the edges removed in each round."""
        return np.split(self.removed, self.trace.get("removed", []))[:-1]

    def added_by_round(self) -> list[IntArray]:
        """Return the pairs inserted in each round, for methods whose trace counts them."""
        return np.split(self.added, self.trace.get("added", []))[:-1]

    def memory_of(self, prefix: str) -> dict[str, Tensor]:
        """Return the memory under names with this prefix, without the prefix."""
        return _with_prefix(self.memory, prefix)

    def plus(self, done: Round) -> Journal:
        """Return a new journal with one more round. An interruption never sees half a round."""
        trace = {"round": self.rounds + 1, "removed": len(self.removed) + len(done.edges), **done.trace}
        return Journal(
            _joined(self.removed, done.edges).astype(np.int64),
            _joined(self.scores, done.scores),
            {name: _joined(self.evidence.get(name), values) for name, values in done.evidence.items()},
            {name: _joined(self.trace.get(name), [value]) for name, value in trace.items()},
            _joined(self.added, done.added).astype(np.int64).reshape(-1, 2),
            _joined(self.added_scores, done.added_scores),
            memory=done.memory,
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
            _with_prefix(arrays, "evidence."),
            _with_prefix(arrays, "trace."),
            arrays["added"],
            arrays["added_scores"],
            memory={name: torch.from_numpy(array) for name, array in _with_prefix(arrays, "memory.").items()},
        )


class Cleaning(ABC):
    """One sanitation in progress: holds the graph as it stands after the rounds so far."""

    @abstractmethod
    def replay(self, journal: Journal) -> None:
        """Apply the rounds of an earlier, interrupted run to the graph."""

    @abstractmethod
    def round(self, journal: Journal, size: int) -> Round:
        """Choose the next edges, at most ``size``, and change the graph accordingly."""


class SurrogateCleaning(Cleaning):
    """A cleaning that removes edges from the structure of a surrogate, which is retrained every round."""

    def __init__(self, graph: Graph, inner: InnerTraining, seed: int, dtype: torch.dtype = torch.float64) -> None:
        self.graph, self.seed = graph, seed
        self.surrogate = Surrogate(graph, inner=inner, dtype=dtype)
        self.structure = self.surrogate.structure
        self.reduced = reduced_attributes(graph, dtype=dtype)

    def replay(self, journal: Journal) -> None:
        # Updating the features after each round, not once at the end, reproduces them to the last digit.
        for edges in journal.removed_by_round():
            self.surrogate.features.now()
            self.structure.remove(torch.from_numpy(edges))

    def view(self, logits: Tensor, journal: Journal) -> View:
        """Return the input of a victim detector in this round."""
        return View(self.structure, logits, self.reduced, round_seed(self.seed, journal.rounds))

    def remove_first(self, order: Tensor, size: int) -> list[int]:
        """Remove the first ``size`` edges in this order whose removal isolates no node; return them."""
        degrees = self.structure.degrees.long().numpy()
        edges = without_isolating(order.numpy(), self.graph.edges, degrees, size)
        if edges:
            self.structure.remove(torch.tensor(edges))
        return edges

    def class_evidence(self, edges: list[int], probabilities: Tensor) -> dict[str, list[Any]]:
        """Return the surrogate's class probabilities at both endpoints of each edge."""
        u, v = self.structure.ends[:, edges]
        return {"classes_u": probabilities[u].tolist(), "classes_v": probabilities[v].tolist()}


class IterativeSanitizer(Sanitizer):
    """Changes a few edges, recomputes, and repeats until the budget is spent or no candidate is left.

    A round depends only on the graph, the settings, the seed and the `Journal`, so a run resumed from a checkpoint
    gives the same result.
    """

    edges_per_round: int | None = None

    def __post_init__(self) -> None:
        if self.edges_per_round is not None and self.edges_per_round < 1:
            raise InputError(f"edges_per_round must be 1 or above, not {self.edges_per_round}")

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
                done = cleaning.round(journal, min(per_round, budget - journal.spent))
                if not done.size:
                    break
                journal = journal.plus(done)
                if progress is not None:
                    progress(journal.spent, budget)
                if saved.due:
                    saved.save(journal.arrays())
        except KeyboardInterrupt:
            if journal.rounds:
                saved.save(journal.arrays())
            raise InterruptedSelection(journal) from None
        return journal


def round_seed(seed: int, rounds: int) -> int:
    """Return a seed for the round that follows ``rounds`` others."""
    return int(np.random.SeedSequence([seed, rounds]).generate_state(1)[0])


def _with_prefix(named: Mapping[str, T], prefix: str) -> dict[str, T]:
    return {name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)}


def _joined(old: NDArray[Any] | None, new: Sequence[Any]) -> NDArray[Any]:
    if old is None or not len(old):
        return np.array(new)
    return np.concatenate([old, np.array(new)]) if len(new) else old
