"""The contract of an attack, and what it returns."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from focusedcleaner.budget import Budget, edges_allowed
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.surrogate import one_thread

Progress = Callable[[int, int], None]
"""Told how many flips of how many have been made."""


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

    @cached_property
    def graph(self) -> Graph:
        """The poisoned graph; it keeps the split that it was made for."""
        return self.clean.without_edges(self.removed).with_edges(self.added)


class Attack(ABC):
    """Flips edges so that a GNN trained on the graph predicts badly.

    The constructor stores settings and nothing else. A method implements `flip`.
    """

    name: ClassVar[str]

    def poison(
        self, graph: Graph, budget: Budget = 0.1, *, seed: int = 0, progress: Progress | None = None
    ) -> Poisoning:
        """Poison a graph with at most ``budget`` flips (a number, or a share of its edges); it is not changed itself.

        Raises:
            InputError: the graph or the budget can't be used.
        """
        if graph.num_edges == 0:
            raise InputError("the graph is empty: it has no edges")
        allowed = edges_allowed(budget, graph.num_edges, what="power")
        start = time.perf_counter()
        with one_thread():
            added, removed = self.flip(graph, allowed, seed=seed, progress=progress)
        return Poisoning(graph, added, removed, self.name, self.settings(), allowed, seed, time.perf_counter() - start)

    @abstractmethod
    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress | None) -> tuple[IntArray, IntArray]:
        """The edges to insert and the edges to delete, together at most ``budget``."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Every setting, in values that JSON knows."""
