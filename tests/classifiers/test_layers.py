"""Each model's layer against the formula of its docstring, written densely and in double precision."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from focusedcleaner.classifiers.air import Air, adaptive
from focusedcleaner.classifiers.elastic import Elastic, elastic, incidence
from focusedcleaner.classifiers.gcn import GCN
from focusedcleaner.classifiers.gnnguard import GNNGuard, importance
from focusedcleaner.classifiers.median import Median, Neighbourhoods
from focusedcleaner.classifiers.mlp import MLP
from focusedcleaner.classifiers.prognn import ProGNN, similar_low_rank
from focusedcleaner.classifiers.rgcn import RGCN, convolve, divergence
from focusedcleaner.classifiers.sgc import SGC
from focusedcleaner.classifiers.simpgcn import SimPGCN, mix
from focusedcleaner.classifiers.training import NetworkClassifier
from focusedcleaner.engine.operators import EdgeMatrix, propagation
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
    assert graph.attributes is not None
    return np.asarray(graph.attributes.toarray())


def relu(matrix: Matrix) -> Matrix:
    return np.maximum(matrix, 0)


def cosine(values: Matrix) -> Matrix:
    length = np.linalg.norm(values, axis=1, keepdims=True)
    unit = values / np.where(length > 0, length, 1)
    return np.asarray(unit @ unit.T)


def two_layers(weights: Weights, first: Matrix, second: Matrix, X: Matrix, prefix: str = "") -> Matrix:
    hidden = relu(first @ X @ weights[f"{prefix}first.weight"] + weights[f"{prefix}first.bias"])
    return second @ hidden @ weights[f"{prefix}second.weight"] + weights[f"{prefix}second.bias"]


def dense_gcn(graph: Graph, weights: Weights) -> Matrix:
    return two_layers(weights, hat(graph), hat(graph), features(graph))


def dense_mlp(graph: Graph, weights: Weights) -> Matrix:
    eye = np.eye(graph.num_nodes)
    return two_layers(weights, eye, eye, features(graph), "perceptron.")


def dense_sgc(graph: Graph, weights: Weights) -> Matrix:
    return hat(graph) @ hat(graph) @ features(graph) @ weights["layer.weight"] + weights["layer.bias"]


def dense_rgcn(graph: Graph, weights: Weights) -> Matrix:
    squared = normalized(adjacency(graph) + np.eye(graph.num_nodes), -1.0)
    X = features(graph)
    mean = X @ weights["mean.weight"] + weights["mean.bias"]
    mean = np.where(mean > 0, mean, np.expm1(np.minimum(mean, 0)))
    variance = relu(X @ weights["variance.weight"] + weights["variance.bias"])
    attention = np.exp(-variance)
    mean, variance = hat(graph) @ (mean * attention), squared @ (variance * attention**2)
    mean = mean @ weights["mean_out.weight"] + weights["mean_out.bias"]
    variance = relu(variance @ weights["variance_out.weight"] + weights["variance_out.bias"])
    return np.asarray(hat(graph) @ (mean * np.exp(-variance)))


def dense_median(graph: Graph, weights: Weights) -> Matrix:
    near = adjacency(graph) + np.eye(graph.num_nodes) > 0

    def median(values: Matrix) -> Matrix:
        rows = [np.sort(values[near[node]], axis=0) for node in range(graph.num_nodes)]
        return np.array([row[(len(row) - 1) // 2] for row in rows])

    hidden = relu(median(features(graph) @ weights["first.weight"]) + weights["first.bias"])
    return median(hidden @ weights["second.weight"]) + weights["second.bias"]


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

    hidden = relu(layer("first", X, weights["first.weight"]) + weights["first.bias"])
    return layer("second", hidden, weights["second.weight"]) + weights["second.bias"]


def dense_gnnguard(graph: Graph, weights: Weights) -> Matrix:
    def attention(values: Matrix) -> Matrix:
        alike = cosine(values) * adjacency(graph)
        alike[alike < 0.1] = 0
        count, total = (alike > 0).sum(axis=1, keepdims=True), alike.sum(axis=1, keepdims=True)
        shares = alike / np.where(total > 0, total, 1) * count / (count + 1)
        return np.asarray(shares + np.diag(1 / (count[:, 0] + 1)))

    def scaled(matrix: Matrix) -> Matrix:
        root = matrix.sum(axis=1) ** -0.5
        return root[:, None] * matrix * root

    first = attention(features(graph))
    hidden = relu(scaled(first) @ features(graph) @ weights["first.weight"] + weights["first.bias"])
    second = 0.5 * first + 0.5 * attention(hidden)
    return scaled(second) @ hidden @ weights["second.weight"] + weights["second.bias"]


def dense_elastic(graph: Graph, weights: Weights) -> Matrix:
    start = dense_mlp(graph, weights)
    u, v = graph.edges.T
    root = (graph.degrees + 1.0) ** -0.5
    delta = np.zeros((graph.num_edges, graph.num_nodes))
    delta[np.arange(len(u)), u], delta[np.arange(len(u)), v] = root[u], -root[v]
    share, values, dual = 1 / 4, start, np.zeros((graph.num_edges, start.shape[1]))
    for _ in range(10):
        target = share * start + (1 - share) * hat(graph) @ values
        dual = dual + delta @ (target - share * delta.T @ dual) / (2 * share)
        length = np.linalg.norm(dual, axis=1, keepdims=True)
        dual = np.where(length > 3, 3 * dual / np.where(length > 0, length, 1), dual)
        values = target - share * delta.T @ dual
    return np.asarray(values)


def dense_air(graph: Graph, weights: Weights) -> Matrix:
    start = values = dense_mlp(graph, weights)
    for _ in range(10):
        change = hat(graph) @ values - start
        length = np.linalg.norm(change, axis=1, keepdims=True)
        share = relu(1 - 0.5 / np.where(length > 0, length, 1e-300))
        values = (1 - share) * start + share * (start + change)
    return np.asarray(values)


def dense_prognn(graph: Graph, weights: Weights) -> Matrix:
    structure = np.zeros((graph.num_nodes,) * 2)
    pairs, _ = similar_low_rank(graph, 1, 0.3, 0.1, 1e-3)
    structure[pairs[:, 0], pairs[:, 1]] = structure[pairs[:, 1], pairs[:, 0]] = weights["structure"]
    spread = normalized(structure + np.eye(graph.num_nodes))
    return two_layers(weights, spread, spread, features(graph))


REFERENCES: list[tuple[NetworkClassifier, Callable[[Graph, Weights], Matrix]]] = [
    (GCN(epochs=3), dense_gcn),
    (MLP(epochs=3), dense_mlp),
    (SGC(epochs=3), dense_sgc),
    (RGCN(epochs=3), dense_rgcn),
    (Median(epochs=3), dense_median),
    (SimPGCN(epochs=3, neighbours=3), dense_simpgcn),
    (GNNGuard(epochs=3), dense_gnnguard),
    (Elastic(epochs=3), dense_elastic),
    (Air(epochs=3, smoothness=0.5), dense_air),
    (ProGNN(epochs=3), dense_prognn),
]


@pytest.mark.parametrize(("model", "reference"), REFERENCES, ids=lambda part: getattr(part, "name", ""))
@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_the_formula(
    model: NetworkClassifier, reference: Callable[[Graph, Weights], Matrix], seed: int
) -> None:
    graph = small(seed)
    scores = model.fit(graph, seed=seed).scores(graph)
    assert model._network is not None
    weights = {name: value.numpy().astype(np.float64) for name, value in model._network.state_dict().items()}
    np.testing.assert_allclose(scores.numpy(), reference(graph, weights), rtol=1e-3, atol=1e-4)


def test_every_model_has_a_reference() -> None:
    from tests.classifiers.test_classifiers import MODELS

    assert {type(model) for model, _ in REFERENCES} == set(MODELS)


def test_divergence_is_that_of_torch() -> None:
    mean, variance = torch.randn(5, 3), torch.rand(5, 3) + 0.1
    normal = torch.distributions.Normal
    expected = torch.distributions.kl_divergence(normal(mean, variance.sqrt()), normal(0.0, 1.0)).sum(dim=1).mean()
    torch.testing.assert_close(divergence(mean, variance), expected)


def test_uncertain_features_count_less() -> None:
    spread = propagation(small(0))
    mean = torch.ones(14, 1)
    low, high = (convolve(mean, torch.full((14, 1), v), spread, spread, attention=1.0)[0] for v in (0.1, 2.0))
    assert (low > high).all()


def test_elastic_and_adaptive_passing_lower_what_they_minimize() -> None:
    graph = small(3)
    spread, differences = propagation(graph), incidence(graph)
    start = torch.randn(14, 3, generator=torch.manual_seed(0))

    def elastic_loss(values: torch.Tensor) -> float:
        smooth = (values * (values - spread(values))).sum()
        return float(0.5 * (values - start).square().sum() + differences[0](values).norm(dim=1).sum() + 0.5 * smooth)

    def adaptive_loss(values: torch.Tensor) -> float:
        return float(0.5 * (values * (values - spread(values))).sum() + 0.5 * (values - start).norm(dim=1).sum())

    optimum = elastic(start, spread, differences, (1.0, 1.0), 500)
    assert (
        elastic_loss(optimum) < elastic_loss(elastic(start, spread, differences, (1.0, 1.0), 3)) < elastic_loss(start)
    )
    assert adaptive_loss(adaptive(start, spread, 0.5, 200)) < adaptive_loss(adaptive(start, spread, 0.5, 2))
    rng = torch.manual_seed(1)
    for _ in range(20):
        assert elastic_loss(optimum) <= elastic_loss(optimum + 0.01 * torch.randn(14, 3, generator=rng)) + 1e-5


def test_importance_sums_to_one_at_every_node() -> None:
    pattern = EdgeMatrix(small(2))
    sums = pattern.row_sums(importance(pattern, torch.rand(len(pattern.rows)), 0.1))
    torch.testing.assert_close(sums, torch.ones(14))


def test_medians_of_wide_neighbourhoods() -> None:
    star = Graph(9, [[0, leaf] for leaf in range(1, 9)])
    values = torch.tensor([5.0, 1, 2, 3, 4, 6, 7, 8, 9]).unsqueeze(1)
    assert Neighbourhoods(star).median(values).ravel().tolist() == [5.0, 1, 2, 3, 4, 5, 5, 5, 5]


def test_mixing_by_closed_gates_leaves_one_graph() -> None:
    one, other = propagation(small(0)), propagation(small(1))
    values = torch.randn(14, 2)
    gate = torch.stack([torch.full((14,), 50.0), torch.zeros(14)], dim=1)
    torch.testing.assert_close(mix(one, other, gate, values, 0.1), one(values))


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
