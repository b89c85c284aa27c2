"""The flagged edges by node and by group: where in the graph they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from focusedcleaner.formatting import class_name, readable
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.runs import Run

NODES = 10
"""Nodes in the table."""
GROUPS = 10
"""Groups in the table."""


def flagged_nodes(run: Run, graph: Graph, classes: IntArray, clean: Graph | None = None) -> list[dict[str, Any]]:
    """Return the nodes with the most flagged edges, at least two: by name, with their degree and class.

    Args:
        run: the run; its removed edges are the flagged ones.
        graph: its input graph, for the names of nodes and classes.
        classes: N class numbers, −1 where there is none.
        clean: the clean graph, if it is known: each node then has the number of ``planted`` edges among the flagged.
    """
    counts = np.bincount(run.removed.ravel(), minlength=graph.num_nodes)
    order = np.lexsort((graph.degrees, -counts))[:NODES]
    planted = None
    if clean is not None:
        hits = run.removed[~clean.has_edges(np.sort(run.removed, axis=1))]
        planted = np.bincount(hits.ravel(), minlength=graph.num_nodes)
    return [
        {
            "name": readable(graph.name(node)),
            "flagged": int(counts[node]),
            "degree": int(graph.degrees[node]),
            "class": _bare_class(graph, int(classes[node])),
            "planted": None if planted is None else int(planted[node]),
        }
        for node in order
        if counts[node] > 1
    ]


def _bare_class(graph: Graph, number: int) -> str | None:
    """The name of a class for a column that is called so: the number alone where there is no more."""
    if number < 0:
        return None
    kind, _, rest = class_name(graph, number).partition(" ")
    return rest if kind in ("class", "cluster") and rest.isdigit() else class_name(graph, number)


def flagged_groups(run: Run) -> dict[str, Any] | None:
    """Return the groups that a method found, each with its flagged edges, sizes and density; None without groups.

    ``sides`` are the words for the two kinds of nodes of a bipartite graph, "source" and "target" if it has none.
    """
    columns = [run.evidence.get(name) for name in ("group", "group_sources", "group_targets", "group_density")]
    groups = [column for column in columns if column is not None and column.ndim == 1]
    if len(groups) < len(columns) or not (groups[0] > 0).any():
        return None
    numbers, first, edges = np.unique(groups[0], return_index=True, return_counts=True)
    rows = [
        {
            "group": int(number),
            "flagged": int(size),
            "sources": int(groups[1][row]),
            "targets": int(groups[2][row]),
            "density": float(groups[3][row]),
        }
        for number, row, size in zip(numbers, first, edges, strict=True)
        if number > 0
    ]
    notes = run.poisoned.notes
    sides = [readable(notes.get(f"{side}_column", side), 24) for side in ("source", "target")]
    return {"sides": sides, "rows": rows[:GROUPS], "total": len(rows)}
