"""Sparse matrices that gradients flow through, and the two that nearly every model needs: Â and X."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from focusedcleaner.engine.structure import csr
from focusedcleaner.graph import Graph


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Tensor, transposed: Tensor) -> Tensor:
        ctx.transposed = transposed
        return matrix @ dense

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transposed @ gradients[0].contiguous(), None, None


class Operator:
    """A constant sparse matrix M that maps a dense matrix D to M·D, fast both ways.

    The transposed matrix is kept beside it: torch's own backward pass would transpose at every step.

    >>> double = Operator(2 * sp.eye_array(2, format="csr"))
    >>> double(torch.ones(2, 1)).ravel()
    tensor([2., 2.])
    """

    def __init__(self, matrix: sp.csr_array, *, symmetric: bool = False, dtype: torch.dtype = torch.float32) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self.matrix = csr(matrix, dtype)
        self.transposed = self.matrix if symmetric else csr(sp.csr_array(matrix.T), dtype)

    def __call__(self, dense: Tensor) -> Tensor:
        product: Tensor = _Product.apply(dense, self.matrix, self.transposed)
        return product


class Identity(Operator):
    """The attributes of a graph that has none: each node is its own."""

    def __init__(self, size: int) -> None:
        self.shape = (size, size)

    def __call__(self, dense: Tensor) -> Tensor:
        return dense


def attributes(graph: Graph) -> Operator:
    """X as given, N × F, or the identity where the graph has no attributes."""
    return Identity(graph.num_nodes) if graph.attributes is None else Operator(graph.attributes)


def scaled_adjacency(graph: Graph, *, loops: float = 1.0, power: float = -0.5) -> sp.csr_array:
    """D^p (A + l·I) D^p with D the row sums of A + l·I; an isolated node's row is 0 where l is."""
    matrix = graph.adjacency() + loops * sp.eye_array(graph.num_nodes, format="csr")
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    scale = np.where(sums > 0, np.where(sums > 0, sums, 1.0) ** power, 0.0)
    return sp.csr_array(sp.diags_array(scale) @ matrix @ sp.diags_array(scale))


def propagation(graph: Graph) -> Operator:
    """Â = D^-½ (A + I) D^-½ with d = degree + 1."""
    return Operator(scaled_adjacency(graph), symmetric=True)
