"""The one training loop of all models, and the classifier around it."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from focusedcleaner.classifiers.base import Classifier
from focusedcleaner.engine import one_thread
from focusedcleaner.errors import InputError
from focusedcleaner.graph import UNKNOWN, Graph, IntArray


class Network(nn.Module):
    """A model's weights and what it does with them.

    A network reads a graph through `prepare`, once, and computes with what that returns in every epoch.
    """

    @abstractmethod
    def prepare(self, graph: Graph) -> Any:
        """What `forward` needs of a graph: operators that don't depend on the weights."""

    @abstractmethod
    def forward(self, inputs: Any) -> Tensor:
        """A score for every class, N × C."""

    def learn_structure(self, inputs: Any, loss: Callable[[Tensor], Tensor]) -> None:
        """Called before each step of the weights, with the training loss of scores: most models have nothing to do."""
        del inputs, loss

    def penalty(self) -> Tensor | float:
        """What the loss has beside the cross-entropy, for the forward pass made last."""
        return 0.0

    def groups(self, weight_decay: float) -> list[dict[str, Any]]:
        """The weights for Adam, with the decay of each."""
        return [{"params": list(self.parameters()), "weight_decay": weight_decay}]


@dataclass
class NetworkClassifier(Classifier):
    """A classifier trained by Adam, stopped by validation, which keeps the state that validated best.

    Better means a higher validation accuracy or, at the same accuracy, a lower validation loss. Without validation
    nodes the last state is kept.

    Args:
        hidden: width of the hidden layer.
        dropout: share of hidden values dropped in training.
        rate: Adam's learning rate.
        weight_decay: Adam's weight decay.
        epochs: at most so many.
        patience: epochs without a better validation after which training stops.
    """

    hidden: int = 16
    dropout: float = 0.5
    rate: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 200
    patience: int = 100
    _network: Network | None = field(init=False, default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if min(self.hidden, self.epochs, self.patience) < 1:
            raise InputError("hidden, epochs and patience must be 1 or above")
        if not (0 <= self.dropout < 1 and self.rate > 0 and self.weight_decay >= 0):
            raise InputError("dropout lies in [0, 1), the rate above 0, and weight_decay at 0 or above")

    @abstractmethod
    def network(self, graph: Graph) -> Network:
        """A network with fresh weights for a graph's attributes and classes."""

    def settings(self) -> dict[str, Any]:
        values = super().settings()
        del values["kind"]
        return values

    def _train(self, graph: Graph, seed: int) -> None:
        with one_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = self.network(graph)
            _Loop(self, network, network.prepare(graph), graph).run()
        self._network = network

    def scores(self, graph: Graph) -> Tensor:
        """The score of every class for every node, N × C: the network's outputs before softmax."""
        if self._network is None:
            raise InputError(f"{self.name} has not been fitted yet")
        with one_thread(), torch.no_grad():
            scores: Tensor = self._network.eval()(self._network.prepare(graph))
            return scores

    def predict(self, graph: Graph) -> IntArray:
        return self.scores(graph).argmax(dim=1).numpy()


class _Loop:
    """One training: epochs, validation, and the best state."""

    def __init__(self, how: NetworkClassifier, network: Network, inputs: Any, graph: Graph) -> None:
        assert graph.labels is not None
        assert graph.split is not None
        self.how, self.network, self.inputs = how, network, inputs
        labels = torch.tensor(graph.labels)
        known = labels != UNKNOWN
        train, val = torch.tensor(graph.split.train), torch.tensor(graph.split.val)
        self.train, self.val = train[known[train]], val[known[val]]
        if not len(self.train):
            raise InputError("no training node has a known label")
        self.train_labels, self.val_labels = labels[self.train], labels[self.val]
        self.optimizer = torch.optim.Adam(network.groups(how.weight_decay), lr=how.rate)
        self.best = (-1.0, -math.inf)

    def run(self) -> None:
        since_best = 0
        state = None
        for _ in range(self.how.epochs):
            self.step()
            if not len(self.val):
                continue
            validation = self.validate()
            since_best += 1
            if validation > self.best:
                self.best, since_best = validation, 0
                state = copy.deepcopy(self.network.state_dict())
            if since_best >= self.how.patience:
                break
        if state is not None:
            self.network.load_state_dict(state)

    def step(self) -> None:
        self.network.train()
        self.network.learn_structure(self.inputs, self.loss)
        self.optimizer.zero_grad()
        scores = self.network(self.inputs)
        (self.loss(scores) / len(self.train) + self.network.penalty()).backward()
        self.optimizer.step()

    def loss(self, scores: Tensor) -> Tensor:
        """The cross-entropy, summed over the training nodes."""
        return cross_entropy(scores[self.train], self.train_labels, reduction="sum")

    def validate(self) -> tuple[float, float]:
        """The accuracy and the negative loss on the validation nodes."""
        self.network.eval()
        with torch.no_grad():
            scores = self.network(self.inputs)[self.val]
            accuracy = (scores.argmax(dim=1) == self.val_labels).double().mean()
            return float(accuracy), -float(cross_entropy(scores, self.val_labels))
