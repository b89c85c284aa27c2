"""Sparse matrices with gradients: constant ones (Â and X), and matrices whose values are learnt."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from focusedcleaner.engine.sparse import csr_indices, csr_tensor, to_torch
from focusedcleaner.graph import Graph


class Operator:
    """A constant sparse matrix M that maps a dense matrix D to M·D.

    The transposed matrix is stored too: torch's own backward pass would transpose at every step.

    >>> double = Operator(2 * sp.eye_array(2, format="csr"))
    >>> double(torch.ones(2, 1)).ravel()
    tensor([2., 2.])
    """

    def __init__(self, matrix: sp.csr_array, *, symmetric: bool = False, dtype: torch.dtype = torch.float32) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self.matrix = to_torch(matrix, dtype)
        self.transposed = self.matrix if symmetric else to_torch(sp.csr_array(matrix.T), dtype)

    def __call__(self, dense: Tensor) -> Tensor:
        return _ConstantProduct.apply(dense, self.matrix, self.transposed)


class _ConstantProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Tensor, transposed: Tensor) -> Tensor:
        ctx.transposed = transposed
        return matrix @ dense

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transposed @ gradients[0].contiguous(), None, None


def attributes(graph: Graph) -> Operator:
    """Return X, N × F, or the identity where the graph has no attributes."""
    x = sp.eye_array(graph.num_nodes, format="csr") if graph.features is None else graph.features
    return Operator(x)


def scaled_adjacency(graph: Graph, *, loops: float = 1.0, power: float = -0.5) -> sp.csr_array:
    """Return D^p (A + l·I) D^p with D the row sums of A + l·I; rows that sum to 0 stay 0."""
    matrix = graph.adjacency() + loops * sp.eye_array(graph.num_nodes, format="csr")
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    scale = np.where(sums > 0, np.where(sums > 0, sums, 1.0) ** power, 0.0)
    return sp.csr_array(sp.diags_array(scale) @ matrix @ sp.diags_array(scale))


def propagation(graph: Graph) -> Operator:
    """Return Â = D^-½ (A + I) D^-½ with d = degree + 1, the propagation of a GCN layer (Eq. 1)."""
    return Operator(scaled_adjacency(graph), symmetric=True)


class EdgeMatrix:
    """The nonzero pattern of A + I, by rows, for matrices whose values are parameters.

    >>> pattern = EdgeMatrix(Graph(2, [[0, 1]]))
    >>> pattern.times(torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.eye(2))
    tensor([[1., 2.],
            [3., 4.]])
    """

    def __init__(self, graph: Graph) -> None:
        self.num_nodes = graph.num_nodes
        nodes, edges = np.arange(graph.num_nodes), np.arange(graph.num_edges)
        rows = np.concatenate([graph.edges[:, 0], graph.edges[:, 1], nodes])
        columns = np.concatenate([graph.edges[:, 1], graph.edges[:, 0], nodes])
        order = np.lexsort((columns, rows))
        position = np.argsort(order)
        edge = np.concatenate([edges, edges, graph.num_edges + nodes])
        swapped = np.concatenate([graph.num_edges + edges, edges, 2 * graph.num_edges + nodes])
        self.rows, self.columns = torch.tensor(rows[order]), torch.tensor(columns[order])
        self.edge = torch.tensor(edge[order])
        """Edge number of each entry; self-loops are numbered after the edges."""
        self.mirror = torch.tensor(position[swapped[order]])
        """Index of the entry (v, u) for each entry (u, v)."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=graph.num_nodes))])
        self._row_starts, self._columns = (csr_indices(part, len(rows)) for part in (starts, columns[order]))
        self.is_loop = self.rows == self.columns

    def matrix(self, values: Tensor) -> Tensor:
        """Return the CSR matrix M with these values."""
        return csr_tensor(self._row_starts, self._columns, values, (self.num_nodes,) * 2)

    def times(self, values: Tensor, dense: Tensor) -> Tensor:
        """Return M·D, with gradients for both the values and D."""
        return _WeightedProduct.apply(values, dense, self)

    def row_sums(self, values: Tensor) -> Tensor:
        """Return the row sums of M, N values."""
        return values.new_zeros(self.num_nodes).index_add(0, self.rows, values)

    def normalized(self, values: Tensor) -> Tensor:
        """Return the values of D^-½ M D^-½ with D the row sums of M; a row that sums to 0 stays 0."""
        sums = self.row_sums(values)
        scale = torch.where(sums > 0, torch.where(sums > 0, sums, 1.0).rsqrt(), 0.0)
        return values * scale.index_select(0, self.rows) * scale.index_select(0, self.columns)


class _WeightedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, dense: Tensor, pattern: EdgeMatrix) -> Tensor:
        ctx.save_for_backward(values, dense)
        ctx.pattern = pattern
        return pattern.matrix(values) @ dense

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        values, dense = ctx.saved_tensors
        pattern: EdgeMatrix = ctx.pattern
        gradient = gradients[0].contiguous()
        to_values = to_dense = None
        if ctx.needs_input_grad[0]:
            to_values = (gradient.index_select(0, pattern.rows) * dense.index_select(0, pattern.columns)).sum(dim=1)
        if ctx.needs_input_grad[1]:
            to_dense = pattern.matrix(values.index_select(0, pattern.mirror)) @ gradient
        return to_values, to_dense, None
