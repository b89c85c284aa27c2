"""Where an edge may be missing: pairs at distance two, and pairs of most similar attributes. Never all pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from focusedcleaner.graph import Graph, IntArray

MOST_WEDGES = 5_000_000
"""Paths of length two that are walked at most; those over the rarest middle nodes first."""
MOST_PRODUCTS = 200_000_000
"""Pairs whose attributes are compared at most: all nodes with all others up to about 14,000 nodes."""
BLOCK = 4_000_000
"""Products that are held at a time."""


@dataclass(frozen=True)
class Candidates:
    """Candidates of graphs over the same nodes: what depends on attributes alone is found once.

    >>> square = Graph(4, [[0, 1], [0, 3], [1, 2], [2, 3]])
    >>> Candidates.of(square, None, most_alike=20).pairs(square)
    array([[0, 2],
           [1, 3]])
    """

    alike: IntArray
    """Sorted keys u·N + v of pairs of similar attributes."""

    @classmethod
    def of(cls, graph: Graph, attributes: sp.csr_array | None, *, most_alike: int) -> Candidates:
        """Compare the attributes.

        Args:
            graph: one of the graphs; where not all nodes can be compared, its training nodes come first.
            attributes: N × F, rows of length 1 or 0; None where there are none.
            most_alike: how many of the nodes most similar to a node are candidates for an edge with it.
        """
        if attributes is None:
            return cls(np.empty(0, dtype=np.int64))
        train = np.empty(0, dtype=np.int64) if graph.split is None else graph.split.train
        others = np.setdiff1d(np.arange(graph.num_nodes), train)
        rows = np.concatenate([train, others])[: max(1, MOST_PRODUCTS // graph.num_nodes)]
        return cls(most_alike_pairs(attributes, rows, most_alike))

    def pairs(self, graph: Graph) -> IntArray:
        """Pairs u < v without an edge that have a common neighbour or similar attributes, sorted (P × 2)."""
        keys = np.union1d(distance_two(graph), self.alike)
        keys = keys[~np.isin(keys, graph.edge_keys)]
        return np.stack(np.divmod(keys, graph.num_nodes), axis=1)


def distance_two(graph: Graph, most: int = MOST_WEDGES) -> IntArray:
    """Sorted keys u·N + v, u < v, of the pairs with a common neighbour, whether they have an edge or not.

    Common neighbours of small degree come first; from where more than ``most`` paths would be walked, none is.
    """
    adjacency, degrees = graph.adjacency(), graph.degrees
    order = np.argsort(degrees, kind="stable")
    wedges = np.cumsum(degrees[order] * (degrees[order] - 1) // 2)
    middle = np.sort(order[: np.searchsorted(wedges, most, side="right")])
    pairs = sp.triu(adjacency[:, middle] @ adjacency[middle], 1).tocoo()
    return np.sort(pairs.row.astype(np.int64) * graph.num_nodes + pairs.col)


def most_alike_pairs(attributes: sp.csr_array, rows: IntArray, most_alike: int) -> IntArray:
    """Sorted keys u·N + v, u < v, of each given node with the others of largest inner product, if that is above 0.

    Args:
        attributes: N × F.
        rows: the nodes whose most similar ones are looked for.
        most_alike: how many for each.
    """
    num_nodes = attributes.shape[0]
    count = min(most_alike, num_nodes - 1)
    columns = sp.csc_array(attributes.T)
    found = [np.empty(0, dtype=np.int64)]
    for part in np.array_split(rows, max(1, len(rows) * num_nodes // BLOCK)):
        products = (attributes[part] @ columns).toarray()
        products[np.arange(len(part)), part] = 0.0
        near = np.argpartition(-products, count - 1, axis=1)[:, :count] if count else np.empty((len(part), 0), int)
        above = np.take_along_axis(products, near, axis=1) > 0
        ends = np.sort(np.stack([np.repeat(part, above.sum(axis=1)), near[above]]), axis=0)
        found.append(ends[0] * num_nodes + ends[1])
    return np.unique(np.concatenate(found))
