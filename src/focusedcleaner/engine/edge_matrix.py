"""A graph's edges as the pattern of a sparse matrix whose values change, with gradients to both factors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.engine.structure import index_type
from focusedcleaner.graph import Graph


class EdgeMatrix:
    """The places of A + I or of A, by rows: where values at edges become a matrix.

    >>> pattern = EdgeMatrix(Graph(2, [[0, 1]]))
    >>> pattern.times(torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.eye(2))
    tensor([[1., 2.],
            [3., 4.]])
    """

    def __init__(self, graph: Graph, *, loops: bool = True) -> None:
        self.num_nodes = graph.num_nodes
        everyone = np.arange(graph.num_nodes if loops else 0)
        rows = np.concatenate([graph.edges[:, 0], graph.edges[:, 1], everyone])
        columns = np.concatenate([graph.edges[:, 1], graph.edges[:, 0], everyone])
        order = np.lexsort((columns, rows))
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        edge = np.concatenate([np.tile(np.arange(graph.num_edges), 2), graph.num_edges + everyone])
        directed = np.roll(np.arange(2 * graph.num_edges), graph.num_edges)
        swapped = np.concatenate([directed, 2 * graph.num_edges + everyone])
        self.rows, self.columns = torch.tensor(rows[order]), torch.tensor(columns[order])
        self.edge = torch.tensor(edge[order])
        """The number of the edge at each place; loops follow after the edges."""
        self.mirror = torch.tensor(back[swapped[order]])
        """The place of (v, u) for the place (u, v)."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=graph.num_nodes))])
        index = index_type(len(rows))
        self.csr = torch.tensor(starts.astype(index)), torch.tensor(columns[order].astype(index))
        """Where each row starts, and the columns."""
        self.is_loop = self.rows == self.columns

    def matrix(self, values: Tensor) -> Tensor:
        """The values at all places as a CSR matrix."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse", UserWarning)  # torch calls its CSR layout a beta
            return torch.sparse_csr_tensor(*self.csr, values, size=(self.num_nodes,) * 2)

    def times(self, values: Tensor, dense: Tensor) -> Tensor:
        """M·D, where M has these values."""
        product: Tensor = _Weighted.apply(values, dense, self)
        return product

    def row_sums(self, values: Tensor) -> Tensor:
        """The sum of the values in each row, N values."""
        return values.new_zeros(self.num_nodes).index_add(0, self.rows, values)

    def normalized(self, values: Tensor) -> Tensor:
        """D^-½ M D^-½ with D the row sums of M; a row that sums to 0 stays 0."""
        sums = self.row_sums(values)
        scale = torch.where(sums > 0, torch.where(sums > 0, sums, 1.0).rsqrt(), 0.0)
        return values * scale.index_select(0, self.rows) * scale.index_select(0, self.columns)


class _Weighted(torch.autograd.Function):
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
