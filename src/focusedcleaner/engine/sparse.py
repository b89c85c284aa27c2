"""Sparse matrices: conversion to torch, products and nearest neighbours of rows, leading eigenpairs."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh
from torch import Tensor

from focusedcleaner.engine.parallel import map_parts
from focusedcleaner.graph import FloatArray, Graph, IntArray

_BATCH, _BATCH_ENTRIES = 50_000, 20_000_000
"""Pairs, and entries of their rows, gathered at once."""
_PAIRS = 2**14
"""Pairs that one thread takes at once."""
_LONG, _UNEVEN = 1000, 16
"""A row with more entries than the first and than the second times the other's is looked up, not gathered."""
_FILLED, _FULLER = 0.1, 3
"""A matrix with this share of entries is stored densely; rows this much longer than the others are made dense."""
_CACHED = 4_000_000
"""Entries of dense rows gathered at once: what the processor's cache can hold is faster."""
_BLOCK = 512
"""Rows whose products with all others are computed at once."""
_DENSE = 500
"""Size up to which a full eigendecomposition is faster than a partial one."""
_STEPS, _SPARE = 20, 8
"""Power steps of a subspace iteration, and its columns beyond those that are wanted."""


def _take_warnings() -> None:
    """Let torch warn now, unheard, that CSR is in beta and that arrays may be read-only: it says either only once.

    To filter each time would not be safe in threads.
    """
    frozen = np.zeros(1, dtype=np.int32)
    frozen.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.sparse_csr_tensor(torch.zeros(2, dtype=torch.int32), torch.from_numpy(frozen)[:0], torch.zeros(0), (1, 1))


_take_warnings()


def csr_tensor(row_starts: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a torch CSR tensor; its parts are neither checked nor copied."""
    return torch.sparse_csr_tensor(row_starts, columns, values, size=shape)


def csr_indices(indices: NDArray[np.integer], largest: int) -> Tensor:
    """Return indices as int32 where ``largest`` fits: MKL would convert int64 indices at every product."""
    return torch.from_numpy(indices.astype(np.int32 if largest < 2**31 else np.int64))


def to_torch(matrix: sp.csr_array, dtype: torch.dtype) -> Tensor:
    """Convert a scipy CSR matrix to a torch CSR tensor."""
    largest = max(*matrix.shape, matrix.nnz)
    values = torch.from_numpy(matrix.data.copy()).to(dtype)
    return csr_tensor(csr_indices(matrix.indptr, largest), csr_indices(matrix.indices, largest), values, matrix.shape)


def row_norms(matrix: sp.csr_array) -> FloatArray:
    """Return the Euclidean length of each row."""
    return np.sqrt(row_squares(matrix))


def row_squares(matrix: sp.csr_array) -> FloatArray:
    """Return the sum of the squares in each row.

    >>> row_squares(sp.csr_array([[3.0, 4.0], [0.0, 0.0]]))
    array([25.,  0.])
    """
    squares = sp.csr_array((np.square(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    sums: FloatArray = squares.sum(axis=1)
    return sums


def unit_rows(matrix: sp.csr_array) -> sp.csr_array:
    """Scale each row to length 1; rows of zeros stay zero.

    >>> unit_rows(sp.csr_array([[3.0, 4.0], [0.0, 0.0]])).toarray()
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    norms = row_norms(matrix)
    return sp.csr_array(sp.diags_array(1 / np.where(norms > 0, norms, 1.0)) @ matrix)


def unit_profiles(graph: Graph) -> sp.csr_array:
    """Return the attributes, or the rows of A + I where the graph has none, scaled to length 1 (N × F or N × N)."""
    if graph.features is not None:
        return unit_rows(graph.features)
    return unit_rows(graph.adjacency() + sp.eye_array(graph.num_nodes, format="csr"))


def product_blocks(left: sp.csr_array, right: sp.csr_array, rows: IntArray) -> list[IntArray]:
    """Split row numbers so that the rows of left·right in each part fit into memory; one part if all of them do.

    >>> product_blocks(sp.csr_array(np.eye(2)), sp.csr_array(np.eye(2)), np.array([0, 1]))
    [array([0, 1])]
    """
    pattern = sp.csr_array((np.ones(left.nnz), left.indices, left.indptr), shape=left.shape)
    sizes = np.minimum(pattern @ np.diff(right.indptr), right.shape[1])[rows]
    return np.split(rows, np.flatnonzero(np.diff(np.cumsum(sizes) // _BATCH_ENTRIES)) + 1)


def filled(matrix: sp.csr_array) -> sp.csr_array | FloatArray:
    """Return a dense array instead of a sparse matrix that is mostly filled: its products are faster."""
    size = matrix.shape[0] * matrix.shape[1]
    return matrix.toarray() if matrix.nnz >= _FILLED * size and size <= _BATCH_ENTRIES else matrix


def row_products(left: sp.csr_array | FloatArray, right: sp.csr_array | FloatArray, pairs: IntArray) -> FloatArray:
    """Return left_u·right_v for every pair (u, v) of P × 2 row numbers; both matrices are sparse, or both dense.

    >>> matrix = sp.csr_array([[1.0, 2.0], [3.0, 0.0]])
    >>> row_products(matrix, matrix, np.array([[0, 1], [1, 1]]))
    array([3., 9.])
    """
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        size = max(1, _CACHED // left.shape[1])
        batches = np.split(pairs, range(size, len(pairs), size))
        return np.concatenate([np.einsum("ij,ij->i", left[u], right[v]) for u, v in (batch.T for batch in batches)])
    if right.nnz > _FULLER * left.nnz:
        return _products_with_fuller_rows(left, right, pairs)
    parts = np.split(pairs, range(_PAIRS, len(pairs), _PAIRS))
    return np.concatenate(map_parts(_shared_sums, parts, left, right))


def _shared_sums(pairs: IntArray, left: sp.csr_array, right: sp.csr_array) -> FloatArray:
    return np.concatenate([part.sum(axis=1) for part in shared_entries(left, right, pairs)])


def _products_with_fuller_rows(left: sp.csr_array, right: sp.csr_array, pairs: IntArray) -> FloatArray:
    """Return left_u·right_v, with the entries of left_u looked up in a dense right_v, block by block of rows v."""
    result, width = np.zeros(len(pairs)), right.shape[1]
    order = np.argsort(pairs[:, 1], kind="stable")
    row, column = pairs[order].T
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    cost = np.cumsum(np.diff(left.indptr)[row]) + np.cumsum(np.diff(column, prepend=-1) > 0) * width
    for batch in np.split(np.arange(len(order)), starts[np.flatnonzero(np.diff(cost[starts] // _CACHED)) + 1]):
        rows, place = np.unique(column[batch], return_inverse=True)
        entries = left[row[batch]]
        of_pair = np.repeat(np.arange(len(batch)), np.diff(entries.indptr))
        looked_up = right[rows].toarray()[place[of_pair], entries.indices]
        result[order[batch]] = np.bincount(of_pair, looked_up * entries.data, len(batch))
    return result


def shared_entries(left: sp.csr_array, right: sp.csr_array, pairs: IntArray) -> Iterator[sp.csr_array]:
    """Yield left_u ∘ right_v of P × 2 row numbers, a row per pair (u, v), in batches that fit into memory.

    An empty list gives one empty batch.
    """
    lengths = np.diff(left.indptr)[pairs[:, 0]].astype(np.int64), np.diff(right.indptr)[pairs[:, 1]].astype(np.int64)
    shorter, longer = np.minimum(*lengths), np.maximum(*lengths)
    sorted_ = left.has_sorted_indices and right.has_sorted_indices
    uneven = (longer > _LONG) & (longer > _UNEVEN * shorter) & sorted_
    # A long row is not copied for every pair of a hub: the few entries of the other one are looked up in it.
    ends = np.cumsum(np.where(uneven, shorter, shorter + longer) + _BATCH_ENTRIES // _BATCH)
    start = 0
    while start == 0 or start < len(pairs):
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + _BATCH_ENTRIES, side="right")), start + 1)
        batch, odd = pairs[start:stop], uneven[start:stop]
        if odd.any():
            yield _looked_up(left, right, batch, lengths[0][start:stop] <= lengths[1][start:stop])
        else:
            yield left[batch[:, 0]].multiply(right[batch[:, 1]])
        start = stop


def _looked_up(left: sp.csr_array, right: sp.csr_array, pairs: IntArray, by_left: NDArray[np.bool_]) -> sp.csr_array:
    """Return left_u ∘ right_v row by row, with the entries of one row looked up in the other."""
    width = left.shape[1]
    found: list[tuple[IntArray, IntArray, FloatArray]] = []
    for few, many, (one, other), chosen in (
        (left, right, (0, 1), np.flatnonzero(by_left)),
        (right, left, (1, 0), np.flatnonzero(~by_left)),
    ):
        if not len(chosen):
            continue
        entries = few[pairs[chosen, one]]
        of_pair = np.repeat(chosen, np.diff(entries.indptr))
        rows, of_row = np.unique(pairs[chosen, other], return_inverse=True)
        longer = many[rows]
        keys = np.repeat(np.arange(len(rows)), np.diff(longer.indptr)) * width + longer.indices
        wanted = np.repeat(of_row, np.diff(entries.indptr)) * width + entries.indices
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        hit = keys[place] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
        found.append((of_pair[hit], entries.indices[hit], entries.data[hit] * longer.data[place[hit]]))
    rows, columns, values = (np.concatenate(part) for part in zip(*found, strict=True))
    return sp.coo_array((values, (rows, columns)), shape=(len(pairs), width)).tocsr()


def nearest_neighbours(units: sp.csr_array, count: int) -> tuple[IntArray, FloatArray]:
    """Find, for each row of length 1 or 0 (N × F), the ``count`` other rows with the largest cosine above 0.

    Rows that share an attribute with fewer others have fewer neighbours. Ties go to the smaller row number. Return the
    pairs (row, neighbour), n × 2, and their cosines.
    """
    columns = sp.csr_array(units.T)
    found = [_block_neighbours(units, columns, start, count) for start in range(0, units.shape[0], _BLOCK)]
    return np.concatenate([pairs for pairs, _ in found]), np.concatenate([values for _, values in found])


def _block_neighbours(
    units: sp.csr_array, columns: sp.csr_array, start: int, count: int
) -> tuple[IntArray, FloatArray]:
    block = sp.coo_array(units[start : start + _BLOCK] @ columns)
    rows, others, values = block.coords[0].astype(np.int64), block.coords[1].astype(np.int64), block.data
    usable = (rows + start != others) & (values > 0)
    rows, others, values = rows[usable], others[usable], values[usable]
    # The order of summation may change the last digit of equal cosines.
    rounded = values.round(12)
    candidates = np.flatnonzero(rounded >= _count_th_largest(rows, rounded, count)[rows])
    order = candidates[np.lexsort((others[candidates], -rounded[candidates], rows[candidates]))]
    rows, others, values = rows[order], others[order], values[order]
    sizes = np.bincount(rows, minlength=_BLOCK)
    rank = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[rows]
    kept = rank < count
    return np.stack([rows[kept] + start, others[kept]], axis=1), values[kept]


def _count_th_largest(rows: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Return the ``count``-th largest value of each row of a block, 0 where there are fewer; ``rows`` are sorted."""
    ends = np.searchsorted(rows, np.arange(_BLOCK + 1))
    parts = [values[start:end] for start, end in itertools.pairwise(ends)]
    return np.array([np.partition(part, -count)[-count] if len(part) >= count else 0.0 for part in parts])


def leading_eigenpairs(matrix: sp.csr_array, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the ``count`` eigenvalues of largest modulus, largest first, of a symmetric matrix, and their eigenvectors
    as columns."""
    size = matrix.shape[0]
    if size <= max(_DENSE, 2 * count):
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, k=count, which="LM", v0=np.ones(size))
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    return values[order], vectors[:, order]


def leading_subspace(matrix: sp.csr_array, count: int) -> tuple[FloatArray, FloatArray]:
    """Return nearly the same as `leading_eigenpairs`, in large matrices by some power steps from a seeded start.

    Eigenvalues that are close to the first one left out are not separated from it. In return the result is the same at
    every call and the time is bounded, also if eigenvalues are equal, where a Lanczos method draws random vectors or
    converges slowly. Halko, Martinsson, Tropp: "Finding Structure with Randomness", SIAM Review 2011
    (https://arxiv.org/abs/0909.4061).
    """
    size = matrix.shape[0]
    if size <= max(_DENSE, 2 * count):
        return leading_eigenpairs(matrix, count)
    block = np.random.default_rng(0).standard_normal((size, count + _SPARE))
    for _ in range(_STEPS):
        block = np.linalg.qr(matrix @ block).Q
    values, rotation = np.linalg.eigh(block.T @ (matrix @ block))
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    return values[order], block @ rotation[:, order]
