"""The low-rank model against its formula, and its structure."""

from __future__ import annotations

import numpy as np

from focusedcleaner.classifiers.low_rank import LowRank, similar_low_rank
from focusedcleaner.graph import Graph
from tests.classifiers.dense import (
    Matrix,
    Weights,
    adjacency,
    check_formula,
    cosine,
    features,
    normalized,
    relu,
    small,
    two_layers,
)


def dense_low_rank(graph: Graph, weights: Weights) -> Matrix:
    structure = np.zeros((graph.num_nodes,) * 2)
    pairs, _ = similar_low_rank(graph, 1, 0.3, 0.1, 1e-3)
    structure[pairs[:, 0], pairs[:, 1]] = structure[pairs[:, 1], pairs[:, 0]] = weights["structure"]
    spread = normalized(structure + np.eye(graph.num_nodes))
    return two_layers(weights, spread, spread, features(graph))


def test_formula() -> None:
    check_formula(LowRank(epochs=3), dense_low_rank)


def test_low_rank_structure() -> None:
    graph = small(5)
    A = adjacency(graph)
    values, vectors = np.linalg.eigh(A)
    cut = np.sort(np.abs(values))[::-1][4]
    full = vectors @ np.diag(np.sign(values) * relu(np.abs(values) - cut)) @ vectors.T + 0.3 * A
    full[(cosine(features(graph)) < 0.1) | (full <= 1e-3)] = 0
    pairs, found = similar_low_rank(graph, 4, 0.3, 0.1, 1e-3)
    mine = np.zeros_like(full)
    mine[tuple(pairs.T)] = found
    np.testing.assert_allclose(mine, np.triu(np.clip(full, 0, 1), 1), atol=1e-9)
