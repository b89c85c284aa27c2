"""What several models are made of."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from focusedcleaner.engine.operators import Operator, attributes
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph


class Affine(nn.Module):
    """W (inputs × outputs) and b, both uniform in ±1/√outputs at the start.

    Wider at the start than Glorot's, whose bound falls with the number of attributes: raw 0/1 attributes are sparse.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        bound = outputs**-0.5
        self.weight = nn.Parameter(torch.empty(inputs, outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(outputs).uniform_(-bound, bound))

    def forward(self, values: Tensor) -> Tensor:
        return values @ self.weight + self.bias


class Perceptron(nn.Module):
    """Two layers on sparse attributes: dropout(ReLU(X·W₁ + b₁))·W₂ + b₂."""

    def __init__(self, columns: int, hidden: int, classes: int, dropped: float) -> None:
        super().__init__()
        self.first, self.second = Affine(columns, hidden), Affine(hidden, classes)
        self.dropped = dropped

    def forward(self, features: Operator) -> Tensor:
        hidden = torch.relu(features(self.first.weight) + self.first.bias)
        scores: Tensor = self.second(dropout(hidden, self.dropped, self.training))
        return scores


def num_columns(graph: Graph) -> int:
    """The width of X: the number of attributes, or of nodes where each is its own."""
    return graph.num_nodes if graph.attributes is None else graph.num_attributes


def attributes_for(graph: Graph, layer: Affine) -> Operator:
    """X, checked against the layer that reads it."""
    features = attributes(graph)
    if features.shape[1] != len(layer.weight):
        raise InputError(f"the model knows {len(layer.weight)} attributes, but the graph has {features.shape[1]}")
    return features
