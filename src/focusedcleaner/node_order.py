"""An order of a graph's nodes that does not depend on how they are numbered.

Random numbers, ties and rounding follow the order of the nodes. Methods therefore compute in this order, so that a file
with its rows shuffled gives the same result.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

Hashes = NDArray[np.uint64]

_ROUNDS = 32
"""Rounds of colour refinement at most; most graphs need three or four."""
_DIGITS = 3
"""Decimals of an attribute that count."""
_ENTRIES = 2**22
"""Entries of the features that are hashed at once, about."""


@dataclass(frozen=True)
class NodeOrder:
    """Nodes in another order, and the way back for what was computed in it."""

    nodes: NDArray[np.int64]
    """The node that stands at each place."""

    def places(self, nodes: ArrayLike) -> NDArray[np.int64]:
        """Return where these nodes stand, in an array of the same shape.

        >>> NodeOrder(np.array([2, 0, 1])).places([2, 1])
        array([0, 2])
        """
        return self._place[np.asarray(nodes, dtype=np.int64)]

    @cached_property
    def _place(self) -> NDArray[np.int64]:
        place = np.empty(len(self.nodes), dtype=np.int64)
        place[self.nodes] = np.arange(len(self.nodes))
        return place

    def pairs_to(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Translate P different pairs of nodes (P × 2) to pairs of places, the smaller first, sorted.

        >>> NodeOrder(np.array([2, 0, 1])).pairs_to(np.array([[0, 1], [0, 2]]))
        array([[0, 1],
               [1, 2]])
        """
        one, other = self.places(pairs).T
        keys = np.sort(np.minimum(one, other) * len(self.nodes) + np.maximum(one, other))
        return np.stack(np.divmod(keys, len(self.nodes)), axis=1)

    def pairs_back(
        self, pairs: NDArray[np.int64], columns: Mapping[str, NDArray[Any]]
    ) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
        """Translate P pairs of places (P × 2) to pairs of nodes u < v, with columns of P rows about them.

        Where the ends change sides, the columns ``NAME_u`` and ``NAME_v`` do so, too.

        >>> NodeOrder(np.array([2, 0, 1])).pairs_back(np.array([[0, 1]]), {"a_u": np.array([5]), "a_v": np.array([6])})
        (array([[0, 2]]), {'a_u': array([6]), 'a_v': array([5])})
        """
        ends = self.nodes[pairs].reshape(-1, 2)
        swapped = ends[:, 0] > ends[:, 1]
        back = dict(columns)
        for name in columns:
            other = f"{name[:-2]}_v"
            if name.endswith("_u") and other in columns:
                for one, two in ((name, other), (other, name)):
                    back[one] = columns[one].copy()
                    back[one][swapped] = columns[two][swapped]
        return np.sort(ends, axis=1), back


def order_by_name(names: Sequence[Hashable]) -> NDArray[np.int64]:
    """The positions of the names in sorted order: integers first, then text, then anything else by its `repr`.

    >>> order_by_name(["b", "a", 10, 9])
    array([3, 2, 1, 0])
    """

    def key(position: int) -> tuple[int, int, str]:
        name = names[position]
        if isinstance(name, int | np.integer):
            return 0, int(name), ""
        return (1, 0, name) if isinstance(name, str) else (2, 0, f"{type(name).__name__} {name!r}")

    return np.array(sorted(range(len(names)), key=key), dtype=np.int64)


def order_by_structure(
    edges: NDArray[np.int64], features: sp.csr_array | None, codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The nodes sorted by a hash of their place in the graph; of equal ones, by their features, then by their codes.

    The hash of a node is refined, round after round, by those of its neighbours, which is Weisfeiler and Leman's colour
    refinement. Nodes that it can't tell apart, such as twins, keep their order.

    Args:
        edges: E × 2, each once.
        features: N × F, or None.
        codes: N numbers, equal for nodes that are alike: their label and their part of the split.

    >>> path = np.array([[0, 1], [1, 2]])
    >>> order_by_structure(path, None, np.array([7, 8, 9])), order_by_structure(path, None, np.array([9, 8, 7]))
    (array([0, 2, 1]), array([2, 0, 1]))
    """
    neighbours, starts = _neighbours(edges, len(codes))
    keys: list[Hashes] = []
    colours = np.zeros(len(codes), dtype=np.uint64)
    for known in (colours, None if features is None else _row_hashes(features), codes.astype(np.uint64)):
        if known is not None:
            colours = _refined(_mixed(colours + _mixed(known)), neighbours, starts)
            keys.insert(0, colours)
            if _distinct(colours) == len(colours):
                break
    return np.lexsort(keys)


def _neighbours(edges: NDArray[np.int64], num_nodes: int) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """The neighbours of all nodes, one node after the other, and where those of each node begin."""
    u, v = edges.T
    if (u[1:] < u[:-1]).any():
        order = np.argsort(u, kind="stable")
        u, v = u[order], v[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(u, minlength=num_nodes))])
    half = sp.csr_array((np.ones(len(u), dtype=np.int8), v, starts), shape=(num_nodes, num_nodes))
    whole = sp.csr_array(half + half.T.tocsr())
    return whole.indices, whole.indptr


def _row_hashes(features: sp.csr_array) -> Hashes:
    size = max(1, features.shape[0] * _ENTRIES // max(features.nnz, 1))
    starts = range(0, features.shape[0], size)
    return np.concatenate([_hashes_of_rows(features, start, start + size) for start in starts])


def _hashes_of_rows(features: sp.csr_array, start: int, stop: int) -> Hashes:
    indptr = features.indptr[start : stop + 1]
    own = slice(indptr[0], indptr[-1])
    values = np.round(features.data[own], _DIGITS) + 0.0  # no negative zero, whose bits differ
    entries = _mixed(_mixed(values.view(np.uint64)) + features.indices[own].astype(np.uint64))
    return _row_sums(entries, indptr - indptr[0])


def _refined(colours: Hashes, neighbours: NDArray[np.integer], starts: NDArray[np.integer]) -> Hashes:
    """Add the neighbours' colours to each colour until no further nodes are told apart."""
    distinct = 0
    for _ in range(_ROUNDS):
        before, distinct = distinct, _distinct(colours)
        if distinct in (before, len(colours)):
            break
        colours = _mixed(colours + _row_sums(_mixed(colours)[neighbours], starts))
    return colours


def _distinct(colours: Hashes) -> int:
    """The number of different colours; `np.unique` would take many times as long."""
    return 1 + int(np.count_nonzero(np.diff(np.sort(colours))))


def _row_sums(values: Hashes, starts: NDArray[np.integer]) -> Hashes:
    """The sum of each row's values modulo 2⁶⁴, whatever their order; row i begins at ``starts[i]``."""
    totals = np.zeros(len(values) + 1, dtype=np.uint64)
    np.cumsum(values, out=totals[1:])
    sums: Hashes = np.diff(totals[starts])
    return sums


def _mixed(values: Hashes) -> Hashes:
    """A hash of each value: the finalizer of SplitMix64, on numbers modulo 2⁶⁴."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
