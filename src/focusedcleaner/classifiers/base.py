"""The contract of a classifier, and neural classifiers: their layers, and the training loop of all of them."""

from __future__ import annotations

import copy
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout

from focusedcleaner.engine import one_thread
from focusedcleaner.engine.operators import Operator, attributes, propagation
from focusedcleaner.errors import InputError
from focusedcleaner.graph import UNKNOWN, Graph, IntArray, Split
from focusedcleaner.io.convert import as_graph
from focusedcleaner.node_order import NodeOrder
from focusedcleaner.settings import Configurable, bounded

ALL_PAIRS = 30_000
"""Nodes up to which a classifier can compare all pairs of them."""
SINGLE = 4
"""Bytes of a number in single precision."""


class Classifier(Configurable, ABC):
    """Learns the classes of nodes from the training nodes of a graph.

    The constructor only stores settings. All methods take a `Graph`, PyG `Data`, a NetworkX graph or a scipy adjacency.

    >>> from focusedcleaner import classifier, datasets
    >>> graph = datasets.synthetic(200)
    >>> model = classifier("sgc").fit(graph)
    >>> model.predict(graph).shape, 0 <= model.accuracy(graph) <= 1
    ((200,), True)
    """

    name: ClassVar[str]
    """The name by which `focusedcleaner.classifier` finds the model."""

    def fit(self, graph: Any, *, seed: int = 0) -> Self:
        """Train on the training nodes, with early stopping on the validation nodes; test labels are hidden."""
        graph = as_graph(graph)
        if graph.labels is None or graph.split is None or not len(graph.split.train):
            raise InputError("a classifier needs a graph with labels and training nodes")
        self.check_size(graph)
        self._train(graph.without_test_labels(), seed)
        return self

    def check_size(self, graph: Graph) -> None:
        """Refuse a graph that is too large for this classifier; by default none is."""
        del graph

    @abstractmethod
    def _train(self, graph: Graph, seed: int) -> None:
        """Train, and store the trained model."""

    @abstractmethod
    def predict(self, graph: Any) -> IntArray:
        """Return the class of every node, N values."""

    def accuracy(self, graph: Any) -> float:
        """Return the accuracy on the test nodes with a known label; NaN if there are none."""
        graph = as_graph(graph)
        if graph.labels is None or graph.split is None:
            raise InputError("accuracy needs a graph with labels and a split")
        nodes = graph.split.test[graph.labels[graph.split.test] >= 0]
        return float(np.mean(self.predict(graph)[nodes] == graph.labels[nodes])) if len(nodes) else float("nan")


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
        validated: whether validation nodes choose the state; if not, they are not looked at and the last state is kept.
    """

    hidden: int = bounded(16, "[1, 10000]")
    dropout: float = bounded(0.5, "[0, 1)")
    rate: float = bounded(0.01, "(0, inf)")
    weight_decay: float = bounded(5e-4, "[0, inf)")
    epochs: int = bounded(200, "[1, 100000]")
    patience: int = bounded(100, "[1, inf)")
    validated: bool = True
    _network: Network | None = field(init=False, default=None, repr=False, compare=False)
    _order: NodeOrder | None = field(init=False, default=None, repr=False, compare=False)
    """The order of the fitted graph's nodes in which the network was trained."""

    network: ClassVar[type[Network]]
    compares_pairs: ClassVar[bool] = False
    """Whether the work grows with the square of the number of nodes."""

    def bytes_held(self, graph: Graph) -> float:
        """Bytes that a training holds at a time, about, beside the graph; 0 where they are few for any graph."""
        del graph
        return 0.0

    def check_size(self, graph: Graph) -> None:
        if self.compares_pairs and graph.num_nodes > ALL_PAIRS:
            limit = f"compares all pairs of nodes and takes at most {ALL_PAIRS:,} nodes"
            raise InputError(f"{self.name} {limit}, not {graph.num_nodes:,}: use gcn or sgc")
        needed, there = self.bytes_held(graph) / 1e9, machine_memory() / 1e9
        if needed > there:
            need = f"about {needed:,.0f} GB of memory for this graph, and this machine has {there:,.0f}"
            raise InputError(f"{self.name} needs {need}: use gcn or sgc")

    def settings(self) -> dict[str, Any]:
        values = super().settings()
        del values["kind"]
        return values

    def _train(self, graph: Graph, seed: int) -> None:
        with one_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            ordered = graph.in_canonical_order()
            if not self.validated and ordered.split is not None:
                ordered = ordered.with_split(Split(ordered.split.train, [], ordered.split.test))
            network = type(self).network(self, ordered)
            self._fit(network, ordered, seed)
        self._network, self._order = network, graph.canonical_order

    def _fit(self, network: Network, graph: Graph, seed: int) -> None:
        """Train a network, and leave it in its best validated state."""
        fit_full_batch(self, network, graph)

    def _scores(self, network: Network, graph: Graph) -> Tensor:
        """Return the logits of a trained network, N × C."""
        scores: Tensor = network.eval()(*network.inputs(graph))
        return scores

    def scores(self, graph: Any) -> Tensor:
        """Return the logits of every node, N × C. A graph of as many nodes as the fitted one has the same nodes."""
        if self._network is None or self._order is None:
            raise InputError(f"{self.name} has not been fitted yet")
        graph, nodes = as_graph(graph), self._order.nodes
        if graph.num_nodes != len(nodes):
            nodes = np.arange(graph.num_nodes)
        in_order = np.array_equal(nodes, np.arange(len(nodes)))
        with one_thread(), torch.no_grad():
            scores = self._scores(self._network, graph if in_order else graph.subgraph(nodes))
            return scores if in_order else scores[torch.from_numpy(np.argsort(nodes))]

    def predict(self, graph: Any) -> IntArray:
        return self.scores(graph).argmax(dim=1).numpy()


class Network(nn.Module):
    """The weights of a model for a graph's attributes and classes, and its forward pass."""

    def __init__(self, model: Any, graph: Graph) -> None:
        super().__init__()
        self.model = model
        self.columns = graph.num_nodes if graph.features is None else int(graph.features.shape[1])
        """The width of X; X = I if there are no attributes."""

    def inputs(self, graph: Graph) -> tuple[Operator, Any]:
        """Return X (N × F) and the operators of a graph."""
        self.check_columns(graph)
        return attributes(graph), self.operators(graph)

    def check_columns(self, graph: Graph) -> None:
        """Refuse a graph with another number of attributes than the model knows."""
        columns = graph.num_nodes if graph.features is None else int(graph.features.shape[1])
        if columns != self.columns:
            raise InputError(f"the model knows {self.columns} attributes, but the graph has {columns}")

    def operators(self, graph: Graph) -> Any:
        """Return what `forward` needs of the edges, independent of the weights: Â, unless a model needs more."""
        return propagation(graph)

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
    """Two layers, each with an aggregation G over neighbours: S = G₂·dropout(ReLU(G₁·X·W₁ + b₁))·W₂ + b₂.

    By default `operators` is the aggregation of both.
    """

    def __init__(self, model: NetworkClassifier, graph: Graph) -> None:
        super().__init__(model, graph)
        self.first = Affine(self.columns, model.hidden)
        self.second = Affine(model.hidden, graph.num_classes)

    def forward(self, x: Operator, aggregate: Any) -> Tensor:
        return self.output(self.hidden(x, aggregate), aggregate)

    def hidden(self, x: Operator, aggregate: Callable[[Tensor], Tensor]) -> Tensor:
        """Return ReLU(G₁·X·W₁ + b₁)."""
        return torch.relu(aggregate(x(self.first.weight)) + self.first.bias)

    def output(self, hidden: Tensor, aggregate: Callable[[Tensor], Tensor]) -> Tensor:
        """Return G₂·dropout(H)·W₂ + b₂."""
        hidden = dropout(hidden, self.model.dropout, self.training)
        return aggregate(hidden @ self.second.weight) + self.second.bias

    def perceptron(self, x: Operator) -> Tensor:
        """Return the logits without neighbours: G₁ = G₂ = I."""
        return TwoLayers.forward(self, x, lambda values: values)


def machine_memory() -> int:
    """The bytes of memory of this machine; 16 GB where the system doesn't tell."""
    if not hasattr(os, "sysconf"):
        return 16 * 10**9
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class BestState:
    """The state of a network with the best validation so far, and the epochs since then."""

    def __init__(self, network: Network, patience: int) -> None:
        self.network, self.patience = network, patience
        self._best, self._waited = (-1.0, -math.inf), 0
        self._state: dict[str, Any] | None = None

    def is_settled(self, scores: Tensor, labels: Tensor, epochs: int = 1) -> bool:
        """See the logits of n validation nodes after some more epochs; whether the patience is at its end."""
        accuracy = (scores.argmax(dim=1) == labels).double().mean()
        validation = float(accuracy), -float(cross_entropy(scores, labels))
        self._waited += epochs
        if validation > self._best:
            self._best, self._state, self._waited = validation, copy.deepcopy(self.network.state_dict()), 0
        return self._waited >= self.patience

    def restore(self) -> None:
        """Return to the best state; without any validation, the last one stays."""
        if self._state is not None:
            self.network.load_state_dict(self._state)


def known_nodes(graph: Graph) -> tuple[Tensor, Tensor, Tensor]:
    """Return the training and the validation nodes with a known label, and the labels of all nodes."""
    assert graph.labels is not None
    assert graph.split is not None
    train, val = (torch.tensor(part[graph.labels[part] != UNKNOWN]) for part in (graph.split.train, graph.split.val))
    if not len(train):
        raise InputError("no training node has a known label")
    return train, val, torch.tensor(graph.labels)


def fit_full_batch(model: NetworkClassifier, network: Network, graph: Graph) -> None:
    """Train a network on all training nodes at each epoch, and leave it in its best validated state."""
    inputs, (train, val, labels) = network.inputs(graph), known_nodes(graph)

    def loss(scores: Tensor) -> Tensor:
        return cross_entropy(scores[train], labels[train], reduction="sum")

    optimizer = torch.optim.Adam(network.groups(model.weight_decay), lr=model.rate)
    best = BestState(network, model.patience)
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
            settled = best.is_settled(network(*inputs)[val], labels[val])
        if settled:
            break
    best.restore()
