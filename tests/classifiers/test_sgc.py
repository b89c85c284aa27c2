"""SGC against its dense formula."""

from __future__ import annotations

from focusedcleaner.classifiers import SGC
from focusedcleaner.graph import Graph
from tests.classifiers.dense import Matrix, Weights, check_formula, features, hat


def dense_sgc(graph: Graph, weights: Weights) -> Matrix:
    return hat(graph) @ hat(graph) @ features(graph) @ weights["layer.weight"] + weights["layer.bias"]


def test_sgc_formula() -> None:
    check_formula(SGC(epochs=3), dense_sgc)
