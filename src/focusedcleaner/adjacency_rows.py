"""The adjacency of a graph by rows, in memory or in a graph folder, and the blocks in which it is computed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

BLOCK_ENTRIES = 2**18
"""Entries of the adjacency in one block of rows, at most about. Graphs of up to 130,000 edges have one block."""
FEWEST_BLOCKS = 16
"""Blocks of a graph that has several, about: enough to keep a few threads equally busy."""
ARRAYS = ("edges", "indptr", "indices", "entry_edges")
"""The arrays of an adjacency, which a graph folder holds as NAME.npy."""


@dataclass(frozen=True, eq=False)
class AdjacencyRows:
    """The symmetric adjacency of E edges over N nodes in CSR form; the arrays may be memory-mapped.

    The blocks depend on the graph alone, never on the machine: sums over blocks are added in their order, so that any
    number of threads or workers gives the same digits.
    """

    edges: NDArray[np.int64]
    """E × 2 node numbers u < v, sorted."""
    indptr: NDArray[np.int64]
    """N + 1 positions: row i has the entries from ``indptr[i]`` to ``indptr[i + 1]``."""
    indices: NDArray[np.int32]
    """2E columns, sorted in each row."""
    entry_edges: NDArray[Any]
    """2E edge numbers: the edge that each entry belongs to."""
    folder: str | None = None
    """The graph folder that holds the arrays, if one does. A copy for another process is then opened there."""
    checksum: str | None = None
    """The checksum of the folder's arrays."""

    @classmethod
    def of(cls, num_nodes: int, edges: NDArray[np.int64]) -> AdjacencyRows:
        """Sort the entries of E edges (E × 2, u < v, sorted).

        >>> rows = AdjacencyRows.of(3, np.array([[0, 1], [1, 2]]))
        >>> rows.indptr, rows.indices, rows.entry_edges
        (array([0, 1, 3, 4]), array([1, 0, 2, 1], dtype=int32), array([0, 0, 1, 1], dtype=int32))
        """
        u, v = edges.T
        numbers = np.arange(1, len(edges) + 1, dtype=np.int32 if len(edges) < 2**31 - 1 else np.int64)  # 0 is no entry
        starts = np.concatenate([[0], np.cumsum(np.bincount(u, minlength=num_nodes))])
        upper = sp.csr_array((numbers, v.astype(np.int32), starts), shape=(num_nodes, num_nodes))
        whole = sp.csr_array(upper + upper.T.tocsr())
        indptr, indices = whole.indptr.astype(np.int64), whole.indices.astype(np.int32, copy=False)
        return cls(edges, indptr, indices, whole.data - 1)

    @property
    def num_nodes(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first row of each block, and N at the end."""
        return block_starts(self.indptr, fewest=FEWEST_BLOCKS)

    def __reduce__(self) -> Any:
        if self.folder is None:
            return AdjacencyRows, (self.edges, self.indptr, self.indices, self.entry_edges)
        return open_rows, (self.folder, self.checksum)


@lru_cache(maxsize=4)
def open_rows(folder: str, checksum: str | None) -> AdjacencyRows:
    """Map the arrays of a graph folder into memory; they are not checked."""
    arrays = {name: np.load(Path(folder) / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
    return AdjacencyRows(**arrays, folder=folder, checksum=checksum)


class StoredNames(Sequence[Any]):
    """The different ids of nodes as a column: whole numbers as an array, texts as a polars `Series`.

    Text ids may be given by a function, which is called when the first of them is asked for.

    >>> names = StoredNames(np.array([3, 5, 8]))
    >>> names[1], list(names), names == (3, 5, 8)
    (5, [3, 5, 8], True)
    """

    def __init__(self, ids: NDArray[np.int64] | Callable[[], Any]) -> None:
        self._ids = ids

    @property
    def numbers(self) -> NDArray[np.int64] | None:
        """The ids, if they are whole numbers."""
        return self._ids if isinstance(self._ids, np.ndarray) else None

    @cached_property
    def column(self) -> Any:
        """The ids as an array or a `Series`."""
        return self._ids if isinstance(self._ids, np.ndarray) else self._ids()

    def order(self) -> NDArray[np.int64]:
        """The positions of the ids in sorted order."""
        if (numbers := self.numbers) is None:
            return np.asarray(self.column.arg_sort(), dtype=np.int64)
        if (numbers[1:] > numbers[:-1]).all():
            return np.arange(len(numbers))
        return np.argsort(numbers, kind="stable")

    def take(self, nodes: NDArray[np.int64]) -> StoredNames:
        """The ids of some nodes."""
        column = self.column[nodes]
        return StoredNames(column if isinstance(column, np.ndarray) else partial(_same, column))

    def __len__(self) -> int:
        return len(self.column)

    def __getitem__(self, node: Any) -> Any:
        if isinstance(node, slice):
            values = self.column[node]
            return values.tolist() if isinstance(values, np.ndarray) else values.to_list()
        value = self.column[int(node)]
        return value if isinstance(value, str) else int(value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StoredNames) and self.numbers is not None and other.numbers is not None:
            return np.array_equal(self.numbers, other.numbers)
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]


def _same(value: Any) -> Any:
    return value


def block_starts(indptr: NDArray[np.integer], fewest: int = 1) -> NDArray[np.int64]:
    """The first row of each block of about as many entries, and the number of rows at the end.

    There is one block of up to `BLOCK_ENTRIES` entries, or else about ``fewest`` at least.

    >>> block_starts(np.array([0, 3, 5]))
    array([0, 2])
    """
    num_rows = len(indptr) - 1
    # An empty row counts, too: dense matrices have a row for each node.
    cost = np.asarray(indptr[1:], dtype=np.int64) + np.arange(1, num_rows + 1)
    total = int(cost[-1]) if num_rows else 0
    size = BLOCK_ENTRIES if total <= BLOCK_ENTRIES else min(BLOCK_ENTRIES, total // fewest + 1)
    cuts = np.searchsorted(cost, np.arange(size, total, size)) + 1
    return np.unique(np.concatenate([[0], np.minimum(cuts, num_rows), [num_rows]])).astype(np.int64)
