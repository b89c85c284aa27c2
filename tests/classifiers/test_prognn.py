"""Pro-GNN against its formula; its steps against dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.classifiers.prognn import ProGNN, likeness, shrink_spectrum, smoothness
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from tests.classifiers.dense import Matrix, Weights, adjacency, check_formula, features, normalized, small, two_layers


def dense_prognn(graph: Graph, weights: Weights) -> Matrix:
    spread = normalized(weights["structure"] + np.eye(graph.num_nodes))
    return two_layers(weights, spread, spread, features(graph))


def test_formula() -> None:
    check_formula(ProGNN(epochs=5, interval=1), dense_prognn)


@given(st.integers(0, 1000), st.floats(0, 3))
def test_spectrum_shrinks_as_singular_values_do(seed: int, threshold: float) -> None:
    matrix = np.random.default_rng(seed).standard_normal((8, 8))
    matrix = matrix + matrix.T
    left, values, right = np.linalg.svd(matrix)
    expected = left @ np.diag(np.maximum(values - threshold, 0)) @ right
    np.testing.assert_allclose(shrink_spectrum(torch.tensor(matrix), threshold).numpy(), expected, atol=1e-9)


def test_smoothness_is_the_trace() -> None:
    for seed in range(3):
        graph = small(seed)
        S = adjacency(graph) * 0.7
        sums = S.sum(axis=1)
        scale = np.diag((sums + 1e-3) ** -0.5)
        trace = np.trace(features(graph).T @ scale @ (np.diag(sums) - S) @ scale @ features(graph))
        products = likeness(graph)
        assert products is not None
        assert float(smoothness(torch.tensor(S, dtype=torch.float32), products)) == pytest.approx(trace, rel=1e-4)


def test_a_step_is_the_published_one() -> None:
    """The first step of S without supervision: a descent on λ·tr(XᵀL̂X), both proximal operators, the clipping."""
    graph = small(2)
    model = ProGNN(epochs=1, interval=1, supervision=0.0, smoothness=0.1, structure_rate=0.5, nuclear=0.4, sparsity=0.1)
    network = model.fit(graph, seed=0)._network
    assert network is not None
    found = network.state_dict()["structure"].numpy()
    A = torch.tensor(adjacency(graph), requires_grad=True)
    products = torch.tensor(features(graph) @ features(graph).T)
    smoothness(A, products).backward()
    assert A.grad is not None
    step = adjacency(graph) - 0.5 * 0.1 * (A.grad + A.grad.T).numpy() / 2
    values, vectors = np.linalg.eigh(step)
    low = vectors @ np.diag(np.sign(values) * np.maximum(np.abs(values) - 0.2, 0)) @ vectors.T
    expected = np.clip(np.sign(low) * np.maximum(np.abs(low) - 0.05, 0), 0, 1)
    np.testing.assert_allclose(found, expected, atol=2e-4)
    np.testing.assert_allclose(found, found.T, atol=1e-5)


def test_one_step_of_the_joined_rate() -> None:
    """The interval multiplies the rate of the step, and the weights take as many more steps until the next one."""
    graph = small(1)
    joined = ProGNN(epochs=1, interval=3, structure_rate=0.1).fit(graph, seed=0)
    single = ProGNN(epochs=1, interval=1, structure_rate=0.3).fit(graph, seed=0)
    np.testing.assert_allclose(joined.scores(graph).numpy(), single.scores(graph).numpy(), atol=1e-6)
    assert joined._network is not None
    structure = joined._network.state_dict()["structure"]
    unchanged = ProGNN(epochs=6, interval=3, structure_rate=0.1).fit(graph, seed=0)
    assert unchanged._network is not None
    torch.testing.assert_close(unchanged._network.state_dict()["structure"], structure)


def test_predicts_on_its_graph_only() -> None:
    model = ProGNN(epochs=2).fit(small(0), seed=0)
    with pytest.raises(InputError, match="predicts on no other"):
        model.predict(small(1))
