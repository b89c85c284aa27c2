"""A graph's edges and attributes as sparse operators on dense node matrices, and edges that an attack flips."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from focusedcleaner.engine.sparse import csr_tensor, product_blocks, to_torch, unit_rows
from focusedcleaner.graph import BoolArray, Graph, IntArray, pairs_of_keys, unique_keys


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, so that results do not depend on the number of cores.

    Blocked matrix products split their sums by thread; the last digits, and with them the order of two nearly equal
    edges, would change.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


class Pairs:
    """Undirected pairs of nodes (2 × P, each once and in either direction) as a symmetric sparse matrix of ones."""

    def __init__(self, num_nodes: int, ends: np.ndarray, *, dtype: torch.dtype) -> None:
        self.ends = torch.tensor(ends)
        rows, columns = np.concatenate([ends, ends[::-1]], axis=1)
        order = np.argsort(rows * num_nodes + columns, kind="stable")
        self.place = torch.tensor(np.argsort(order).reshape(2, -1))
        """2 × P: the index of both directions of a pair among the matrix's values."""
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=num_nodes))])
        ones = sp.csr_array((np.ones(len(order)), columns[order], indptr), shape=(num_nodes, num_nodes))
        self.matrix = to_torch(ones, dtype)

    def dots(self, left: Tensor, right: Tensor) -> Tensor:
        """Return left_u·right_v + left_v·right_u for every pair (u, v), P values."""
        entries = torch.sparse.sampled_addmm(self.matrix, left, right.T, beta=0.0).values()
        return entries[self.place[0]] + entries[self.place[1]]

    def weighted(self, weights: Tensor) -> Tensor:
        """Return the symmetric matrix that has one of P weights at each pair, N × N in CSR form."""
        values = torch.empty_like(self.matrix.values(), dtype=weights.dtype)
        values[self.place] = weights
        return csr_tensor(self.matrix.crow_indices(), self.matrix.col_indices(), values, tuple(self.matrix.shape))


class Structure:
    """The edges of a graph, some of which may have been removed, as an operator on node matrices.

    Â = D^-½ (A + I) D^-½ with d = degree + 1. Removed edges stay in the pattern with weight 0, so edge numbers never
    change.

    >>> structure = Structure(Graph(3, [[0, 1], [1, 2]]))
    >>> structure.neighbour_sum(torch.ones(3, 1, dtype=torch.float64)).ravel()
    tensor([1., 2., 1.], dtype=torch.float64)
    """

    def __init__(self, graph: Graph, *, dtype: torch.dtype = torch.float64) -> None:
        self.num_nodes, self.num_edges = graph.num_nodes, graph.num_edges
        self.dtype = dtype
        self.pairs = Pairs(graph.num_nodes, graph.edges.T, dtype=dtype)
        self.ends = self.pairs.ends
        """2 × E: the smaller and the larger end of each edge."""
        self.adjacency = self.pairs.matrix
        self.alive = torch.ones(self.num_edges, dtype=torch.bool)
        self.degrees = torch.tensor(graph.degrees, dtype=dtype)
        self.touched = torch.zeros(self.num_nodes, 1, dtype=dtype)
        """N × 1: 1 at the ends of edges removed since the last call of `take_touched`."""

    def remove(self, edges: Tensor) -> None:
        """Remove edges by their numbers."""
        self.alive[edges] = False
        self.adjacency.values()[self.pairs.place[:, edges].ravel()] = 0.0
        ends = self.ends[:, edges].ravel()
        self.degrees.index_add_(0, ends, -torch.ones_like(self.degrees[ends]))
        self.touched[ends] = 1.0

    @property
    def scale(self) -> Tensor:
        """d^-½, N × 1."""
        return (self.degrees + 1).rsqrt().unsqueeze(1)

    def neighbour_sum(self, matrix: Tensor) -> Tensor:
        """Return A·M."""
        return self.adjacency @ matrix

    def propagate(self, matrix: Tensor) -> Tensor:
        """Return Â·M."""
        scaled = self.scale * matrix
        return self.scale * (self.adjacency @ scaled + scaled)

    def propagate_to(self, nodes: Tensor, matrix: Tensor) -> Tensor:
        """Return the rows of Â·M for ``nodes``."""
        scaled = self.scale * matrix
        starts, ends = self.adjacency.crow_indices()[nodes], self.adjacency.crow_indices()[nodes + 1]
        counts = ends - starts
        firsts = counts.cumsum(0) - counts
        places = torch.arange(int(counts.sum())) + (starts - firsts).repeat_interleave(counts)
        rows = csr_tensor(
            torch.cat([firsts, counts.sum().view(1)]),
            self.adjacency.col_indices()[places],
            self.adjacency.values()[places],
            (len(nodes), self.num_nodes),
        )
        return self.scale[nodes] * (rows @ scaled + scaled[nodes])

    def at_edges(self, left: Tensor, right: Tensor) -> Tensor:
        """Return left_u·right_v + left_v·right_u for every edge (u, v), E values; removed edges included."""
        return self.pairs.dots(left, right)

    def at_nodes(self, values: Tensor) -> Tensor:
        """Sum E edge values over the remaining edges at each node, N values."""
        remaining = torch.where(self.alive, values, 0.0)
        total = torch.zeros(self.num_nodes, dtype=values.dtype)
        return total.index_add_(0, self.ends[0], remaining).index_add_(0, self.ends[1], remaining)

    def rows_of_two_hops(self, nodes: np.ndarray) -> sp.csr_array:
        """Return the rows of Â² for ``nodes``, n × N and sparse; a row does not depend on which others are computed."""
        neighbours, scale = self._neighbours(), self.scale.ravel().numpy()
        ones = np.ones(len(nodes))
        own = sp.csr_array((ones, nodes, np.arange(len(nodes) + 1)), shape=(len(nodes), self.num_nodes))
        one_hop = _scaled(neighbours[nodes] + own, None, scale * scale)
        return _scaled(one_hop @ neighbours + one_hop, scale[nodes], scale)

    def rows_of_one_hop(self, nodes: np.ndarray) -> sp.csr_array:
        """Return the rows of Â for ``nodes``, n × N and sparse."""
        scale = self.scale.ravel().numpy()
        loops = sp.eye_array(self.num_nodes, format="csr")
        return _scaled(sp.csr_array(self._neighbours() + loops)[nodes], scale[nodes], scale)

    def two_hop_blocks(self, nodes: np.ndarray) -> list[np.ndarray]:
        """Split nodes into parts whose `rows_of_two_hops` fit into memory: one part, except around hubs."""
        neighbours = self._neighbours()
        return product_blocks(neighbours, neighbours, nodes)

    def _neighbours(self) -> sp.csr_array:
        parts = self.adjacency.values(), self.adjacency.col_indices(), self.adjacency.crow_indices()
        return sp.csr_array(tuple(part.numpy() for part in parts), shape=(self.num_nodes, self.num_nodes))

    def take_touched(self) -> Tensor:
        """Mark the nodes whose row of Â² has changed since the last call, N booleans: those within two hops of a
        removed edge."""
        near = self.touched
        for _ in range(2):
            near = near + self.adjacency @ near
        self.touched = torch.zeros_like(self.touched)
        return near.squeeze(1) > 0


def _scaled(matrix: sp.csr_array, rows: np.ndarray | None, columns: np.ndarray) -> sp.csr_array:
    """Return diag(rows)·matrix·diag(columns), computed in place."""
    matrix.data *= columns[matrix.indices]
    if rows is not None:
        matrix.data *= np.repeat(rows, np.diff(matrix.indptr))
    return matrix


class MutableEdges:
    """The edges of a graph while an attack flips them, and the pairs that have been flipped.

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
        return pairs_of_keys(unique_keys(self.keys, self.flipped), self.num_nodes)

    def removable(self) -> BoolArray:
        """Mark the edges that may be removed: not inserted by the attack, and no end would be isolated."""
        return (self.degrees[self.edges] > 1).all(axis=1) & ~np.isin(self.keys, self.flipped)


class Attributes:
    """X as a sparse operator, its rows scaled to length 1 if ``unit``; the identity where a graph has no attributes."""

    def __init__(self, graph: Graph, *, unit: bool = False, dtype: torch.dtype = torch.float64) -> None:
        self.matrix, self.dtype = graph.features, dtype
        if unit and self.matrix is not None:
            self.matrix = unit_rows(self.matrix)
        self.num_columns = graph.num_nodes if self.matrix is None else int(self.matrix.shape[1])
        mean_square = 1.0 if self.matrix is None else float(np.square(self.matrix.data).sum()) / graph.num_nodes
        self.mean_square = mean_square or 1.0
        """The mean of ‖x_i‖², the unit of penalties on W."""
        if self.matrix is not None:
            self._forward, self._backward = to_torch(self.matrix, dtype), to_torch(self.matrix.T.tocsr(), dtype)

    def times(self, weights: Tensor) -> Tensor:
        """Return X·W, N × columns of W."""
        return weights if self.matrix is None else self._forward @ weights

    def transposed_times(self, values: Tensor) -> Tensor:
        """Return Xᵀ·G, F × columns of G."""
        return values if self.matrix is None else self._backward @ values

    def dense(self) -> Tensor:
        """Return X as a dense tensor, N × F."""
        return self.times(torch.eye(self.num_columns, dtype=self.dtype))

    def two_hop_rows(self, structure: Structure, nodes: np.ndarray) -> Tensor:
        """Return the rows of Â²X for few ``nodes`` as a dense tensor, n × F.

        (Â²)X for most graphs; Â(ÂX) where the nodes' rows of Â² would be too long, and a part after the other where X
        is the identity.
        """
        blocks = structure.two_hop_blocks(nodes)
        if self.matrix is None:
            rows = [structure.rows_of_two_hops(block).toarray() for block in blocks]
            return torch.from_numpy(np.concatenate(rows)).to(self.dtype)
        if len(blocks) == 1:
            product = structure.rows_of_two_hops(nodes) @ self.matrix
        else:
            one_hop = structure.rows_of_one_hop(np.arange(structure.num_nodes)) @ self.matrix
            product = structure.rows_of_one_hop(nodes) @ one_hop
        return torch.from_numpy(product.toarray()).to(self.dtype)
