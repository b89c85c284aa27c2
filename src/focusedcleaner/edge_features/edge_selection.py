"""Which edges go: the most suspicious ones, as long as no node loses its last neighbour."""

from __future__ import annotations

import numpy as np

from focusedcleaner.graph import FloatArray, IntArray

_PIECE = 4096
"""Edges that are looked at together."""


def rank_by_score(scores: FloatArray, seed: int) -> IntArray:
    """The numbers of E edges, highest score first; the seed decides between equal ones.

    >>> rank_by_score(np.array([0.5, 2.0, 1.0]), seed=0)
    array([1, 2, 0])
    """
    ties = np.random.default_rng(seed).permutation(len(scores))
    return np.lexsort((ties, -scores))


def without_isolating(order: IntArray, edges: IntArray, degrees: IntArray, size: int) -> list[int]:
    """The first ``size`` edges that can go, one after the other, so that every node keeps a neighbour.

    Args:
        order: numbers of edges, in the order in which they should go.
        edges: E × 2 node numbers.
        degrees: of all N nodes, before the first edge goes.
        size: how many at most.

    >>> path = np.array([[0, 1], [1, 2], [2, 3]])
    >>> without_isolating(np.array([0, 1, 2]), path, np.array([1, 2, 2, 1]), 3)
    [1]
    """
    left = degrees.tolist()
    chosen: list[int] = []
    for start in range(0, len(order), _PIECE):
        numbers = order[start : start + _PIECE]
        for edge, (u, v) in zip(numbers.tolist(), edges[numbers].tolist(), strict=True):
            if len(chosen) == size:
                return chosen
            if left[u] > 1 and left[v] > 1:
                left[u] -= 1
                left[v] -= 1
                chosen.append(edge)
    return chosen
