"""MedianGCN: GCN with the median of the neighbours instead of their mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from focusedcleaner.classifiers.base import SINGLE, NetworkClassifier, TwoLayers
from focusedcleaner.graph import Graph, IntArray


class _MedianNetwork(TwoLayers):
    def operators(self, graph: Graph) -> Callable[[Tensor], Tensor]:
        return Neighbourhoods(graph).median


@dataclass
class Median(NetworkClassifier):
    """GCN with each feature aggregated by its median over a node's neighbours and the node itself:

        S = med(dropout(ReLU(med(X·W₁) + b₁))·W₂) + b₂,  med(H)ᵢ = median{Hⱼ : j ∈ N(i) ∪ {i}},

    which an attacker controls only by planting half of the neighbours. Of an even number of values the lower middle one
    is taken, so that each output is the value of some neighbour. Chen, Li, Peng, Xie, Zheng: "Understanding Structural
    Vulnerability in Graph Convolutional Networks", IJCAI 2021 (https://arxiv.org/abs/2108.06280).

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> Median().fit(graph, seed=0).accuracy(graph) > 0.6
    True
    """

    name = "median"
    network = _MedianNetwork

    def bytes_held(self, graph: Graph) -> float:
        return 6.0 * SINGLE * (2 * graph.num_edges + graph.num_nodes) * self.hidden  # padded neighbourhoods, sorted


class Neighbourhoods:
    """Each node's neighbours and itself, in one table for all neighbourhoods of similar size.

    The width of a table is the next power of two; empty places hold the node number N, whose values are infinite.

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
        """Neighbourhoods (n × width), and the position of the median in each row once it is sorted (n)."""
        groups = [np.flatnonzero(width == wide) for wide in np.unique(width)]
        for nodes in groups:
            wide = width[nodes[0]]
            table = np.full((len(nodes), wide), graph.num_nodes)
            entries = width[rows] == wide
            table[np.searchsorted(nodes, rows[entries]), place[entries]] = columns[entries]
            self.tables.append((table, (size[nodes] - 1) // 2))
        self.back = np.argsort(np.concatenate(groups))

    def median(self, values: Tensor) -> Tensor:
        """Return the median of each column over each neighbourhood (N × F)."""
        return values.gather(0, torch.from_numpy(self._median_nodes(values.detach().numpy())))

    def _median_nodes(self, values: NDArray[np.float32]) -> IntArray:
        """Return the node that has the median, for each neighbourhood and column (N × F)."""
        padded = np.concatenate([values.T, np.full((values.shape[1], 1), np.inf, dtype=values.dtype)], axis=1)
        parts = []
        for table, middle in self.tables:
            around = padded.take(table, axis=1)
            median = np.take_along_axis(np.sort(around, axis=2), middle[None, :, None], axis=2)
            parts.append(table[np.arange(len(table)), (around == median).argmax(axis=2)])
        return np.ascontiguousarray(np.concatenate(parts, axis=1)[:, self.back].T)
