"""Blocks of a graph's rows, and what is computed in one of them: with one thread, whoever computes it.

Everything here can be sent to another process. A block of a graph folder is sent as its place; the other process opens
the folder itself.
"""

from __future__ import annotations

import itertools
import os
import uuid
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from focusedcleaner.adjacency_rows import AdjacencyRows, block_starts, open_rows
from focusedcleaner.attribute_matrix import StoredAttributes, open_attributes
from focusedcleaner.engine.sparse import csr_tensor, to_torch, unit_rows

Place = tuple[str, str | None]
"""A graph folder and its checksum."""
_PROCESS, _numbers = uuid.uuid4().hex, itertools.count()


class EdgeWeights:
    """One weight per edge, never changed, under a key by which blocks recognize it."""

    def __init__(self, values: Tensor, key: str | None = None) -> None:
        self.values = values
        self.key = key or f"{_PROCESS}.{os.getpid()}.{next(_numbers)}"


class RowBlock:
    """Some rows of an adjacency, and the edges whose smaller end is one of them.

    Args:
        start: the first row.
        edges: E′ × 2, the block's edges.
        first_edge: the number of the first of them.
        indptr: n + 1 positions among the block's entries.
        columns: the column of each entry.
        entry_edges: the edge number of each entry.
        num_nodes: N.
        place: the graph folder that holds the arrays, if one does.
        position: where the middle of the block is among the entries of all blocks, from 0 to 1.

    >>> block, = row_blocks(AdjacencyRows.of(3, np.array([[0, 1], [1, 2]])))
    >>> block.times(torch.ones(3, 1), EdgeWeights(torch.tensor([1.0, 5.0]))).ravel()
    tensor([1., 6., 5.])
    """

    def __init__(
        self,
        start: int,
        edges: NDArray[np.int64],
        first_edge: int,
        indptr: NDArray[np.integer],
        columns: NDArray[np.integer],
        entry_edges: NDArray[np.integer],
        num_nodes: int,
        place: Place | None = None,
        position: float = 0.5,
    ) -> None:
        self.start, self.stop, self.num_nodes = start, start + len(indptr) - 1, num_nodes
        self.edges, self.first_edge, self.place, self.position = edges, first_edge, place, position
        self._parts = start, edges, first_edge, indptr, columns, entry_edges, num_nodes, None, position
        self._indptr, self._columns, self._entry_edges = indptr, columns, entry_edges
        self._values: dict[str, Tensor] = {}

    def __reduce__(self) -> Any:
        return (RowBlock, self._parts) if self.place is None else (_reopened, (*self.place, self.start, self.stop))

    @cached_property
    def crow(self) -> Tensor:
        """Where each row starts among the block's entries."""
        return torch.from_numpy(self._indptr.astype(np.int32))

    @property
    def columns(self) -> Tensor:
        """The column of each entry."""
        return torch.from_numpy(self._columns)

    @property
    def entry_edges(self) -> Tensor:
        """The edge of each entry."""
        return torch.from_numpy(self._entry_edges)

    def values(self, weights: EdgeWeights) -> Tensor:
        """The weight of each entry's edge. The last two are kept: most products are with the same weights."""
        known = self._values.get(weights.key)
        if known is None:
            known = weights.values.index_select(0, self.entry_edges)
            self._values = dict([*self._values.items(), (weights.key, known)][-2:])
        return known

    def matrix(self, weights: EdgeWeights) -> Tensor:
        """The rows as a CSR matrix, n × N."""
        return csr_tensor(self.crow, self.columns, self.values(weights), (self.stop - self.start, self.num_nodes))

    def times(self, matrix: Tensor, weights: EdgeWeights) -> Tensor:
        """The rows times a matrix with N rows, n × columns."""
        return self.matrix(weights) @ matrix

    @property
    def ends(self) -> tuple[Tensor, Tensor]:
        """The smaller and the larger ends of the block's edges."""
        return torch.from_numpy(self.edges[:, 0]), torch.from_numpy(self.edges[:, 1])

    def of_edges(self, values: Tensor) -> Tensor:
        """The values of the block's edges, of E values."""
        return values[self.first_edge : self.first_edge + len(self.edges)]

    def row_sums(self, weights: EdgeWeights) -> Tensor:
        """The sum of the weights in each row, n values."""
        return self.times(torch.ones(self.num_nodes, 1, dtype=weights.values.dtype), weights).squeeze(1)

    def row_maxima(self, values: Tensor) -> Tensor:
        """The largest of E edge values in each row, n values; at least 0."""
        lengths = self.crow.diff()
        entries = values.index_select(0, self.entry_edges)
        rows = torch.arange(len(lengths)).repeat_interleave(lengths)
        return values.new_zeros(len(lengths)).scatter_reduce_(0, rows, entries, "amax")

    def matrix_of(self, nodes: Tensor, weights: EdgeWeights) -> Tensor:
        """Some of the block's rows, given by their numbers in the whole, as a CSR matrix."""
        starts, ends = self.crow[nodes - self.start], self.crow[nodes - self.start + 1]
        counts = ends - starts
        firsts = counts.cumsum(0, dtype=torch.int32) - counts
        places = torch.arange(int(counts.sum())) + (starts - firsts).repeat_interleave(counts)
        crow = torch.cat([firsts, counts.sum(dtype=torch.int32).view(1)])
        return csr_tensor(crow, self.columns[places], self.values(weights)[places], (len(nodes), self.num_nodes))

    @cached_property
    def _upper_crow(self) -> Tensor:
        """Where each row starts among the block's edges."""
        counts = np.bincount(self.edges[:, 0] - self.start, minlength=self.stop - self.start)
        return torch.from_numpy(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))

    def edge_products(self, left: Tensor, right: Tensor) -> Tensor:
        """left_u·right_v of the block's edges (u, v), u < v; left has the block's rows only."""
        larger = torch.from_numpy(self.edges[:, 1].astype(np.int32))
        ones = torch.ones(len(larger), dtype=left.dtype)
        pattern = csr_tensor(self._upper_crow, larger, ones, (self.stop - self.start, self.num_nodes))
        return torch.sparse.sampled_addmm(pattern, left, right.T, beta=0.0).values()


def row_blocks(rows: AdjacencyRows) -> list[RowBlock]:
    """All blocks of an adjacency."""
    return [_row_block(rows, start, stop) for start, stop in itertools.pairwise(rows.starts.tolist())]


def _row_block(rows: AdjacencyRows, start: int, stop: int) -> RowBlock:
    first, last = int(rows.indptr[start]), int(rows.indptr[stop])
    first_edge, last_edge = np.searchsorted(rows.edges[:, 0], [start, stop]).tolist()
    return RowBlock(
        start,
        rows.edges[first_edge:last_edge],
        first_edge,
        rows.indptr[start : stop + 1] - first,
        rows.indices[first:last],
        rows.entry_edges[first:last],
        rows.num_nodes,
        None if rows.folder is None else (rows.folder, rows.checksum),
        _position(rows.indptr, start, stop),
    )


def _position(indptr: NDArray[np.integer], start: int, stop: int) -> float:
    """Where the middle of some rows is among all entries, from 0 to 1; a row counts as an entry."""
    before, until, total = (int(indptr[row]) + row for row in (start, stop, len(indptr) - 1))
    return (before + until) / 2 / total


@lru_cache(maxsize=100_000)
def _reopened(folder: str, checksum: str | None, start: int, stop: int) -> RowBlock:
    return _row_block(open_rows(folder, checksum), start, stop)


class FeatureBlock:
    """Some rows of a sparse node matrix X.

    Args:
        start: the first row.
        rows: n × F.
        dtype: of the products.
        place: the graph folder that holds the attributes, if one does, and whether the rows are scaled to length 1.
        position: where the middle of the block is among the entries of all blocks, from 0 to 1.
    """

    def __init__(
        self,
        start: int,
        rows: sp.csr_array,
        dtype: torch.dtype,
        place: tuple[StoredAttributes, bool] | None = None,
        position: float = 0.5,
    ) -> None:
        self.start, self.stop, self.rows, self.dtype = start, start + rows.shape[0], rows, dtype
        self.place, self.position = place, position

    def __reduce__(self) -> Any:  # without what was cached
        if self.place is None:
            return FeatureBlock, (self.start, self.rows, self.dtype, None, self.position)
        return _reopened_features, (*self.place, self.start, self.stop, self.dtype)

    @cached_property
    def _forward(self) -> Tensor:
        return to_torch(self.rows, self.dtype)

    @cached_property
    def _backward(self) -> Tensor:
        return to_torch(sp.csr_array(self.rows.T), self.dtype)

    def times(self, weights: Tensor) -> Tensor:
        """X·W of the block's rows."""
        return self._forward @ weights

    def transposed_times(self, values: Tensor) -> Tensor:
        """The block's part of Xᵀ·G, for its rows of G."""
        return self._backward @ values


def feature_blocks(
    matrix: sp.csr_array, dtype: torch.dtype, place: tuple[StoredAttributes, bool] | None = None
) -> list[FeatureBlock]:
    """All blocks of a node matrix, by its own entries."""
    starts = block_starts(matrix.indptr).tolist()
    return [
        FeatureBlock(start, _rows(matrix, start, stop), dtype, place, _position(matrix.indptr, start, stop))
        for start, stop in itertools.pairwise(starts)
    ]


def _rows(matrix: sp.csr_array, start: int, stop: int) -> sp.csr_array:
    """Some rows of a matrix; their columns and values are not copied."""
    indptr = matrix.indptr[start : stop + 1]
    entries = slice(int(indptr[0]), int(indptr[-1]))
    parts = matrix.data[entries], matrix.indices[entries], indptr - indptr[0]
    return sp.csr_array(parts, shape=(stop - start, matrix.shape[1]))


@lru_cache(maxsize=100_000)
def _reopened_features(stored: StoredAttributes, unit: bool, start: int, stop: int, dtype: torch.dtype) -> FeatureBlock:
    matrix = open_attributes(stored)
    rows, position = _rows(matrix, start, stop), _position(matrix.indptr, start, stop)
    return FeatureBlock(start, unit_rows(rows) if unit else rows, dtype, (stored, unit), position)
