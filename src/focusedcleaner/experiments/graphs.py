"""The graphs that cells stand for, put together from the arrays of the cells before them."""

from __future__ import annotations

from collections.abc import Callable

from focusedcleaner.attacks.base import added_and_removed
from focusedcleaner.budget import edges_allowed
from focusedcleaner.experiments.cells import Accuracy, Cell, Poison, Pruning, Sanitation
from focusedcleaner.experiments.compute import Arrays, Task
from focusedcleaner.experiments.sources import clean_graph, published_graph
from focusedcleaner.graph import Graph

ArraysOf = Callable[[Cell], Arrays]
"""The arrays of a cell that has been computed."""


def task_of(cell: Cell, arrays: ArraysOf) -> Task:
    """A cell with everything that a worker needs."""
    clean = clean_graph(cell.source)
    if isinstance(cell, Sanitation | Pruning):
        return Task(cell, graph_of(cell.poison, arrays), clean=clean.edges)
    if isinstance(cell, Accuracy):
        poison = cell.graph if isinstance(cell.graph, Poison) else cell.graph.poison
        targets = arrays(poison.run).get("targets") if cell.nodes == "targets" else None
        return Task(cell, graph_of(cell.graph, arrays), targets=targets)
    return Task(cell, clean)


def graph_of(cell: Poison | Sanitation | Pruning, arrays: ArraysOf) -> Graph:
    """The graph that a poisoning or a cleaning leaves behind."""
    if not isinstance(cell, Poison):
        changed = arrays(cell)
        graph = graph_of(cell.poison, arrays).without_edges(changed["removed"])
        return graph.with_edges(changed["added"]) if len(changed.get("added", ())) else graph
    if cell.attack == "none":
        return clean_graph(cell.origin)
    return published_graph(cell) if cell.attack == "published" else _poisoned(cell, arrays)


def _poisoned(cell: Poison, arrays: ArraysOf) -> Graph:
    """The clean graph after the first flips of the run, as many as the power allows."""
    clean, made = clean_graph(cell.origin), arrays(cell.run)
    flips = made["flips"].astype("int64").reshape(-1, 2)
    if cell.run != cell:
        flips = flips[: edges_allowed(cell.power, clean.num_edges, what="power")]
    added, removed = added_and_removed(clean, flips)
    return clean.without_edges(removed).with_edges(added)
