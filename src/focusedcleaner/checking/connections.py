"""How a graph hangs together: components, isolated nodes, degrees and, if it is bipartite, its two sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.checks import component_labels, is_bipartite


@dataclass(frozen=True)
class Connections:
    """Components, degrees and sides of a graph."""

    components: int
    largest_component: float
    """Share of the nodes in the largest component."""
    isolated_nodes: int
    largest_degree: int
    bipartite: bool
    """Whether no cycle is odd, with too many cycles for that to be chance."""
    sides: tuple[int, int] | None
    """Nodes with an edge on either side of a bipartite graph. In each component, the side of the lowest node number
    comes first."""


def connections(graph: Graph) -> Connections:
    """Measure how a graph hangs together, in O(N + E).

    >>> found = connections(Graph(4, [[0, 1], [1, 2]]))
    >>> found.components, found.largest_component, found.isolated_nodes, found.largest_degree
    (2, 0.75, 1, 2)
    """
    components, component = component_labels(graph)
    bipartite = is_bipartite(graph, components)
    return Connections(
        components=components,
        largest_component=float(np.bincount(component).max() / graph.num_nodes),
        isolated_nodes=int((graph.degrees == 0).sum()),
        largest_degree=int(graph.degrees.max()),
        bipartite=bipartite,
        sides=two_sides(graph) if bipartite else None,
    )


def two_sides(graph: Graph) -> tuple[int, int]:
    """Return the numbers of nodes on the two sides of a bipartite graph, without isolated ones.

    >>> two_sides(Graph(4, [[0, 1], [0, 2], [0, 3]]))
    (1, 3)
    """
    adjacency = graph.adjacency()
    _, component = connected_components(adjacency, directed=False)
    # Each component is twice in the bipartite double cover, once for each of its sides.
    _, cover = connected_components(sp.block_array([[None, adjacency], [adjacency, None]]), directed=False)
    side = cover[: graph.num_nodes]
    _, lowest = np.unique(component, return_index=True)
    first = (side == side[lowest][component])[graph.degrees > 0]
    return int(first.sum()), int((~first).sum())
