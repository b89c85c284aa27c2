"""A graph's structure while an attack changes it."""

from __future__ import annotations

import numpy as np

from focusedcleaner.engine import Structure
from focusedcleaner.graph import BoolArray, Graph, IntArray


class MutableEdges:
    """The edges as they stand, and which pairs have been flipped.

    >>> evolving = MutableEdges(Graph(4, [[0, 1], [1, 2], [2, 3]]))
    >>> evolving.flip(0, 3)
    >>> evolving.flip(1, 2)
    >>> evolving.edges.tolist(), evolving.degrees.tolist()
    ([[0, 1], [0, 3], [2, 3]], [2, 1, 1, 2])
    """

    def __init__(self, graph: Graph) -> None:
        self.num_nodes = graph.num_nodes
        self.keys = graph.edge_keys
        """One sorted number per edge, u·N + v."""
        self.degrees = graph.degrees.copy()
        self.flipped = np.empty(0, dtype=np.int64)
        """The keys of the flipped pairs, sorted."""

    def flip(self, u: int, v: int) -> None:
        """Insert the edge (u, v), u < v, or remove it if it is there."""
        key = u * self.num_nodes + v
        place = int(np.searchsorted(self.keys, key))
        if place < len(self.keys) and self.keys[place] == key:
            self.keys = np.delete(self.keys, place)
            self.degrees[[u, v]] -= 1
        else:
            self.keys = np.insert(self.keys, place, key)
            self.degrees[[u, v]] += 1
        self.flipped = np.insert(self.flipped, np.searchsorted(self.flipped, key), key)

    @property
    def edges(self) -> IntArray:
        """E × 2, sorted."""
        return self.pairs_of(self.keys)

    def pairs_of(self, keys: IntArray) -> IntArray:
        return np.stack(np.divmod(keys, self.num_nodes), axis=1)

    def structure(self) -> Structure:
        return Structure(Graph(self.num_nodes, self.edges))

    def not_insertable(self) -> IntArray:
        """Pairs that have an edge or were flipped already, P × 2, sorted."""
        return self.pairs_of(np.union1d(self.keys, self.flipped))

    def removable(self) -> BoolArray:
        """Which edges may go: those not planted by the attack whose ends have another neighbour."""
        spared: BoolArray = (self.degrees[self.edges] > 1).all(axis=1) & ~np.isin(self.keys, self.flipped)
        return spared
