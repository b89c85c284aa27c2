"""GCN against its dense formula."""

from __future__ import annotations

from focusedcleaner.classifiers import GCN
from focusedcleaner.graph import Graph
from tests.classifiers.dense import Matrix, Weights, check_formula, features, hat, two_layers


def dense_gcn(graph: Graph, weights: Weights) -> Matrix:
    return two_layers(weights, hat(graph), hat(graph), features(graph))


def test_gcn_formula() -> None:
    check_formula(GCN(epochs=3), dense_gcn)
