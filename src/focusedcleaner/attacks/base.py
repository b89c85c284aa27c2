"""The contracts of an attack and of a greedy one, and the result."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.budget import Budget, edges_allowed
from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.engine import one_thread
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray, no_pairs
from focusedcleaner.io.convert import as_graph
from focusedcleaner.io.disk import Checkpoint
from focusedcleaner.node_order import NodeOrder
from focusedcleaner.registry import Progress as Progress
from focusedcleaner.settings import Configurable

Needs = Literal["edges", "labels", "split"]
ALL_PAIRS = 30_000
"""Number of nodes up to which an attack can score all pairs at every step."""
FlipLog = Mapping[str, NDArray[Any]]
"""Everything that the next flip depends on: ``flips`` so far (F × 2), and the search's state by name."""


@dataclass(frozen=True)
class Poisoning:
    """A poisoned graph and the attack that made it.

    >>> from focusedcleaner import attack, datasets
    >>> poisoning = attack("random").poison(datasets.synthetic(200), "5%")
    >>> poisoning.graph.num_edges, len(poisoning.added), len(poisoning.removed)
    (420, 20, 0)
    """

    clean: Graph
    """The graph before the attack."""
    added: IntArray
    """Inserted edges, A × 2, in the order of the attack."""
    removed: IntArray
    """Deleted edges, D × 2, in the order of the attack."""
    method: str
    """The name of the attack."""
    settings: Mapping[str, Any]
    """Its settings."""
    budget: int
    """The number of pairs that it was allowed to flip."""
    seed: int
    """The seed of its random numbers."""
    seconds: float
    """The time that it took."""
    flips: IntArray | None = None
    """All flips in order, (A + D) × 2; None for an attack whose flips have no order."""

    @cached_property
    def graph(self) -> Graph:
        """The poisoned graph, with the split of the clean one."""
        return self.clean.without_edges(self.removed).with_edges(self.added)

    def prefix(self, budget: Budget) -> Poisoning:
        """Return the poisoning by the first flips alone: the result of the attack with this smaller budget."""
        allowed = edges_allowed(budget, self.clean.num_edges, what="power")
        if self.flips is None:
            raise InputError(f"{self.method} does not flip one pair after the other: attack once for each power")
        if allowed > self.budget:
            raise InputError(f"power {budget} is {allowed:,} flips, but this attack has made {self.budget:,}")
        first = self.flips[:allowed]
        added, removed = added_and_removed(self.clean, first)
        return replace(self, added=added, removed=removed, budget=allowed, flips=first)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during an attack; ``poisoning`` holds the flips so far, and so does the checkpoint, if there is one."""

    def __init__(self, poisoning: Poisoning) -> None:
        super().__init__("the attack was interrupted")
        self.poisoning = poisoning


class FlipsSoFar(KeyboardInterrupt):
    """Raised by the `flip` of an interrupted attack, with the flips that it has made."""

    def __init__(self, flips: IntArray) -> None:
        super().__init__()
        self.flips = flips


class Attack(Configurable, ABC):
    """Flips edges so that a GNN trained on the graph predicts badly.

    The constructor only stores settings. A method implements `flip`.

    >>> from focusedcleaner import attack, datasets
    >>> dice = attack("dice")
    >>> isinstance(dice, Attack), dice.name
    (True, 'dice')
    """

    name: ClassVar[str]
    """The name by which `focusedcleaner.attack` finds the method."""
    ordered: ClassVar[bool] = False
    """Whether the flips of a smaller budget are the first flips of a larger one, and `flip` takes a ``checkpoint``."""
    needs: ClassVar[Needs] = "split"
    """Checked before the attack: only edges, also labels, or also a split whose training nodes have labels."""
    max_nodes: ClassVar[int | None] = None
    """Size up to which the attack is feasible."""

    def poison(
        self,
        graph: Any,
        budget: Budget = 0.1,
        *,
        seed: int = 0,
        progress: Progress | None = None,
        checkpoint: Path | None = None,
    ) -> Poisoning:
        """Poison a graph with at most ``budget`` flips; the input is not changed.

        Args:
            graph: a `Graph`, PyG `Data`, NetworkX graph or scipy adjacency.
            budget: the number of pairs that may be flipped: 500, 0.1 or "10%" of the edges.
            seed: seed of the random numbers.
            progress: called with (flips so far, budget) or (flips so far, budget, what is being done).
            checkpoint: file in which an ordered attack saves its flips; the attack resumes from it if it exists.

        Raises:
            InputError: the graph or the budget can't be used.
            Interrupted: Ctrl-C during an ordered attack; carries the poisoning so far.
        """
        clean = as_graph(graph)
        if clean.num_edges == 0:
            raise InputError("the graph is empty: it has no edges")
        allowed = edges_allowed(budget, clean.num_edges, what="power")
        self.check(clean)
        resume = {"checkpoint": checkpoint} if self.ordered else {}
        start, interrupted = time.perf_counter(), False
        try:
            with one_thread():
                ordered, renumbered = clean.in_canonical_order(), self.renumbered(clean.canonical_order)
                flips = renumbered.flip(ordered, allowed, seed=seed, progress=progress or _unreported, **resume)
        except FlipsSoFar as so_far:
            flips, interrupted = so_far.flips, True
        flips, _ = clean.canonical_order.pairs_back(flips, {})
        seconds = time.perf_counter() - start
        added, removed = added_and_removed(clean, flips)
        order = flips if self.ordered else None
        poisoning = Poisoning(clean, added, removed, self.name, self.settings(), allowed, seed, seconds, order)
        if interrupted:
            raise Interrupted(poisoning)
        return poisoning

    def check(self, graph: Graph) -> None:
        """Refuse a graph that the attack can't use."""
        if self.needs == "split":
            graph.check_labelled("the attack")
        elif self.needs == "labels" and graph.labels is None:
            raise InputError(f"{self.name} needs a graph with labels")
        if self.max_nodes is not None and graph.num_nodes > self.max_nodes:
            limit = f"scores all pairs of nodes and takes at most {self.max_nodes:,} nodes"
            raise InputError(f"{self.name} {limit}, not {graph.num_nodes:,}: use prbcd")

    def renumbered(self, order: NodeOrder) -> Self:
        """Return the attack on the graph with its nodes in this order; settings that name nodes change with them."""
        del order
        return self

    @abstractmethod
    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress) -> IntArray:
        """Return the pairs u < v to insert or delete, at most ``budget`` × 2."""


class GreedySearch(Protocol):
    """The poisoned graph so far, and the choice of the next flip."""

    def next_flip(self) -> tuple[int, int] | None:
        """Flip the best pair u < v and return it; None if no pair is left."""
        ...

    def state(self) -> FlipLog:
        """Return what a resumed search needs beside the flips."""
        ...


class GreedyAttack(Attack):
    """An attack by one flip after the other, with a checkpoint to resume from.

    It ignores its budget until it is spent: a smaller budget gives the first flips of a larger one.
    """

    ordered = True

    @abstractmethod
    def search(self, graph: Graph, log: FlipLog) -> GreedySearch:
        """Start on a graph, after the flips in the log."""

    def flip(
        self, graph: Graph, budget: int, *, seed: int, progress: Progress, checkpoint: Path | None = None
    ) -> IntArray:
        file = Checkpoint(checkpoint, graph=graph.fingerprint(), seed=seed, settings=self.settings())
        log: FlipLog = file.load() or {"flips": no_pairs()}
        try:
            search = self.search(graph, log)
            while len(log["flips"]) < budget and (pair := search.next_flip()) is not None:
                # One assignment: Ctrl-C can't leave half a log.
                log = {"flips": np.concatenate([log["flips"], [pair]]), **search.state()}
                progress(len(log["flips"]), budget)
                if file.due:
                    file.save(log)
        except KeyboardInterrupt:
            if len(log["flips"]):
                file.save(log)
            raise FlipsSoFar(log["flips"]) from None
        return log["flips"][:budget]


def _unreported(done: int, total: int, stage: str = "") -> None:
    """Progress that nobody asked for."""


def added_and_removed(graph: Graph, flips: IntArray) -> tuple[IntArray, IntArray]:
    """Split flipped pairs into insertions and deletions, by whether the graph has the edge."""
    present = graph.has_edges(flips)
    return flips[~present], flips[present]


def flipped(graph: Graph, flips: IntArray) -> Graph:
    """Return the graph after the flips."""
    added, removed = added_and_removed(graph, flips)
    return graph.without_edges(removed).with_edges(added)


def without_isolation(graph: Graph, flips: IntArray) -> IntArray:
    """Leave out the deletions that would take a node's last edge; insertions come first."""
    added, removed = added_and_removed(graph, flips)
    order = graph.edge_numbers(removed)
    return np.concatenate([added, graph.edges[without_isolating(order, graph.edges, graph.degrees, len(order))]])
