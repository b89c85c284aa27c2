"""The contract of a classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.io.convert import as_graph
from focusedcleaner.settings import Configurable


class Classifier(Configurable, ABC):
    """Learns the classes of nodes from the training nodes of a graph.

    The constructor only stores settings. All methods take a `Graph`, PyG `Data`, a NetworkX graph or a scipy adjacency.
    """

    name: ClassVar[str]

    def fit(self, graph: Any, *, seed: int = 0) -> Self:
        """Train on the training nodes, with early stopping on the validation nodes; test labels are hidden."""
        graph = as_graph(graph)
        if graph.labels is None or graph.split is None or not len(graph.split.train):
            raise InputError("a classifier needs a graph with labels and training nodes")
        self._train(graph.without_test_labels(), seed)
        return self

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
