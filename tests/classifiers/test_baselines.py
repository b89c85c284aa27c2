"""GCN, SGC and MLP against their formulas."""

from __future__ import annotations

from focusedcleaner.classifiers import GCN, MLP, SGC
from focusedcleaner.graph import Graph
from tests.classifiers.dense import Matrix, Weights, check_formula, features, hat, perceptron, two_layers


def dense_gcn(graph: Graph, weights: Weights) -> Matrix:
    return two_layers(weights, hat(graph), hat(graph), features(graph))


def test_gcn_formula() -> None:
    check_formula(GCN(epochs=3), dense_gcn)


def dense_sgc(graph: Graph, weights: Weights) -> Matrix:
    return hat(graph) @ hat(graph) @ features(graph) @ weights["layer.weight"] + weights["layer.bias"]


def test_sgc_formula() -> None:
    check_formula(SGC(epochs=3), dense_sgc)


def test_mlp_formula() -> None:
    check_formula(MLP(epochs=3), perceptron)
