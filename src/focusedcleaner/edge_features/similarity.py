"""How alike nodes are: cosines of attributes at edges, and each node's most similar nodes."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse as sp

from focusedcleaner.graph import FloatArray, Graph, IntArray

_BLOCK = 512
"""Nodes whose similarities with all others are computed at once."""
_CHUNK = 65_536


def unit_rows(graph: Graph) -> sp.csr_array:
    """The attributes with each row scaled to length 1; where a graph has none, the rows of A + I: who knows whom."""
    rows = graph.attributes
    if rows is None:
        rows = graph.adjacency() + sp.eye_array(graph.num_nodes, format="csr")
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1 / np.where(lengths > 0, lengths, 1.0)) @ rows)


def cosines(units: sp.csr_array, pairs: IntArray) -> FloatArray:
    """The cosine of each of n pairs of nodes (n × 2)."""
    chunks = [pairs[start : start + _CHUNK] for start in range(0, len(pairs), _CHUNK)]
    products = [units[part[:, 0]].multiply(units[part[:, 1]]).sum(axis=1) for part in chunks]
    return np.concatenate([np.zeros(0), *products])


def nearest_neighbours(units: sp.csr_array, count: int) -> tuple[IntArray, FloatArray]:
    """For each node the ``count`` others with the largest cosine above 0: pairs (n × 2) and their cosines.

    A node has fewer where fewer share anything with it. Of equal cosines the smaller node number is taken.
    """
    columns = sp.csr_array(units.T)
    found = [_most_similar(units, columns, start, count) for start in range(0, units.shape[0], _BLOCK)]
    return np.concatenate([pairs for pairs, _ in found]), np.concatenate([values for _, values in found])


def _most_similar(units: sp.csr_array, columns: sp.csr_array, start: int, count: int) -> tuple[IntArray, FloatArray]:
    block = sp.coo_array(units[start : start + _BLOCK] @ columns)
    rows, others, values = block.coords[0].astype(np.int64), block.coords[1].astype(np.int64), block.data
    usable = (rows + start != others) & (values > 0)
    rows, others, values = rows[usable], others[usable], values[usable]
    # Products are summed in the order of attributes, so that equal cosines may differ in their last digit.
    rounded = values.round(12)
    likely = np.flatnonzero(rounded >= _least_wanted(rows, rounded, count)[rows])
    order = likely[np.lexsort((others[likely], -rounded[likely], rows[likely]))]
    rows, others, values = rows[order], others[order], values[order]
    sizes = np.bincount(rows, minlength=_BLOCK)
    place = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[rows]
    kept = place < count
    return np.stack([rows[kept] + start, others[kept]], axis=1), values[kept]


def _least_wanted(rows: IntArray, values: FloatArray, count: int) -> FloatArray:
    """For each row of a block the ``count``-th largest value, 0 where there are fewer; ``rows`` ascend."""
    ends = np.searchsorted(rows, np.arange(_BLOCK + 1))
    parts = [values[start:end] for start, end in itertools.pairwise(ends)]
    return np.array([np.partition(part, -count)[-count] if len(part) >= count else 0.0 for part in parts])
