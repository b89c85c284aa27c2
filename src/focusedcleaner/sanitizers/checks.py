"""What is checked around every sanitation: the graph, the scales of its attributes, and the scores."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count, readable
from focusedcleaner.graph import FloatArray, Graph, IntArray

LARGEST_RATIO = 10.0
"""Typical values of two columns that differ by more than this factor are on different scales."""
FEWEST_EDGES = 500
"""Edges that the default method needs: a classifier of planted edges can't be trained on fewer."""
FEWEST_LABELS = 20
"""Training and validation nodes that a method needs to use labels; none was measured with fewer."""
LABEL_FREE = "the default method, jaccard, cosine or svd"
"""Methods that need no labels, for messages."""
FEWEST_LABELLED_SHARE = 0.1
"""Share of labelled nodes from which fewer are worth no note: a tiny graph can't have many."""
SEARCHED_LEVELS = 10
"""Levels of a breadth-first search in which an odd cycle is looked for: most graphs that aren't bipartite have one."""
FEWEST_CYCLES = 20
"""Independent cycles from which a graph without an odd one counts as bipartite: by chance, one in a million is."""


def removable(graph: Graph) -> int:
    """Upper bound on the edges that can go while no node becomes isolated: E − ⌈non-isolated nodes/2⌉."""
    connected = int((graph.degrees > 0).sum())
    return graph.num_edges - (connected + 1) // 2


def check_sanitizable(graph: Graph, who: str = "a sanitizer", *, labels: bool = True) -> None:
    """Raise an `InputError` that says why, if a sanitizer can't work on the graph.

    Args:
        graph: the graph.
        who: the sanitizer, for the message.
        labels: whether it needs the classes of a few nodes.
    """
    if graph.num_edges == 0:
        raise InputError("the graph is empty: it has no edges")
    if labels and not len(graph.known_labels):
        table = "a node table gives them (--nodes nodes.csv, with the columns id and label)"
        raise InputError(
            f"the graph has no labels, and {who} needs the classes of a few nodes: {table}; without, use {LABEL_FREE}"
        )
    if labels:
        graph.check_labelled(who)


def component_labels(graph: Graph) -> tuple[int, IntArray]:
    """Return the number of connected components, and that of each node."""
    # Strong components of a symmetric matrix are its components; weak ones would need its transpose.
    number, labels = connected_components(graph.adjacency(), directed=True, connection="strong")
    return int(number), labels


def components_and_bipartite(graph: Graph) -> tuple[int, bool]:
    """Return the number of connected components, and whether the graph is bipartite by design, as users and items are.

    A tree is bipartite, too, and so is a sparse graph now and then: there must be `FEWEST_CYCLES` independent cycles.

    >>> users_and_items = [[user, item] for user in range(6) for item in range(6, 12)]
    >>> components_and_bipartite(Graph(12, users_and_items)), components_and_bipartite(Graph(3, [[0, 1], [1, 2]]))
    ((1, True), (1, False))
    """
    components, _ = component_labels(graph)
    return components, is_bipartite(graph, components)


def is_bipartite(graph: Graph, components: int | None = None) -> bool:
    """Whether the graph is bipartite by design: as `components_and_bipartite`, but quick where it isn't."""
    if _has_odd_cycle_near_hub(graph):
        return False
    if components is None:
        components, _ = component_labels(graph)
    if graph.num_edges - graph.num_nodes + components < FEWEST_CYCLES:
        return False
    # A connected graph is bipartite exactly if its bipartite double cover falls into two components.
    adjacency = graph.adjacency()
    double_cover = sp.block_array([[None, adjacency], [adjacency, None]])
    return bool(connected_components(double_cover, directed=False)[0] == 2 * components)


def _has_odd_cycle_near_hub(graph: Graph) -> bool:
    """Whether, in a breadth-first search from the largest node, two nodes of one of the first levels have an edge."""
    rows = graph.rows
    level = np.array([int(graph.degrees.argmax())])
    seen = np.zeros(graph.num_nodes, dtype=bool)
    for _ in range(SEARCHED_LEVELS):
        seen[level] = True
        counts = graph.degrees[level]
        firsts = np.repeat(rows.indptr[level] - (np.cumsum(counts) - counts), counts)
        neighbours = rows.indices[firsts + np.arange(counts.sum())]
        if np.isin(neighbours, level).any():
            return True
        level = np.unique(neighbours[~seen[neighbours]])
        if not len(level):
            break
    return False


def bipartite_notes(graph: Graph, method: str) -> list[str]:
    """Say, in one sentence, that the graph is bipartite and the method is not made for that; empty if it isn't.

    >>> bipartite_notes(Graph(12, [[user, item] for user in range(6) for item in range(6, 12)]), "cld")
    ['the graph is bipartite, such as users and items: cld compares nodes of one kind; use dense-blocks']
    """
    if not is_bipartite(graph):
        return []
    return [f"the graph is bipartite, such as users and items: {method} compares nodes of one kind; use dense-blocks"]


def unsuitable(graph: Graph) -> str:
    """Say why the default method can't judge a graph, in one phrase; "" if it can.

    Args:
        graph: with or without labels.

    >>> unsuitable(Graph(3, [[0, 1], [1, 2]]))
    'too small: 2 edges, and at least 500 are needed'
    """
    if graph.num_edges < FEWEST_EDGES:
        return f"too small: {count(graph.num_edges, 'edge')}, and at least {FEWEST_EDGES} are needed"
    if graph.attributes is not None and graph.features is None:
        return "every node has the same attributes: leave them out to judge the edges alone"
    if is_bipartite(graph):
        return "the graph is bipartite, such as users and items"
    return ""


def label_notes(graph: Graph, who: str) -> list[str]:
    """Say that there are too few labels for a method that needs them, in a list of at most one sentence."""
    labels = len(graph.as_seen_by_defender().known_labels)
    if labels >= min(FEWEST_LABELS, FEWEST_LABELLED_SHARE * graph.num_nodes):
        return []
    return [f"only {count(labels, 'labelled node')}: {who} was not measured with fewer than {FEWEST_LABELS}"]


def check_finite(method: str, **columns: FloatArray) -> None:
    """Refuse a result with a score that is NaN or infinite; each column has a row per edge."""
    for name, values in columns.items():
        wrong = ~np.isfinite(values)
        if wrong.any():
            cause = "its training diverged; try other settings, or another method"
            raise InputError(f"{method}: the {name} of {wrong.sum():,} of {len(values):,} edges is not finite: {cause}")


def attribute_notes(graph: Graph) -> list[str]:
    """Say, in one sentence each, what about the attributes was changed before use.

    >>> attribute_notes(Graph(2, [[0, 1]], attributes=[[40, 1e6], [30, 2e6]], attribute_names=["age", "balance"]))
    ['attributes are on different scales (age about 30, balance about 1e+06): each column was scaled']
    """
    if graph.attributes is None or graph.stored is not None:
        return []  # those of a graph folder were scaled when it was written
    if graph.features is None:
        return ["the attributes are the same at every node: they are not used"]
    if graph.features is graph.attributes:  # 0/1, or scaled when they were stored
        return []
    columns, scales = graph.attributes.column_scales
    least, most = int(scales.argmin()), int(scales.argmax())
    if scales[most] / LARGEST_RATIO <= scales[least]:
        return []
    typical = ", ".join(f"{_column_name(graph, columns[place])} about {scales[place]:.3g}" for place in (least, most))
    return [f"attributes are on different scales ({typical}): each column was scaled"]


def _column_name(graph: Graph, column: int) -> str:
    return f"column {column}" if graph.attribute_names is None else readable(graph.attribute_names[column], 30)
