"""MLP: the attributes without the graph."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from focusedcleaner.classifiers.base import NetworkClassifier, TwoLayers
from focusedcleaner.engine.operators import Operator


class _MLPNetwork(TwoLayers):
    def forward(self, x: Operator, operators: Operator) -> Tensor:
        return self.perceptron(x)


@dataclass
class MLP(NetworkClassifier):
    """Two layers on the attributes, without the graph:

        S = dropout(ReLU(X·W₁ + b₁))·W₂ + b₂.

    If the graph has no attributes, X = I, and the model can only guess the classes of nodes outside its training set.
    The multilayer perceptron: Rumelhart, Hinton, Williams: "Learning Representations by Back-Propagating Errors",
    Nature 1986 (https://doi.org/10.1038/323533a0).

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, attribute_signal=0.8, seed=0)
    >>> MLP().fit(graph, seed=0).accuracy(graph) > 0.5
    True
    """

    name = "mlp"
    network = _MLPNetwork
