"""Numbers about pairs of nodes, as columns of a table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from focusedcleaner.graph import FloatArray, IntArray

LEAST = 1e-6
"""Probabilities below it count as it: the logarithm of nothing would drown everything else."""
PAIRS_AT_ONCE = 50_000
"""Pairs whose rows are gathered together."""


def min_and_max(name: str, one: FloatArray, other: FloatArray) -> dict[str, FloatArray]:
    """A number about each end as two columns in which it does not matter which end is which.

    >>> min_and_max("degree", np.array([1.0, 5.0]), np.array([3.0, 2.0]))
    {'least_degree': array([1., 2.]), 'largest_degree': array([3., 5.])}
    """
    return {f"least_{name}": np.minimum(one, other), f"largest_{name}": np.maximum(one, other)}


def row_dot(one: FloatArray, other: FloatArray) -> FloatArray:
    """The product of each row of one table with the same row of another."""
    product: FloatArray = (one * other).sum(axis=1)
    return product


def clamped_log(share: FloatArray) -> FloatArray:
    """The logarithm of probabilities, at least that of `LEAST`."""
    return np.log(np.maximum(share, LEAST))


def row_products(left: sp.csr_array, right: sp.csr_array, pairs: IntArray) -> FloatArray:
    """left_u·right_v for every pair (u, v)."""
    return np.concatenate([left[part[:, 0]].multiply(right[part[:, 1]]).sum(axis=1) for part in batches(pairs)])


def batches(pairs: IntArray) -> Iterator[IntArray]:
    """The pairs, as many at a time as rows are gathered together; once where there is none."""
    for start in range(0, max(len(pairs), 1), PAIRS_AT_ONCE):
        yield pairs[start : start + PAIRS_AT_ONCE]
