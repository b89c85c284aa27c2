"""MedianGCN: the median of the neighbours instead of their mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import dropout

from focusedcleaner.classifiers.layers import Affine, attributes_for, num_columns
from focusedcleaner.classifiers.training import Network, NetworkClassifier
from focusedcleaner.engine.operators import Operator
from focusedcleaner.graph import Graph, IntArray


@dataclass
class Median(NetworkClassifier):
    """GCN with each feature aggregated by its median over a node's neighbours and the node itself:

        S = med(dropout(ReLU(med(X·W₁) + b₁))·W₂) + b₂,  med(H)ᵢ = median{Hⱼ : j ∈ N(i) ∪ {i}},

    which half of the neighbours must be planted to move at will. Of an even number of values the lower middle one is
    taken, so that each output is some neighbour's own value. Chen, Li, Peng, Xie, Zheng: "Understanding Structural
    Vulnerability in Graph Convolutional Networks", IJCAI 2021 (https://arxiv.org/abs/2108.06280).

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> Median().fit(graph, seed=0).accuracy(graph) > 0.6
    True
    """

    name: ClassVar[str] = "median"

    def network(self, graph: Graph) -> Network:
        return _MedianNetwork(self, num_columns(graph), graph.num_classes)


class _MedianNetwork(Network):
    def __init__(self, how: Median, columns: int, classes: int) -> None:
        super().__init__()
        self.first, self.second = Affine(columns, how.hidden), Affine(how.hidden, classes)
        self.dropped = how.dropout

    def prepare(self, graph: Graph) -> tuple[Neighbourhoods, Operator]:
        return Neighbourhoods(graph), attributes_for(graph, self.first)

    def forward(self, inputs: tuple[Neighbourhoods, Operator]) -> Tensor:
        neighbourhoods, features = inputs
        hidden = torch.relu(neighbourhoods.median(features(self.first.weight)) + self.first.bias)
        hidden = dropout(hidden, self.dropped, self.training)
        return neighbourhoods.median(hidden @ self.second.weight) + self.second.bias


class Neighbourhoods:
    """Each node's neighbours and itself, in tables of nodes with about as many neighbours.

    A table is as wide as the next power of two; places that are left over name the node N, whose values are infinite.

    >>> path = Neighbourhoods(Graph(3, [[0, 1], [1, 2]]))
    >>> path.median(torch.tensor([[1.0], [5.0], [3.0]])).ravel()
    tensor([1., 3., 3.])
    """

    def __init__(self, graph: Graph) -> None:
        size = graph.degrees + 1
        rows = np.concatenate([graph.edges[:, 0], graph.edges[:, 1], np.arange(graph.num_nodes)])
        columns = np.concatenate([graph.edges[:, 1], graph.edges[:, 0], np.arange(graph.num_nodes)])
        order = np.argsort(rows, kind="stable")
        rows, columns = rows[order], columns[order]
        place = np.arange(len(rows)) - (np.cumsum(size) - size)[rows]
        width = 2 ** np.ceil(np.log2(size)).astype(np.int64)
        self.tables: list[tuple[IntArray, IntArray]] = []
        """Nodes (n × wide), and where the median of each row is once it is sorted (n)."""
        nodes = [np.flatnonzero(width == wide) for wide in np.unique(width)]
        for mine in nodes:
            wide = width[mine[0]]
            table = np.full((len(mine), wide), graph.num_nodes)
            here = width[rows] == wide
            table[np.searchsorted(mine, rows[here]), place[here]] = columns[here]
            self.tables.append((table, (size[mine] - 1) // 2))
        self.back = np.argsort(np.concatenate(nodes))

    def median(self, values: Tensor) -> Tensor:
        """The median of each column over each neighbourhood (N × F)."""
        return values.gather(0, torch.from_numpy(self._chosen(values.detach().numpy())))

    def _chosen(self, values: NDArray[np.float32]) -> IntArray:
        """The node that has the median, for each neighbourhood and column (N × F)."""
        padded = np.concatenate([values.T, np.full((values.shape[1], 1), np.inf, dtype=values.dtype)], axis=1)
        parts = []
        for table, middle in self.tables:
            around = padded.take(table, axis=1)
            median = np.take_along_axis(np.sort(around, axis=2), middle[None, :, None], axis=2)
            parts.append(table[np.arange(len(table)), (around == median).argmax(axis=2)])
        return np.ascontiguousarray(np.concatenate(parts, axis=1)[:, self.back].T)
