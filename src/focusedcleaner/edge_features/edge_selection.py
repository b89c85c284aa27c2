"""Selecting edges to remove: the most suspicious ones, unless a node would be isolated."""

from __future__ import annotations

import numpy as np

from focusedcleaner.graph import FloatArray, Graph, IntArray

SPARE = 2
"""Edges that are sorted for each edge that is to go: some would isolate a node."""
_BATCH = 4096
"""Edges converted to Python lists at once."""


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
    least = np.partition(scores, len(scores) - size)[len(scores) - size]
    candidates = np.flatnonzero(scores >= least)
    ties = np.random.default_rng(seed).permutation(len(scores))[candidates]
    return candidates[np.lexsort((ties, -scores[candidates]))][:size]


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
    left = degrees.tolist()
    selected: list[int] = []
    for start in range(0, len(order), _BATCH):
        numbers = order[start : start + _BATCH]
        for edge, (u, v) in zip(numbers.tolist(), edges[numbers].tolist(), strict=True):
            if len(selected) == size:
                return selected
            if left[u] > 1 and left[v] > 1:
                left[u] -= 1
                left[v] -= 1
                selected.append(edge)
    return selected
