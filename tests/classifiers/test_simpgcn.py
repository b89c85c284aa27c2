"""SimPGCN against its formula."""

from __future__ import annotations

import numpy as np
import torch

from focusedcleaner.classifiers.simpgcn import SimPGCN, mix
from focusedcleaner.engine.operators import propagation
from focusedcleaner.graph import Graph
from tests.classifiers.dense import Matrix, Weights, check_formula, cosine, features, hat, normalized, small


def dense_simpgcn(graph: Graph, weights: Weights) -> Matrix:
    X = features(graph)
    alike = cosine(X)
    np.fill_diagonal(alike, 0)
    nearest = np.zeros_like(alike)
    for node, row in enumerate(alike):
        best = np.argsort(-row)[:3]
        nearest[node, best[row[best] > 0]] = 1
    similar = normalized(np.maximum(nearest, nearest.T) + np.eye(graph.num_nodes))

    def layer(name: str, values: Matrix, weight: Matrix) -> Matrix:
        gate = values @ weights[f"{name}_gate.weight"] + weights[f"{name}_gate.bias"]
        share = 1 / (1 + np.exp(-gate[:, :1]))
        mixed = share * hat(graph) + (1 - share) * similar + 0.1 * np.diag(gate[:, 1])
        return np.asarray(mixed @ values @ weight)

    hidden = layer("first", X, weights["first.weight"]) + weights["first.bias"]
    return layer("second", hidden, weights["second.weight"]) + weights["second.bias"]


def test_formula() -> None:
    check_formula(SimPGCN(epochs=3, neighbours=3), dense_simpgcn)


def test_mixing_by_closed_gates_leaves_one_graph() -> None:
    one, other = propagation(small(0)), propagation(small(1))
    values = torch.randn(14, 2)
    gate = torch.stack([torch.full((14,), 50.0), torch.zeros(14)], dim=1)
    torch.testing.assert_close(mix(one, other, gate, values, 0.1), one(values))
