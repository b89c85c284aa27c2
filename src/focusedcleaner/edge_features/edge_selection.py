"""Selecting edges to remove: the most suspicious ones, unless a node would be isolated."""

from __future__ import annotations

import numpy as np

from focusedcleaner.graph import BoolArray, FloatArray, Graph, IntArray

SPARE = 2
"""Edges that are sorted for each edge that is to go: some would isolate a node."""


def rank_by_score(scores: FloatArray, seed: int) -> IntArray:
    """Return the numbers of E edges, highest score first; the seed breaks ties.

    >>> rank_by_score(np.array([0.5, 2.0, 1.0]), seed=0)
    array([1, 2, 0])
    """
    ties = np.random.default_rng(seed).permutation(len(scores))
    return np.lexsort((ties, -scores))


def first_by_score(scores: FloatArray, size: int, seed: int) -> IntArray:
    """Return the first ``size`` of `rank_by_score`, without sorting the others.

    >>> first_by_score(np.array([0.5, 2.0, 1.0]), 2, seed=0)
    array([1, 2])
    """
    if not 0 < size < len(scores):
        return rank_by_score(scores, seed)[:size]
    candidates = np.flatnonzero(scores >= _nth_largest(scores, size))
    ties = np.random.default_rng(seed).permutation(len(scores))[candidates]
    return candidates[np.lexsort((ties, -scores[candidates]))][:size]


def mark_highest(scores: FloatArray, size: int, seed: int) -> BoolArray:
    """Mark the first ``size`` of `rank_by_score`, without sorting any.

    >>> mark_highest(np.array([0.5, 2.0, 1.0]), 2, seed=0)
    array([False,  True,  True])
    """
    if not 0 < size < len(scores):
        return np.full(len(scores), size > 0)
    marked = scores >= _nth_largest(scores, size)
    if np.count_nonzero(marked) > size:  # several edges have the least score
        marked[:] = False
        marked[first_by_score(scores, size, seed)] = True
    return marked


def _nth_largest(scores: FloatArray, size: int) -> float:
    place = len(scores) - size
    return float(np.partition(scores, place)[place])


def removable_by_score(scores: FloatArray, graph: Graph, size: int, seed: int) -> IntArray:
    """Return the ``size`` edges of highest score that can be removed in turn so that every node keeps a neighbour."""
    for most in (SPARE * size, graph.num_edges):
        order = first_by_score(scores, most, seed)
        chosen = without_isolating(order, graph.edges, graph.degrees, size)
        if len(chosen) == size:
            break
    return np.array(chosen, dtype=np.int64)


def without_isolating(order: IntArray, edges: IntArray, degrees: IntArray, size: int) -> list[int]:
    """Return the first ``size`` edges in this order that can be removed in turn so that every node keeps a neighbour.

    ``edges`` are E × 2 node numbers, ``degrees`` those of all N nodes before the first removal.

    >>> path = np.array([[0, 1], [1, 2], [2, 3]])
    >>> without_isolating(np.array([0, 1, 2]), path, np.array([1, 2, 2, 1]), 3)
    [1]
    """
    ends = edges[order]
    places = np.arange(len(order))[:, None]
    last = np.full(len(degrees), -1)
    last[ends] = places  # of several places the last one stays
    last[np.bincount(ends.ravel(), minlength=len(degrees)) < degrees] = -1
    # Only the last edge of a node can isolate it, and only if all of its edges are listed and none was kept.
    is_last = last[ends] == places
    critical = np.flatnonzero(is_last.any(axis=1))
    removable, connected = np.ones(len(order), dtype=bool), set[int]()
    for place, pair, lasts in zip(critical.tolist(), ends[critical].tolist(), is_last[critical].tolist(), strict=True):
        if any(is_last and end not in connected for end, is_last in zip(pair, lasts, strict=True)):
            removable[place] = False
            connected.update(pair)
    selected: list[int] = order[removable][:size].tolist()
    return selected
