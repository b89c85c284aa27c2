"""Leading eigenpairs of a symmetric sparse matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from focusedcleaner.graph import FloatArray

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
