"""Neighbour sampling: estimates of some rows of Â, made of a few neighbours of each node.

PyG's loaders that sample neighbours need pyg-lib or torch-sparse, which have no wheels on PyPI; this is their idea on
the rows of a graph, in memory or in a graph folder.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from focusedcleaner.graph import Graph, IntArray


class NeighbourSampler:
    """Draws at most k neighbours of each node, without replacement, and averages them as a GCN averages all of them:

        Ã_ii = 1 / d_i,  Ã_ij = (n_i / k_i)·(d_i·d_j)^-½  at the k_i = min(k, n_i) neighbours j of i that are drawn,

    where n_i is the number of neighbours and d_i = n_i + 1. The mean of Ã is Â = D^-½ (A + I) D^-½, and a node with at
    most k neighbours has its row of Â. Hamilton, Ying, Leskovec: "Inductive Representation Learning on Large Graphs",
    NeurIPS 2017 (https://arxiv.org/abs/1706.02216) sample neighbours for means without degrees.

    >>> path = NeighbourSampler(Graph(3, [[0, 1], [1, 2]]), 2)
    >>> inputs, matrix = path.sample(np.array([0]), np.random.default_rng(0))
    >>> inputs, matrix.toarray().round(3)
    (array([0, 1]), array([[0.5  , 0.408]]))
    """

    def __init__(self, graph: Graph, neighbours: int) -> None:
        self.rows, self.neighbours = graph.rows, neighbours
        self.scale = (graph.degrees + 1.0) ** -0.5
        """d^-½, N values."""

    def sample(self, nodes: IntArray, rng: np.random.Generator) -> tuple[IntArray, sp.csr_array]:
        """Draw rows of Ã for n different nodes; return the m nodes with a non-zero column, and these columns, n × m."""
        starts = self.rows.indptr[nodes]
        sizes = self.rows.indptr[nodes + 1] - starts
        row, place = draw_places(sizes, self.neighbours, rng)
        drawn = self.rows.indices[starts[row] + place].astype(np.int64)
        own = np.arange(len(nodes))
        weights = self.scale[nodes[row]] * self.scale[drawn] * sizes[row] / np.minimum(sizes, self.neighbours)[row]
        inputs, column = np.unique(np.concatenate([nodes, drawn]), return_inverse=True)
        values = np.concatenate([self.scale[nodes] ** 2, weights])
        shape = len(nodes), len(inputs)
        return inputs, sp.coo_array((values, (np.concatenate([own, row]), column)), shape=shape).tocsr()


def draw_places(sizes: IntArray, count: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw ``count`` different places from 0 … size − 1 for each of n rows, uniformly; all places of a shorter row.

    Return the row and the place of each draw. Long rows are drawn by Floyd's method, all rows at once: the s-th draw
    is uniform up to size − count + s, and stands for that last place if it was drawn before.

    >>> draw_places(np.array([2, 0, 1]), 3, np.random.default_rng(0))
    (array([0, 0, 2]), array([0, 1, 0]))
    """
    short, long = np.flatnonzero(sizes <= count), np.flatnonzero(sizes > count)
    rows = np.repeat(short, sizes[short])
    places = np.arange(len(rows)) - np.repeat(np.cumsum(sizes[short]) - sizes[short], sizes[short])
    chosen = np.empty((len(long), count), dtype=np.int64)
    for step in range(count):
        last = sizes[long] - count + step
        drawn = rng.integers(0, last + 1)
        repeated = (chosen[:, :step] == drawn[:, None]).any(axis=1)
        chosen[:, step] = np.where(repeated, last, drawn)
    return np.concatenate([rows, np.repeat(long, count)]), np.concatenate([places, chosen.ravel()])
