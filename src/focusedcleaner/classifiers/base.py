"""The contract of a classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.settings import Configurable


class Classifier(Configurable, ABC):
    """Learns the classes of nodes from the training nodes of a graph.

    The constructor stores settings and nothing else; `fit` sees the graph without the labels of test nodes.
    """

    name: ClassVar[str]

    def fit(self, graph: Graph, *, seed: int = 0) -> Self:
        """Train on the graph's training nodes, stopping by its validation nodes."""
        if graph.labels is None or graph.split is None or not len(graph.split.train):
            raise InputError("a classifier needs a graph with labels and training nodes")
        self._train(graph.without_test_labels(), seed)
        return self

    @abstractmethod
    def _train(self, graph: Graph, seed: int) -> None:
        """Learn, and keep what was learnt."""

    @abstractmethod
    def predict(self, graph: Graph) -> IntArray:
        """The class of every node, N values."""

    def accuracy(self, graph: Graph) -> float:
        """The share of the graph's test nodes with a known label that is predicted right."""
        if graph.labels is None or graph.split is None:
            raise InputError("accuracy needs a graph with labels and a split")
        nodes = graph.split.test[graph.labels[graph.split.test] >= 0]
        return float(np.mean(self.predict(graph)[nodes] == graph.labels[nodes])) if len(nodes) else float("nan")
