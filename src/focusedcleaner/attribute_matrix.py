"""Node attributes: a read-only matrix of the user's own numbers, and the same on one scale, as every method sees it."""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from focusedcleaner.errors import InputError

LARGEST = 4.0
"""Scaled attributes lie within ± this many spreads or medians of their column."""


class StoredAttributes(NamedTuple):
    """Where a graph folder's scaled attributes are."""

    folder: str
    checksum: str | None
    num_columns: int


class AttributeMatrix(sp.csr_array):
    """Finite attributes, N × F, read-only, with their scaled form, which is computed once.

    >>> AttributeMatrix.frozen([[2000.0, 0.0], [0.0, 3.0]], 2).features.toarray()
    array([[1., 0.],
           [0., 1.]])
    """

    stored: ClassVar[StoredAttributes | None] = None
    """Where a graph folder holds the matrix, if one does; set on the instance."""

    @classmethod
    def frozen(cls, attributes: Any, num_nodes: int) -> AttributeMatrix:
        """Copy attributes (anything array-like or sparse) and check them; a frozen matrix is returned as it is."""
        if isinstance(attributes, cls) and not attributes.data.flags.writeable:
            matrix = attributes
        else:
            try:
                matrix = cls(attributes, dtype=np.float64, copy=True)
            except (TypeError, ValueError) as error:
                raise InputError(f"attributes can't be read as numbers: {error}") from None
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
        if matrix.shape[0] != num_nodes:
            raise InputError(f"there are attributes for {matrix.shape[0]} nodes, but the graph has {num_nodes}")
        wrong = ~np.isfinite(matrix.data)
        if wrong.any():
            node = int(np.searchsorted(matrix.indptr, np.flatnonzero(wrong)[0], side="right") - 1)
            raise InputError(f"attributes must be finite: node {node} has a NaN or an infinity ({wrong.sum()} in all)")
        for array in (matrix.data, matrix.indices, matrix.indptr):
            array.flags.writeable = False
        return matrix

    @cached_property
    def features(self) -> sp.csr_array | None:
        """The attributes on one scale (`scaled`), or None where they don't tell any two nodes apart."""
        return scaled(self)

    @cached_property
    def column_scales(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The columns that aren't empty, and the median modulus of the non-zero values of each."""
        columns, place = np.unique(self.indices, return_inverse=True)
        return columns.astype(np.int64), _Columns(np.abs(self.data), place, len(columns)).median()


@lru_cache(maxsize=4)
def open_attributes(stored: StoredAttributes) -> AttributeMatrix:
    """Map the attributes of a graph folder into memory; they are not checked."""
    names = ("x_data", "x_indices", "x_indptr")
    data, indices, indptr = (np.load(Path(stored.folder) / f"{name}.npy", mmap_mode="r") for name in names)
    matrix = AttributeMatrix((data, indices, indptr), shape=(len(indptr) - 1, stored.num_columns))
    matrix.__dict__["features"] = matrix  # they were scaled when they were written
    matrix.__dict__["stored"] = stored
    return matrix


def scaled(matrix: sp.csr_array) -> sp.csr_array | None:
    """Return attributes (N × F) on one scale, which doesn't depend on the units of the columns.

    - A 0/1 matrix is returned as it is.
    - A matrix with one non-zero value in each column becomes 0/1: 1,000·X gives X.
    - In any other matrix, a column with one non-zero value becomes 0/1, or 0 if it is constant; a *sparse* column, with
      at most half of its values non-zero, is divided by the median modulus of these; a *dense* column is centred at its
      median and divided by its interquartile range or, where that is 0, its mean absolute deviation. Values are clipped
      at ± `LARGEST`.

    Empty columns are dropped if there are more columns than entries: a width of 10⁹ costs nothing. None is returned if
    all rows are equal.

    >>> ages = [[18.0, 0.0], [40.0, 1.0], [62.0, 0.0]]
    >>> scaled(sp.csr_array(ages)).toarray()
    array([[-0.5,  0. ],
           [ 0. ,  1. ],
           [ 0.5,  0. ]])
    """
    if matrix.shape[1] > matrix.nnz:
        columns, place = np.unique(matrix.indices, return_inverse=True)
        matrix = sp.csr_array((matrix.data, place, matrix.indptr), shape=(matrix.shape[0], len(columns)))
    if not (matrix.data == 1).all():
        matrix = _scaled_columns(matrix)
    return matrix if _tells_apart(matrix) else None


def _tells_apart(matrix: sp.csr_array) -> bool:
    """Whether any two rows differ."""
    if matrix.nnz < matrix.shape[0] * len(np.unique(matrix.indices)):
        return True  # a column that some rows have and others don't
    rows = matrix.data.reshape(matrix.shape[0], -1)
    return bool((rows != rows[0]).any())


def _scaled_columns(matrix: sp.csr_array) -> sp.csr_array:
    num_nodes, width = matrix.shape
    largest = np.zeros(width)
    np.maximum.at(largest, matrix.indices, np.abs(matrix.data))
    # Powers of two divide exactly; afterwards neither differences nor squares overflow.
    values = np.ldexp(matrix.data, -np.frexp(largest)[1][matrix.indices])
    columns = _Columns(values, matrix.indices, width)
    two_valued = columns.smallest == columns.largest
    if two_valued[columns.sizes > 0].all():
        return sp.csr_array((np.sign(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    divisor = np.where(two_valued, np.abs(columns.largest), _Columns(np.abs(values), matrix.indices, width).median())
    dense = ~two_valued & (2 * columns.sizes > num_nodes)
    dropped = dense | (two_valued & (columns.sizes == num_nodes))
    data = np.where(dropped[matrix.indices], 0.0, _ratio(values, divisor[matrix.indices]))
    sparse = sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    result = sp.csr_array(sparse + _centred(values, matrix, columns, np.flatnonzero(dense)))
    result.eliminate_zeros()
    return result


def _centred(
    values: NDArray[np.float64], matrix: sp.csr_array, columns: _Columns, dense: NDArray[np.int64]
) -> sp.csr_array:
    """Return the dense columns, centred and divided by their spread; the others are empty."""
    num_nodes, width = matrix.shape
    lower, middle, upper = (columns.quantile(quarter, num_nodes)[dense] for quarter in (1, 2, 3))
    place = np.full(width, -1)
    place[dense] = np.arange(len(dense))
    table = np.zeros((num_nodes, len(dense)))
    rows = np.repeat(np.arange(num_nodes), np.diff(matrix.indptr))
    chosen = place[matrix.indices] >= 0
    table[rows[chosen], place[matrix.indices[chosen]]] = values[chosen]
    table -= middle
    spread = upper - lower
    narrow = spread == 0
    # Sorted, so that the sum doesn't depend on the order of the nodes.
    spread[narrow] = np.sort(np.abs(table[:, narrow]), axis=0).mean(axis=0)
    centred = sp.csr_array(_ratio(table, spread))
    return sp.csr_array((centred.data, dense[centred.indices], centred.indptr), shape=matrix.shape)


def _ratio(values: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values/scale within ± `LARGEST`, and 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.clip(np.nan_to_num(values / scale, nan=0.0), -LARGEST, LARGEST)


class _Columns:
    """The non-zero values of each of F columns, sorted: order statistics without interpolation."""

    def __init__(self, values: NDArray[np.float64], columns: NDArray[np.integer], width: int) -> None:
        self.sizes = np.bincount(columns, minlength=width)
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.sorted = np.append(values[np.lexsort((values, columns))], 0.0)
        self.negative = np.bincount(columns[values < 0], minlength=width)

    @property
    def smallest(self) -> NDArray[np.float64]:
        return self._at(np.zeros_like(self.sizes))

    @property
    def largest(self) -> NDArray[np.float64]:
        return self._at(self.sizes - 1)

    def median(self) -> NDArray[np.float64]:
        """The lower median of the non-zero values, F numbers; 0 for an empty column."""
        return self._at((self.sizes - 1) // 2)

    def quantile(self, quarter: int, num_nodes: int) -> NDArray[np.float64]:
        """The first, second or third quartile of all N values, zeros included."""
        lower = (num_nodes - 1) // 4
        rank = {1: lower, 2: (num_nodes - 1) // 2, 3: num_nodes - 1 - lower}[quarter]
        zeros = num_nodes - self.sizes
        is_zero = (rank >= self.negative) & (rank < self.negative + zeros)
        return np.where(is_zero, 0.0, self._at(np.where(rank < self.negative, rank, rank - zeros)))

    def _at(self, rank: NDArray[np.integer]) -> NDArray[np.float64]:
        """The value of this rank, from 0, in each column; 0 where the column has none."""
        valid = (rank >= 0) & (rank < self.sizes)
        return self.sorted[np.where(valid, self.starts + rank, -1)]
