"""Node attributes: a read-only matrix of the user's own numbers, and the same on one scale, as every method sees it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from focusedcleaner.errors import InputError

LARGEST = 4.0
"""Scaled attributes lie within ± this many spreads or medians of their column."""
PART = 2**22
"""Entries that are scaled at once."""
FEW = 2**14
"""Columns that are sorted one by one in a large matrix."""


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
        matrix = attributes if isinstance(attributes, cls) else None
        if matrix is None or matrix.data.flags.writeable:
            try:
                matrix = cls(attributes, dtype=np.float64, copy=True)
            except (TypeError, ValueError) as error:
                raise InputError(f"attributes can't be read as numbers: {error}") from None
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            matrix.freeze()
        if matrix.shape[0] != num_nodes:
            raise InputError(f"there are attributes for {matrix.shape[0]} nodes, but the graph has {num_nodes}")
        return matrix

    def freeze(self) -> Self:
        """Make a matrix without repeated or zero entries read-only, once it is clear that its values are finite."""
        wrong = ~np.isfinite(self.data)
        if wrong.any():
            node = int(np.searchsorted(self.indptr, np.flatnonzero(wrong)[0], side="right") - 1)
            raise InputError(f"attributes must be finite: node {node} has a NaN or an infinity ({wrong.sum()} in all)")
        for array in (self.data, self.indices, self.indptr):
            array.flags.writeable = False
        return self

    @cached_property
    def features(self) -> sp.csr_array | None:
        """The attributes on one scale (`scaled`), or None where they don't tell any two nodes apart."""
        return scaled(self)

    @cached_property
    def column_scales(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The columns that aren't empty, and the median modulus of the non-zero values of each."""
        columns, place = _used_columns(self)
        used = sp.csr_array((np.abs(self.data), place, self.indptr), shape=(self.shape[0], len(columns)))
        return columns, _Columns.of(used, np.zeros(len(columns), dtype=np.int64)).median()


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

    - A constant column becomes 0.
    - A 0/1 matrix is otherwise returned as it is.
    - A matrix with one non-zero value in each column becomes 0/1: 1,000·X gives X.
    - In any other matrix, a column with one non-zero value becomes 0/1; a *sparse* column, with
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
        columns, place = _used_columns(matrix)
        matrix = sp.csr_array((matrix.data, place, matrix.indptr), shape=(matrix.shape[0], len(columns)))
    if not (matrix.data == 1).all():
        matrix = _scaled_columns(matrix)
    return _without_constant_columns(matrix) if _tells_apart(matrix) else None


def _without_constant_columns(matrix: sp.csr_array) -> sp.csr_array:
    """The matrix with 0 in columns of one value; the same object if there are none."""
    num_nodes, width = matrix.shape
    first = np.zeros(width)
    first[matrix.indices[: matrix.indptr[1]]] = matrix.data[: matrix.indptr[1]]
    equal = matrix.indices[matrix.data == first[matrix.indices]]
    constant = np.bincount(equal, minlength=width) == num_nodes
    if not constant.any():
        return matrix
    data = np.where(constant[matrix.indices], 0.0, matrix.data)
    result = sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
    result.eliminate_zeros()
    return result


def _used_columns(matrix: sp.csr_array) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
    """The columns that aren't empty, and which of them each entry is in."""
    if matrix.shape[1] > max(matrix.nnz, FEW):
        columns, place = np.unique(matrix.indices, return_inverse=True)
        return columns.astype(np.int64), place
    used = np.bincount(matrix.indices, minlength=matrix.shape[1]) > 0
    return np.flatnonzero(used), (np.cumsum(used) - 1).astype(np.int32)[matrix.indices]


def _tells_apart(matrix: sp.csr_array) -> bool:
    """Whether any two rows differ."""
    if matrix.nnz < matrix.shape[0] * np.count_nonzero(np.bincount(matrix.indices)):
        return True  # a column that some rows have and others don't
    rows = matrix.data.reshape(matrix.shape[0], -1)
    return bool((rows != rows[0]).any())


def _scaled_columns(matrix: sp.csr_array) -> sp.csr_array:
    largest = np.zeros(matrix.shape[1])
    np.maximum.at(largest, matrix.indices, np.abs(matrix.data))
    # Powers of two divide exactly; afterwards neither differences nor squares overflow.
    powers = -np.frexp(largest)[1]
    columns = _Columns.of(matrix, powers)
    two_valued = columns.smallest == columns.largest
    if two_valued[columns.sizes > 0].all():
        return sp.csr_array((np.sign(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    scales = _Scales.of(matrix, powers, columns, two_valued)
    del columns  # as large as the matrix
    parts = [scales.applied(matrix[start : start + size]) for start, size in _row_parts(matrix)]
    return parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")


def _row_parts(matrix: sp.csr_array) -> Iterator[tuple[int, int]]:
    """Yield the first row and the number of rows of parts with about `PART` entries."""
    size = max(1, -(-matrix.shape[0] * PART // max(matrix.nnz, 1)))
    for start in range(0, matrix.shape[0], size):
        yield start, size


@dataclass(frozen=True)
class _Scales:
    """What is done to the values of each of F columns."""

    powers: NDArray[np.integer]
    """Of two, by which all values are multiplied first."""
    divisor: NDArray[np.float64]
    """Of values in sparse columns."""
    dropped: NDArray[np.bool_]
    """Columns whose values become 0: dense ones, which are added centred, and constant ones."""
    dense: NDArray[np.int64]
    """The numbers of the dense columns."""
    middle: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(
        cls, matrix: sp.csr_array, powers: NDArray[np.integer], columns: _Columns, two_valued: NDArray[np.bool_]
    ) -> _Scales:
        num_nodes = matrix.shape[0]
        is_dense = ~two_valued & (2 * columns.sizes > num_nodes)
        dense = np.flatnonzero(is_dense)
        lower, middle, upper = (columns.quantile(quarter, num_nodes)[dense] for quarter in (1, 2, 3))
        spread, largest = upper - lower, np.abs(columns.largest)
        dropped = is_dense | (two_valued & (columns.sizes == num_nodes))
        divisor = np.where(two_valued, largest, columns.made_absolute().median())
        scales = cls(powers, divisor, dropped, dense, middle, spread)
        narrow = spread == 0
        if narrow.any():
            table = np.concatenate([scales.table(matrix[a : a + n])[:, narrow] for a, n in _row_parts(matrix)])
            # Sorted, so that the sum doesn't depend on the order of the nodes.
            spread[narrow] = np.sort(np.abs(table - middle[narrow]), axis=0).mean(axis=0)
        return scales

    def table(self, matrix: sp.csr_array) -> NDArray[np.float64]:
        """The values of the dense columns, N × dense columns."""
        place = np.full(matrix.shape[1], -1)
        place[self.dense] = np.arange(len(self.dense))
        table = np.zeros((matrix.shape[0], len(self.dense)))
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        chosen = place[matrix.indices] >= 0
        columns = matrix.indices[chosen]
        table[rows[chosen], place[columns]] = np.ldexp(matrix.data[chosen], self.powers[columns])
        return table

    def applied(self, matrix: sp.csr_array) -> sp.csr_array:
        """Some rows on one scale."""
        values = np.ldexp(matrix.data, self.powers[matrix.indices])
        data = np.where(self.dropped[matrix.indices], 0.0, _ratio(values, self.divisor[matrix.indices]))
        sparse = sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
        centred = sp.csr_array(_ratio(self.table(matrix) - self.middle, self.spread))
        columns = self.dense.astype(matrix.indices.dtype)[centred.indices]
        centred = sp.csr_array((centred.data, columns, centred.indptr), shape=matrix.shape)
        result = sp.csr_array(sparse + centred)
        result.eliminate_zeros()
        return result


def _ratio(values: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values/scale within ± `LARGEST`, and 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.clip(np.nan_to_num(values / scale, nan=0.0), -LARGEST, LARGEST)


class _Columns:
    """The non-zero values of each of F columns, sorted: order statistics without interpolation."""

    def __init__(self, values: NDArray[np.float64], sizes: NDArray[np.integer]) -> None:
        self.sizes = sizes
        self.starts = np.cumsum(sizes) - sizes
        self.sorted = values

    @classmethod
    def of(cls, matrix: sp.csr_array, powers: NDArray[np.integer]) -> _Columns:
        """Sort the columns of a matrix, each multiplied by a power of two."""
        sizes = np.bincount(matrix.indices, minlength=matrix.shape[1])
        if matrix.nnz <= PART or matrix.shape[1] > FEW:
            values = np.ldexp(matrix.data, powers[matrix.indices])
            return cls(values[np.lexsort((values, matrix.indices))], sizes)
        columns = cls(matrix.tocsc().data, sizes)
        for power, column in zip(powers, columns._segments(), strict=True):
            np.ldexp(column, power, out=column)
            column.sort()
        return columns

    def _segments(self) -> Iterator[NDArray[np.float64]]:
        for start, size in zip(self.starts.tolist(), self.sizes.tolist(), strict=True):
            yield self.sorted[start : start + size]

    def made_absolute(self) -> Self:
        """Replace all values by their moduli, in place, to save memory."""
        np.abs(self.sorted, out=self.sorted)
        if len(self.sorted) <= PART or len(self.sizes) > FEW:
            of = np.repeat(np.arange(len(self.sizes)), self.sizes)
            self.sorted = self.sorted[np.lexsort((self.sorted, of))]
        else:
            for column in self._segments():
                column.sort()
        self.__dict__.pop("negative", None)
        return self

    @cached_property
    def negative(self) -> NDArray[np.int64]:
        """The number of negative values of each column."""
        counts = np.concatenate([[0], np.cumsum(self.sorted < 0)])
        return counts[self.starts + self.sizes] - counts[self.starts]

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
        values = np.zeros(len(rank))
        values[valid] = self.sorted[(self.starts + rank)[valid]]
        return values
