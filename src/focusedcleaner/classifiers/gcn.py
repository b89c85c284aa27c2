"""GCN: graph convolutions, the model that the others are measured against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import dropout

from focusedcleaner.classifiers.layers import Affine, attributes_for, num_columns
from focusedcleaner.classifiers.training import Network, NetworkClassifier
from focusedcleaner.engine.operators import Operator, propagation
from focusedcleaner.graph import Graph


@dataclass
class GCN(NetworkClassifier):
    """Two graph convolutions with a ReLU between them:

        S = Â·dropout(ReLU(Â·X·W₁ + b₁))·W₂ + b₂,  Â = D^-½ (A + I) D^-½,

    trained by cross-entropy of softmax(S) on the training nodes. Attributes are taken as they are, not normalized.
    Kipf, Welling: "Semi-Supervised Classification with Graph Convolutional Networks", ICLR 2017
    (https://arxiv.org/abs/1609.02907).

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> GCN().fit(graph, seed=0).accuracy(graph) > 0.7
    True
    """

    name: ClassVar[str] = "gcn"

    def network(self, graph: Graph) -> Network:
        return GCNNetwork(num_columns(graph), self.hidden, graph.num_classes, self.dropout)


class GCNNetwork(Network):
    """W₁, b₁, W₂, b₂."""

    def __init__(self, columns: int, hidden: int, classes: int, dropped: float) -> None:
        super().__init__()
        self.first, self.second = Affine(columns, hidden), Affine(hidden, classes)
        self.dropped = dropped

    def prepare(self, graph: Graph) -> tuple[Operator, Operator]:
        return propagation(graph), attributes_for(graph, self.first)

    def forward(self, inputs: tuple[Operator, Operator]) -> Tensor:
        propagate, features = inputs
        hidden = torch.relu(propagate(features(self.first.weight)) + self.first.bias)
        hidden = dropout(hidden, self.dropped, self.training)
        return propagate(hidden @ self.second.weight) + self.second.bias
