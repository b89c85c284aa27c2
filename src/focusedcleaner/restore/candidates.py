"""Candidate pairs for missing edges: pairs with a common neighbour or similar attributes, never all pairs."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from focusedcleaner.graph import Graph, IntArray, pair_keys, pairs_of_keys

MAX_WEDGES = 5_000_000
"""Largest number of paths of length two that are followed, those over middle nodes of small degree first."""
MAX_PRODUCTS = 200_000_000
"""Largest number of pairs whose attributes are compared: all pairs up to about 14,000 nodes."""
BLOCK = 4_000_000
"""Attribute products computed at once."""


class Candidates:
    """The candidate pairs of graphs over the same nodes; those found by attributes are computed once.

    Each node is paired with its ``neighbours`` most similar ones, by attributes (N × F) of length 1 or 0. If not all
    nodes can be compared, the training nodes of the graph come first.

    >>> square = Graph(4, [[0, 1], [0, 3], [1, 2], [2, 3]])
    >>> Candidates(square, None, neighbours=20).pairs(square)
    array([[0, 2],
           [1, 3]])
    """

    def __init__(self, graph: Graph, attributes: sp.csr_array | None, *, neighbours: int) -> None:
        self.similar = np.empty(0, dtype=np.int64)
        """Sorted keys (`pair_keys`) of the pairs with similar attributes."""
        if attributes is not None:
            train = np.empty(0, dtype=np.int64) if graph.split is None else graph.split.train
            others = np.setdiff1d(np.arange(graph.num_nodes), train)
            rows = np.concatenate([train, others])[: max(1, MAX_PRODUCTS // graph.num_nodes)]
            self.similar = similar_pairs(attributes, rows, neighbours)

    def pairs(self, graph: Graph) -> IntArray:
        """Return the pairs u < v without an edge that have a common neighbour or similar attributes, sorted (P × 2)."""
        keys = np.union1d(distance_two(graph), self.similar)
        return pairs_of_keys(np.setdiff1d(keys, graph.edge_keys, assume_unique=True), graph.num_nodes)


def distance_two(graph: Graph, max_wedges: int = MAX_WEDGES) -> IntArray:
    """Return the sorted keys of the pairs u < v with a common neighbour, whether they have an edge or not.

    Common neighbours of small degree come first, as many as have at most ``max_wedges`` paths of length two in all.
    """
    adjacency, degrees = graph.adjacency(), graph.degrees
    order = np.argsort(degrees, kind="stable")
    wedges = np.cumsum(degrees[order] * (degrees[order] - 1) // 2)
    middle = np.sort(order[: np.searchsorted(wedges, max_wedges, side="right")])
    pairs = sp.triu(adjacency[:, middle] @ adjacency[middle], 1).tocoo()
    return np.sort(pair_keys(np.stack([pairs.row, pairs.col], axis=1).astype(np.int64), graph.num_nodes))


def similar_pairs(attributes: sp.csr_array, rows: IntArray, neighbours: int) -> IntArray:
    """Return the sorted keys of the pairs u < v of each node in ``rows`` with its nearest neighbours by inner product,
    fewer if that is not above 0.

    Unlike `engine.sparse.nearest_neighbours` it takes a subset of the nodes and breaks ties arbitrarily.
    """
    num_nodes = attributes.shape[0]
    count = min(neighbours, num_nodes - 1)
    columns = sp.csc_array(attributes.T)
    keys = [np.empty(0, dtype=np.int64)]
    for part in np.array_split(rows, max(1, len(rows) * num_nodes // BLOCK)):
        products = (attributes[part] @ columns).toarray()
        products[np.arange(len(part)), part] = 0.0
        near = np.argpartition(-products, count - 1, axis=1)[:, :count] if count else np.empty((len(part), 0), int)
        above = np.take_along_axis(products, near, axis=1) > 0
        pairs = np.sort(np.stack([np.repeat(part, above.sum(axis=1)), near[above]], axis=1), axis=1)
        keys.append(pair_keys(pairs, num_nodes))
    return np.unique(np.concatenate(keys))
