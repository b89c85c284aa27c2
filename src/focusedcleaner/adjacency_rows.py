"""The adjacency of a graph by rows, in memory or in a graph folder, and the blocks in which it is computed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
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
        kind = np.int32 if len(edges) < 2**31 else np.int64
        numbers = np.arange(len(edges), dtype=kind)
        by_larger = np.argsort(v, kind="stable")  # the edges are sorted by u already
        smaller, larger = np.bincount(v, minlength=num_nodes), np.bincount(u, minlength=num_nodes)
        indptr = np.concatenate([[0], np.cumsum(smaller + larger)])
        indices, entry_edges = np.empty(2 * len(edges), dtype=np.int32), np.empty(2 * len(edges), dtype=kind)
        # A row holds its smaller neighbours first, then its larger ones.
        below = np.arange(len(edges)) + (indptr[:-1] - (np.cumsum(smaller) - smaller))[v[by_larger]]
        above = np.arange(len(edges)) + (indptr[:-1] + smaller - (np.cumsum(larger) - larger))[u]
        indices[below], entry_edges[below] = u[by_larger], numbers[by_larger]
        indices[above], entry_edges[above] = v, numbers
        return cls(edges, indptr, indices, entry_edges)

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
    """The ids of the nodes of a graph folder, different and in order, which are read when they are asked for.

    >>> names = StoredNames(np.array([3, 5, 8]))
    >>> names[1], list(names), names == (3, 5, 8)
    (5, [3, 5, 8], True)
    """

    def __init__(self, ids: NDArray[np.int64] | Callable[[], Sequence[str]]) -> None:
        self._ids = ids

    @cached_property
    def _values(self) -> NDArray[np.int64] | Sequence[str]:
        return self._ids if isinstance(self._ids, np.ndarray) else self._ids()

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, node: Any) -> Any:
        value = self._values[node]
        return value if isinstance(value, str) else value.tolist() if isinstance(node, slice) else int(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]


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
