"""The contract of an attack, and what it returns."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from focusedcleaner.budget import Budget, edges_allowed
from focusedcleaner.engine import one_thread
from focusedcleaner.errors import InputError
from focusedcleaner.graph import BoolArray, Graph, IntArray
from focusedcleaner.settings import Configurable

Progress = Callable[[int, int], None]
"""Told how many flips of how many have been made."""


Flips = tuple[IntArray, IntArray, IntArray | None]
"""Inserted edges, deleted edges, and both in the order of the attack where it has one."""


@dataclass(frozen=True)
class Poisoning:
    """A poisoned graph and what was done to it."""

    clean: Graph
    added: IntArray
    """Inserted edges, A × 2, in the order of the attack."""
    removed: IntArray
    """Deleted edges, D × 2, in the order of the attack."""
    method: str
    settings: Mapping[str, Any]
    budget: int
    seed: int
    seconds: float
    flips: IntArray | None = None
    """All flips in their order, (A + D) × 2, of an attack whose first flips are those of a smaller budget."""

    @cached_property
    def graph(self) -> Graph:
        """The poisoned graph; it keeps the split that it was made for."""
        return self.clean.without_edges(self.removed).with_edges(self.added)

    def prefix(self, budget: Budget) -> Poisoning:
        """The poisoning by the first flips alone, which is what the attack does with that smaller budget.

        Raises:
            InputError: the budget is larger than this one, or the attack has no such order.
        """
        allowed = edges_allowed(budget, self.clean.num_edges, what="power")
        if self.flips is None:
            raise InputError(f"{self.method} does not flip one pair after the other: attack once for each power")
        if allowed > self.budget:
            raise InputError(f"power {budget} is {allowed:,} flips, but this attack has made {self.budget:,}")
        first = self.flips[:allowed]
        added, removed = added_and_removed(self.clean, first)
        return replace(self, added=added, removed=removed, budget=allowed, flips=first)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during an attack; what was done so far is in ``poisoning`` and in the checkpoint, if one was asked."""

    def __init__(self, poisoning: Poisoning) -> None:
        super().__init__("the attack was interrupted")
        self.poisoning = poisoning


class FlipsSoFar(KeyboardInterrupt):
    """Raised by a method that is interrupted, with the flips that it has made."""

    def __init__(self, flips: IntArray) -> None:
        super().__init__()
        self.flips = flips


class Attack(Configurable, ABC):
    """Flips edges so that a GNN trained on the graph predicts badly.

    The constructor stores settings and nothing else. A method implements `flip`.
    """

    name: ClassVar[str]
    ordered: ClassVar[bool] = False
    """Whether a smaller budget's flips are the beginning of a larger one's, and a checkpoint is kept."""

    def poison(
        self,
        graph: Graph,
        budget: Budget = 0.1,
        *,
        seed: int = 0,
        progress: Progress | None = None,
        checkpoint: Path | None = None,
    ) -> Poisoning:
        """Poison a graph with at most ``budget`` flips (a number, or a share of its edges); it is not changed itself.

        Args:
            graph: what is attacked.
            budget: how many pairs may be flipped: 500, 0.1 or "10%" of the edges.
            seed: fixes whatever is random.
            progress: called with (flips so far, budget).
            checkpoint: a file that an ordered attack saves its flips to; if it exists, the attack goes on from it.

        Raises:
            InputError: the graph or the budget can't be used.
            Interrupted: Ctrl-C during an ordered attack; carries the poisoning so far.
        """
        if graph.num_edges == 0:
            raise InputError("the graph is empty: it has no edges")
        allowed = edges_allowed(budget, graph.num_edges, what="power")
        start = time.perf_counter()
        interrupted = False
        with one_thread():
            try:
                added, removed, flips = self.run(graph, allowed, seed=seed, progress=progress, checkpoint=checkpoint)
            except FlipsSoFar as so_far:
                flips, interrupted = so_far.flips, True
                added, removed = added_and_removed(graph, flips)
        seconds = time.perf_counter() - start
        made = Poisoning(graph, added, removed, self.name, self.settings(), allowed, seed, seconds, flips)
        if interrupted:
            raise Interrupted(made)
        return made

    @abstractmethod
    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress | None) -> tuple[IntArray, IntArray]:
        """The edges to insert and the edges to delete, together at most ``budget``."""

    def run(self, graph: Graph, budget: int, *, seed: int, progress: Progress | None, checkpoint: Path | None) -> Flips:
        """The edges to insert, the edges to delete, and all flips in order where the attack has an order."""
        return (*self.flip(graph, budget, seed=seed, progress=progress), None)


def added_and_removed(graph: Graph, flips: IntArray) -> tuple[IntArray, IntArray]:
    """Flipped pairs, told apart by whether the graph has them."""
    there: BoolArray = np.isin(flips[:, 0] * graph.num_nodes + flips[:, 1], graph.edge_keys)
    return flips[~there], flips[there]
