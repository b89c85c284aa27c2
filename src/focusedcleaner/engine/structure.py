"""All that the mathematics needs of a graph: sparse products, values at edges, sums at nodes, removal."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from focusedcleaner.graph import Graph

_CHUNK = 65_536
"""Edges whose attributes are gathered at once."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, so that a result does not depend on how many there are.

    Blocked matrix products split their sums by the number of threads; the last digits, and with them the order of two
    nearly equal edges, would follow.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


def index_type(largest: int) -> type[np.signedinteger[Any]]:
    """For the indices of a CSR tensor: short ones where they do, since MKL would shorten them at every product."""
    return np.int32 if largest < 2**31 else np.int64


def csr(matrix: sp.csr_array, dtype: torch.dtype, device: torch.device | str = "cpu") -> Tensor:
    """A scipy matrix as torch's CSR tensor."""
    index = index_type(max(*matrix.shape, matrix.nnz))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse", UserWarning)  # torch calls its CSR layout a beta
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(index)),
            torch.from_numpy(matrix.indices.astype(index)),
            torch.from_numpy(matrix.data.copy()).to(dtype),
            size=matrix.shape,
            device=device,
        )


class Pairs:
    """Undirected pairs of nodes as the pattern of a symmetric sparse matrix of ones.

    Args:
        num_nodes: N.
        ends: 2 × P node numbers, each pair once and in either direction.
    """

    def __init__(
        self, num_nodes: int, ends: np.ndarray, *, dtype: torch.dtype, device: torch.device | str = "cpu"
    ) -> None:
        self.ends = torch.tensor(ends, device=device)
        rows, columns = np.concatenate([ends, ends[::-1]], axis=1)
        order = np.argsort(rows * num_nodes + columns, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        self.place = torch.tensor(place.reshape(2, -1), device=device)
        """2 × P: where both directions of a pair stand among the matrix's values."""
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=num_nodes))])
        ones = sp.csr_array((np.ones(len(order)), columns[order], indptr), shape=(num_nodes, num_nodes))
        self.matrix = csr(ones, dtype, device)

    def dots(self, left: Tensor, right: Tensor) -> Tensor:
        """left_u·right_v + left_v·right_u for every pair (u, v), P values."""
        entries = torch.sparse.sampled_addmm(self.matrix, left, right.T, beta=0.0).values()
        return entries[self.place[0]] + entries[self.place[1]]

    def weighted_sum(self, weights: Tensor, matrix: Tensor) -> Tensor:
        """Σ over the pairs (i, j) at node i of weight·row j of an N-row matrix, for P weights."""
        values = torch.empty_like(self.matrix.values(), dtype=weights.dtype)
        values[self.place] = weights
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse", UserWarning)
            symmetric = torch.sparse_csr_tensor(
                self.matrix.crow_indices(), self.matrix.col_indices(), values, size=self.matrix.shape
            )
        return symmetric @ matrix


class Structure:
    """The edges of a graph, some of them removed by now, as an operator on node matrices.

    Â = D^-½ (A + I) D^-½ with d = degree + 1. Removed edges keep their place and weigh nothing, so that an edge's
    number is the same from the first step to the last.

    >>> graph = Graph(3, [[0, 1], [1, 2]])
    >>> structure = Structure(graph)
    >>> structure.neighbour_sum(torch.ones(3, 1, dtype=torch.float64)).ravel()
    tensor([1., 2., 1.], dtype=torch.float64)
    """

    def __init__(self, graph: Graph, *, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu") -> None:
        self.num_nodes, self.num_edges = graph.num_nodes, graph.num_edges
        self.dtype, self.device = dtype, torch.device(device)
        self.pairs = Pairs(graph.num_nodes, graph.edges.T, dtype=dtype, device=device)
        self.ends = self.pairs.ends
        """2 × E: the smaller and the larger end of each edge."""
        self.adjacency = self.pairs.matrix
        self.alive = torch.ones(self.num_edges, dtype=torch.bool, device=device)
        self.degrees = torch.tensor(graph.degrees, dtype=dtype, device=device)
        self.touched = torch.zeros(self.num_nodes, 1, dtype=dtype, device=device)

    def remove(self, edges: Tensor) -> None:
        """Remove edges by their numbers."""
        self.alive[edges] = False
        self.adjacency.values()[self.pairs.place[:, edges].ravel()] = 0.0
        ends = self.ends[:, edges].ravel()
        self.degrees.index_add_(0, ends, -torch.ones_like(self.degrees[ends]))
        self.touched[ends] = 1.0

    @property
    def scale(self) -> Tensor:
        """d^-½, an N × 1 column."""
        return (self.degrees + 1).rsqrt().unsqueeze(1)

    def neighbour_sum(self, matrix: Tensor) -> Tensor:
        """A·M."""
        return self.adjacency @ matrix

    def propagate(self, matrix: Tensor) -> Tensor:
        """Â·M."""
        scaled = self.scale * matrix
        return self.scale * (self.adjacency @ scaled + scaled)

    def propagate_to(self, nodes: Tensor, matrix: Tensor) -> Tensor:
        """The rows of Â·M that belong to ``nodes``."""
        scaled = self.scale * matrix
        starts, ends = self.adjacency.crow_indices()[nodes], self.adjacency.crow_indices()[nodes + 1]
        counts = ends - starts
        firsts = counts.cumsum(0) - counts
        places = torch.arange(int(counts.sum()), device=self.device) + (starts - firsts).repeat_interleave(counts)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse", UserWarning)
            rows = torch.sparse_csr_tensor(
                torch.cat([firsts, counts.sum().view(1)]),
                self.adjacency.col_indices()[places],
                self.adjacency.values()[places],
                size=(len(nodes), self.num_nodes),
            )
        return self.scale[nodes] * (rows @ scaled + scaled[nodes])

    def at_edges(self, left: Tensor, right: Tensor) -> Tensor:
        """left_u·right_v + left_v·right_u for every edge (u, v), E values; removed edges included."""
        return self.pairs.dots(left, right)

    def at_nodes(self, values: Tensor) -> Tensor:
        """The sum of E edge values over the edges at each node that are still there, N values."""
        there = torch.where(self.alive, values, torch.zeros((), dtype=values.dtype, device=self.device))
        total = torch.zeros(self.num_nodes, dtype=values.dtype, device=self.device)
        return total.index_add_(0, self.ends[0], there).index_add_(0, self.ends[1], there)

    def rows_of_two_hops(self, nodes: np.ndarray) -> sp.csr_array:
        """The rows of Â² that belong to ``nodes``, n × N and sparse, each the same whoever else is asked for."""
        adjacency = self.adjacency.cpu()
        parts = (adjacency.values().numpy(), adjacency.col_indices().numpy(), adjacency.crow_indices().numpy())
        neighbours = sp.csr_array(parts, shape=(self.num_nodes, self.num_nodes))
        scale = self.scale.ravel().cpu().numpy()
        ones = np.ones(len(nodes))
        own = sp.csr_array((ones, nodes, np.arange(len(nodes) + 1)), shape=(len(nodes), self.num_nodes))
        one_hop = _scaled(neighbours[nodes] + own, None, scale * scale)
        return _scaled(one_hop @ neighbours + one_hop, scale[nodes], scale)

    def take_touched(self) -> Tensor:
        """The nodes within two hops of an edge removed since the last call, N booleans: their row of Â² has changed."""
        near = self.touched
        for _ in range(2):
            near = near + self.adjacency @ near
        self.touched = torch.zeros_like(self.touched)
        return near.squeeze(1) > 0


def _scaled(matrix: sp.csr_array, rows: np.ndarray | None, columns: np.ndarray) -> sp.csr_array:
    """diag(rows)·matrix·diag(columns), in place."""
    matrix.data *= columns[matrix.indices]
    if rows is not None:
        matrix.data *= np.repeat(rows, np.diff(matrix.indptr))
    return matrix


class Attributes:
    """X as a sparse operator: X·W and Xᵀ·G; the identity where the graph has no attributes."""

    def __init__(self, graph: Graph, *, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu") -> None:
        self.matrix = graph.attributes
        self.dtype, self.device = dtype, torch.device(device)
        self.num_columns = graph.num_nodes if self.matrix is None else graph.num_attributes
        lengths = 1.0 if self.matrix is None else float(np.square(self.matrix.data).sum()) / graph.num_nodes
        self.mean_square = lengths or 1.0
        """The mean of ‖x_i‖², which penalties on W are measured in."""
        if self.matrix is not None:
            self._forward = csr(self.matrix, dtype, device)
            self._backward = csr(self.matrix.T.tocsr(), dtype, device)

    def times(self, weights: Tensor) -> Tensor:
        """X·W, N × columns of W."""
        return weights if self.matrix is None else self._forward @ weights

    def dense(self) -> Tensor:
        """X itself as a dense tensor, N × F."""
        return self.times(torch.eye(self.num_columns, dtype=self.dtype, device=self.device))

    def transposed_times(self, values: Tensor) -> Tensor:
        """Xᵀ·G, F × columns of G."""
        return values if self.matrix is None else self._backward @ values

    def rows_of(self, operator: sp.csr_array) -> Tensor:
        """operator·X as a dense tensor, for an operator with few rows."""
        product = operator if self.matrix is None else operator @ self.matrix
        return torch.from_numpy(product.toarray()).to(self.device, self.dtype)

    def products(self, edges: np.ndarray) -> np.ndarray:
        """x_u·x_v for E edges."""
        if self.matrix is None:
            return np.zeros(len(edges))
        chunks = [edges[start : start + _CHUNK] for start in range(0, len(edges), _CHUNK)]
        products = [self.matrix[part[:, 0]].multiply(self.matrix[part[:, 1]]).sum(axis=1) for part in chunks]
        return np.concatenate([np.zeros(0), *products])
