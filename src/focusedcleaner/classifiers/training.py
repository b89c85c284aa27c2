"""Neural classifiers: their layers, and the training loop of all of them."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout

from focusedcleaner.classifiers.base import Classifier
from focusedcleaner.engine import one_thread
from focusedcleaner.engine.operators import Operator, attributes
from focusedcleaner.errors import InputError
from focusedcleaner.graph import UNKNOWN, Graph, IntArray
from focusedcleaner.io.convert import as_graph
from focusedcleaner.settings import bounded


@dataclass
class NetworkClassifier(Classifier):
    """A network trained by Adam with early stopping; the state with the best validation is kept.

    Better means a higher validation accuracy or, at the same accuracy, a lower validation loss. Without validation
    nodes the last state is kept.

    Args:
        hidden: width of the hidden layer.
        dropout: share of hidden values dropped in training.
        rate: Adam's learning rate.
        weight_decay: Adam's weight decay.
        epochs: the largest number of epochs.
        patience: epochs without a better validation after which training stops.
    """

    hidden: int = bounded(16, "[1, inf)")
    dropout: float = bounded(0.5, "[0, 1)")
    rate: float = bounded(0.01, "(0, inf)")
    weight_decay: float = bounded(5e-4, "[0, inf)")
    epochs: int = bounded(200, "[1, inf)")
    patience: int = bounded(100, "[1, inf)")
    _network: Network | None = field(init=False, default=None, repr=False, compare=False)

    @abstractmethod
    def network(self, graph: Graph) -> Network:
        """Return a network with fresh weights for a graph's attributes and classes."""

    def settings(self) -> dict[str, Any]:
        values = super().settings()
        del values["kind"]
        return values

    def _train(self, graph: Graph, seed: int) -> None:
        with one_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = self.network(graph)
            _fit(self, network, graph)
        self._network = network

    def scores(self, graph: Any) -> Tensor:
        """Return the logits of every node, N × C."""
        if self._network is None:
            raise InputError(f"{self.name} has not been fitted yet")
        with one_thread(), torch.no_grad():
            scores: Tensor = self._network.eval()(*self._network.inputs(as_graph(graph)))
            return scores

    def predict(self, graph: Any) -> IntArray:
        return self.scores(graph).argmax(dim=1).numpy()


class Network(nn.Module):
    """The weights of a model, and its forward pass."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.columns = graph.num_nodes if graph.attributes is None else graph.num_attributes
        """The width of X; X = I if there are no attributes."""

    def inputs(self, graph: Graph) -> tuple[Operator, Any]:
        """Return X (N × F) and the operators of a graph."""
        x = attributes(graph)
        if x.shape[1] != self.columns:
            raise InputError(f"the model knows {self.columns} attributes, but the graph has {x.shape[1]}")
        return x, self.operators(graph)

    @abstractmethod
    def operators(self, graph: Graph) -> Any:
        """Return what `forward` needs of the edges, independent of the weights."""

    @abstractmethod
    def forward(self, x: Operator, operators: Any) -> Tensor:
        """Return the logits, N × C."""

    def learn_structure(self, x: Operator, operators: Any, loss: Callable[[Tensor], Tensor]) -> None:
        """Update a learnt graph structure before each step of the weights, given the training loss of logits."""
        del x, operators, loss

    def penalty(self) -> Tensor | float:
        """Return the terms of the loss beside the cross-entropy, for the last forward pass."""
        return 0.0

    def groups(self, weight_decay: float) -> list[dict[str, Any]]:
        """Return Adam's parameter groups."""
        return [{"params": list(self.parameters()), "weight_decay": weight_decay}]


class Affine(nn.Module):
    """W (inputs × outputs) and b, initialized uniformly in ±1/√outputs.

    Wider than Glorot's initialization, whose bound falls with the number of attributes: raw 0/1 attributes are sparse.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        bound = outputs**-0.5
        self.weight = nn.Parameter(torch.empty(inputs, outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(outputs).uniform_(-bound, bound))

    def forward(self, values: Tensor) -> Tensor:
        return values @ self.weight + self.bias


class TwoLayers(Network):
    """Two layers, each with an aggregation over neighbours: S = G₂·dropout(ReLU(G₁·X·W₁ + b₁))·W₂ + b₂."""

    def __init__(self, model: NetworkClassifier, graph: Graph) -> None:
        super().__init__(graph)
        self.dropped = model.dropout
        self.first = Affine(self.columns, model.hidden)
        self.second = Affine(model.hidden, graph.num_classes)

    def hidden(self, x: Operator, aggregate: Callable[[Tensor], Tensor]) -> Tensor:
        """Return ReLU(G₁·X·W₁ + b₁)."""
        return torch.relu(aggregate(x(self.first.weight)) + self.first.bias)

    def output(self, hidden: Tensor, aggregate: Callable[[Tensor], Tensor]) -> Tensor:
        """Return G₂·dropout(H)·W₂ + b₂."""
        hidden = dropout(hidden, self.dropped, self.training)
        return aggregate(hidden @ self.second.weight) + self.second.bias

    def perceptron(self, x: Operator) -> Tensor:
        """Return the logits without neighbours: G₁ = G₂ = I."""
        return self.output(self.hidden(x, lambda values: values), lambda values: values)


def _fit(model: NetworkClassifier, network: Network, graph: Graph) -> None:
    """Train a network, and leave it in its best validated state."""
    assert graph.labels is not None
    assert graph.split is not None
    inputs, labels = network.inputs(graph), torch.tensor(graph.labels)
    train, val = (torch.tensor(part[graph.labels[part] != UNKNOWN]) for part in (graph.split.train, graph.split.val))
    if not len(train):
        raise InputError("no training node has a known label")

    def loss(scores: Tensor) -> Tensor:
        return cross_entropy(scores[train], labels[train], reduction="sum")

    optimizer = torch.optim.Adam(network.groups(model.weight_decay), lr=model.rate)
    best, best_state, waited = (-1.0, -math.inf), None, 0
    for _ in range(model.epochs):
        network.train()
        network.learn_structure(*inputs, loss)
        optimizer.zero_grad()
        (loss(network(*inputs)) / len(train) + network.penalty()).backward()
        optimizer.step()
        if not len(val):
            continue
        network.eval()
        with torch.no_grad():
            scores = network(*inputs)[val]
            accuracy = (scores.argmax(dim=1) == labels[val]).double().mean()
            validation = float(accuracy), -float(cross_entropy(scores, labels[val]))
        waited += 1
        if validation > best:
            best, best_state, waited = validation, copy.deepcopy(network.state_dict()), 0
        if waited >= model.patience:
            break
    if best_state is not None:
        network.load_state_dict(best_state)
