"""A graph's adjacency matrix with its small eigenvalues cut off, at pairs of similar nodes."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from focusedcleaner.classifiers.similarity import unit_rows
from focusedcleaner.graph import FloatArray, Graph, IntArray

_BLOCK = 512
"""Rows that are dense at once."""
_DENSE = 500
"""Nodes up to which a whole eigendecomposition is quicker than a part of it."""


def leading(matrix: sp.csr_array, count: int) -> tuple[FloatArray, FloatArray]:
    """The eigenvalues of largest modulus, largest first, and their eigenvectors as columns, of a symmetric matrix."""
    size = matrix.shape[0]
    if size <= max(_DENSE, 2 * count):
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, k=count, which="LM", v0=np.ones(size))
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    return values[order], vectors[:, order]


def similar_low_rank(
    graph: Graph, rank: int, edge_weight: float, similarity: float, sparsity: float
) -> tuple[IntArray, FloatArray]:
    """S₀ of `ProGNN`: its pairs u < v (n × 2, sorted) and their values, without ever forming an N × N matrix."""
    adjacency = graph.adjacency()
    values, vectors = leading(adjacency, min(rank + 1, graph.num_nodes))
    cut = np.abs(values[rank]) if len(values) > rank else 0.0
    weighted = vectors * (np.sign(values) * np.maximum(np.abs(values) - cut, 0.0))
    units = unit_rows(graph)
    columns = sp.csr_array(units.T)
    pairs, found = [], []
    for start in range(0, graph.num_nodes, _BLOCK):
        rows = slice(start, min(start + _BLOCK, graph.num_nodes))
        block = weighted[rows] @ vectors.T + edge_weight * adjacency[rows].toarray()
        alike = (units[rows] @ columns).toarray() >= similarity
        u, v = np.nonzero(np.triu(alike & (block > sparsity), k=start + 1))
        pairs.append(np.stack([u + start, v], axis=1))
        found.append(np.clip(block[u, v], 0.0, 1.0))
    return np.concatenate(pairs), np.concatenate(found)
