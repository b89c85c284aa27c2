"""MLP: the row that every table must have, because no edge can hurt it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from focusedcleaner.classifiers.layers import Perceptron, attributes_for, num_columns
from focusedcleaner.classifiers.training import Network, NetworkClassifier
from focusedcleaner.engine.operators import Operator
from focusedcleaner.graph import Graph


@dataclass
class MLP(NetworkClassifier):
    """Two layers on the attributes, without the graph:

        S = dropout(ReLU(X·W₁ + b₁))·W₂ + b₂.

    Where the graph has no attributes, X = I, and the model can only guess at nodes that it was not trained on.
    The multilayer perceptron: Rumelhart, Hinton, Williams: "Learning Representations by Back-Propagating Errors",
    Nature 1986 (https://doi.org/10.1038/323533a0).

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, attribute_signal=0.8, seed=0)
    >>> MLP().fit(graph, seed=0).accuracy(graph) > 0.5
    True
    """

    name: ClassVar[str] = "mlp"

    def network(self, graph: Graph) -> Network:
        return _MLPNetwork(Perceptron(num_columns(graph), self.hidden, graph.num_classes, self.dropout))


class _MLPNetwork(Network):
    def __init__(self, perceptron: Perceptron) -> None:
        super().__init__()
        self.perceptron = perceptron

    def prepare(self, graph: Graph) -> Operator:
        return attributes_for(graph, self.perceptron.first)

    def forward(self, inputs: Operator) -> Tensor:
        scores: Tensor = self.perceptron(inputs)
        return scores
