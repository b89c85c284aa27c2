"""The edges of a graph while an attack flips them."""

from __future__ import annotations

import numpy as np

from focusedcleaner.engine.structure import Structure
from focusedcleaner.graph import BoolArray, Graph, IntArray, pairs_of_keys


class MutableEdges:
    """The current edges, and the pairs that have been flipped.

    >>> edges = MutableEdges(Graph(4, [[0, 1], [1, 2], [2, 3]]))
    >>> edges.flip(0, 3)
    >>> edges.flip(1, 2)
    >>> edges.edges.tolist(), edges.degrees.tolist()
    ([[0, 1], [0, 3], [2, 3]], [2, 1, 1, 2])
    """

    def __init__(self, graph: Graph) -> None:
        self.num_nodes = graph.num_nodes
        self.keys = graph.edge_keys
        """Sorted keys of the current edges (`graph.pair_keys`)."""
        self.degrees = graph.degrees.copy()
        self.flipped = np.empty(0, dtype=np.int64)
        """Sorted keys of the flipped pairs."""

    def flip(self, u: int, v: int) -> None:
        """Insert the edge (u, v), u < v, or remove it if it exists."""
        key = u * self.num_nodes + v
        position = int(np.searchsorted(self.keys, key))
        if position < len(self.keys) and self.keys[position] == key:
            self.keys = np.delete(self.keys, position)
            self.degrees[[u, v]] -= 1
        else:
            self.keys = np.insert(self.keys, position, key)
            self.degrees[[u, v]] += 1
        self.flipped = np.insert(self.flipped, np.searchsorted(self.flipped, key), key)

    @property
    def edges(self) -> IntArray:
        """E × 2, sorted."""
        return pairs_of_keys(self.keys, self.num_nodes)

    def structure(self) -> Structure:
        """Return the current edges as a `Structure`."""
        return Structure(Graph(self.num_nodes, self.edges))

    def not_insertable(self) -> IntArray:
        """Return the pairs that have an edge or were flipped before, P × 2, sorted."""
        return pairs_of_keys(np.union1d(self.keys, self.flipped), self.num_nodes)

    def removable(self) -> BoolArray:
        """Mark the edges that may be removed: not inserted by the attack, and no end would be isolated."""
        mask: BoolArray = (self.degrees[self.edges] > 1).all(axis=1) & ~np.isin(self.keys, self.flipped)
        return mask
