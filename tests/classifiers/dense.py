"""Dense double-precision building blocks, to check each model against the formula of its docstring."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from focusedcleaner.classifiers.base import NetworkClassifier
from focusedcleaner.graph import Graph, Split

Matrix = NDArray[np.float64]
Weights = dict[str, Matrix]


def small(seed: int, num_nodes: int = 14) -> Graph:
    """A random graph with an isolated node, a node without attributes and attributes of random size."""
    rng = np.random.default_rng(seed)
    attributes = rng.uniform(0.5, 1.5, (num_nodes, 9)) * (rng.random((num_nodes, 9)) < 0.5)
    attributes[1] = 0
    return Graph.from_pairs(
        num_nodes,
        rng.integers(0, num_nodes - 1, (2 * num_nodes, 2)),
        attributes=sp.csr_array(attributes),
        labels=rng.integers(0, 3, num_nodes) % 3,
        class_names=("a", "b", "c"),
        split=Split(np.arange(6), np.arange(6, 9), np.arange(9, num_nodes)),
        names=range(num_nodes),  # in order, so that the network sees the nodes in this one
    )


def adjacency(graph: Graph) -> Matrix:
    return np.asarray(graph.adjacency().toarray())


def normalized(matrix: Matrix, power: float = -0.5) -> Matrix:
    with np.errstate(divide="ignore"):
        scale = np.where(matrix.sum(axis=1) > 0, matrix.sum(axis=1) ** power, 0.0)
    return scale[:, None] * matrix * scale


def hat(graph: Graph) -> Matrix:
    return normalized(adjacency(graph) + np.eye(graph.num_nodes))


def features(graph: Graph) -> Matrix:
    assert graph.features is not None
    return np.asarray(graph.features.toarray())


def relu(matrix: Matrix) -> Matrix:
    return np.maximum(matrix, 0)


def cosine(values: Matrix) -> Matrix:
    length = np.linalg.norm(values, axis=1, keepdims=True)
    unit = values / np.where(length > 0, length, 1)
    return np.asarray(unit @ unit.T)


def two_layers(weights: Weights, first: Matrix, second: Matrix, X: Matrix) -> Matrix:
    hidden = relu(first @ X @ weights["first.weight"] + weights["first.bias"])
    return second @ hidden @ weights["second.weight"] + weights["second.bias"]


def perceptron(graph: Graph, weights: Weights) -> Matrix:
    return two_layers(weights, np.eye(graph.num_nodes), np.eye(graph.num_nodes), features(graph))


def check_formula(model: NetworkClassifier, reference: Callable[[Graph, Weights], Matrix]) -> None:
    """The logits of a fitted model are those of the dense formula, on graphs with isolated nodes and empty rows."""
    for seed in range(4):
        graph = small(seed)
        scores = model.fit(graph, seed=seed).scores(graph)
        assert model._network is not None
        weights = {name: value.numpy().astype(np.float64) for name, value in model._network.state_dict().items()}
        np.testing.assert_allclose(scores.numpy(), reference(graph, weights), rtol=1e-3, atol=1e-4)
