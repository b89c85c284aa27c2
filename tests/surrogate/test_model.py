"""The sparse meta-gradient against a dense double-precision autograd oracle that shares no code with it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate import Implicit, InnerTraining, Surrogate, TwoLayer, Unrolled
from tests.strategies import labelled_graphs

UNROLLED = Unrolled(steps=20)
TWO_LAYER = TwoLayer(hidden=3, steps=20)
IMPLICIT = Implicit(weight_decay=0.01, tolerance=1e-12)
FORMS = ("dual", "primal", "sparse")


def dense_attributes(graph: Graph) -> Tensor:
    return torch.eye(graph.num_nodes).double() if graph.features is None else torch.tensor(graph.features.toarray())


def dense_two_hops(graph: Graph, adjacency: Tensor) -> Tensor:
    """Â²X as a differentiable function of A."""
    loops = adjacency + torch.eye(graph.num_nodes).double()
    scale = loops.sum(1).rsqrt()
    normalized = scale[:, None] * loops * scale
    return normalized @ normalized @ dense_attributes(graph)


def unrolled_weights(rows: Tensor, labels: Tensor, inner: Unrolled) -> Tensor:
    weights = torch.zeros(rows.shape[1], labels.shape[1]).double()
    velocity = torch.zeros_like(weights)
    for _ in range(inner.steps):
        velocity = inner.momentum * velocity + rows.T @ (torch.softmax(rows @ weights, 1) - labels) / len(labels)
        weights = weights - inner.rate * velocity
    return weights


def two_layer_weights(rows: Tensor, labels: Tensor, inner: TwoLayer) -> Tensor:
    """W₁·W₂ by autograd of the training loss, itself differentiable."""
    weights = [part.requires_grad_() for part in inner.initial(rows.shape[1], labels.shape[1], seed=0)]
    velocity = [torch.zeros_like(part) for part in weights]
    for _ in range(inner.steps):
        loss = -(torch.log_softmax(rows @ weights[0] @ weights[1], 1) * labels).sum() / len(labels)
        gradient = torch.autograd.grad(loss, weights, create_graph=True)
        velocity = [inner.momentum * old + new for old, new in zip(velocity, gradient, strict=True)]
        weights = [part - inner.rate * step for part, step in zip(weights, velocity, strict=True)]
    return weights[0] @ weights[1]


def optimal_weights(rows: Tensor, labels: Tensor, decay: float) -> Tensor:
    """Newton's method with the full Hessian; its last step is differentiable: the implicit function theorem."""
    shape = rows.shape[1], labels.shape[1]

    def objective(flat: Tensor, features: Tensor) -> Tensor:
        logs = torch.log_softmax(features @ flat.view(shape), 1)
        return -(logs * labels).sum() / len(labels) + decay / 2 * flat.square().sum()

    flat = torch.zeros(shape[0] * shape[1]).double()
    fixed = rows.detach()
    for _ in range(30):
        gradient = torch.func.grad(objective)(flat, fixed)
        if gradient.norm() < 1e-13:
            break
        flat = flat - torch.linalg.solve(torch.func.hessian(objective)(flat, fixed), gradient)
    gradient = torch.func.grad(objective)(flat, rows)
    return (flat - torch.linalg.solve(torch.func.hessian(objective)(flat, fixed), gradient)).view(shape)


def oracle(graph: Graph, inner: InnerTraining, signal: Tensor) -> Tensor:
    """d⟨signal, Z⟩/d(edge) for every edge, by autograd through a dense A."""
    assert graph.split is not None
    assert graph.labels is not None
    adjacency = torch.tensor(graph.adjacency().toarray(), requires_grad=True)
    two_hops = dense_two_hops(graph, adjacency)
    train = torch.tensor(graph.split.train)
    labels = torch.nn.functional.one_hot(torch.tensor(graph.labels)[train], graph.num_classes).double()
    rows = two_hops[train]
    if isinstance(inner, Unrolled):
        weights = unrolled_weights(rows, labels, inner)
    elif isinstance(inner, TwoLayer):
        weights = two_layer_weights(rows, labels, inner)
    else:
        mean_square = float(dense_attributes(graph).square().sum(1).mean()) or 1.0
        weights = optimal_weights(rows, labels, inner.weight_decay * mean_square)
    (gradient,) = torch.autograd.grad((signal * (two_hops @ weights)).sum(), adjacency)
    u, v = torch.tensor(graph.edges).T
    return gradient[u, v] + gradient[v, u]


def assert_close(ours: Tensor, theirs: Tensor) -> None:
    scale = max(float(theirs.abs().max()), 1e-3)
    assert float((ours - theirs).abs().max()) <= 1e-6 * scale


@pytest.mark.parametrize("inner", [UNROLLED, TWO_LAYER, IMPLICIT], ids=["unrolled", "two-layer", "implicit"])
@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=8)
@given(graph=labelled_graphs(max_nodes=9), seed=st.integers(0, 1000))
def test_meta_gradient_is_that_of_dense_autograd(inner: InnerTraining, form: str, graph: Graph, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    signal = torch.randn(graph.num_nodes, graph.num_classes, generator=generator, dtype=torch.float64)
    surrogate = Surrogate(graph, inner=inner, form=form)
    ours = surrogate.meta_gradient(surrogate.fit(), signal).edges()
    assert_close(ours, oracle(graph, inner, signal))


@settings(deadline=None, max_examples=25)
@given(graph=labelled_graphs(), count=st.integers(1, 4))
def test_a_structure_with_removed_edges_is_the_smaller_graph(graph: Graph, count: int) -> None:
    assume(count < graph.num_edges)
    gone = np.arange(count)
    kept = np.arange(len(gone), graph.num_edges)
    surrogate = Surrogate(graph, inner=IMPLICIT)
    surrogate.fit()
    surrogate.structure.remove(torch.from_numpy(gone))
    smaller = Surrogate(graph.without_edges(graph.edges[gone]), inner=IMPLICIT)
    signal = torch.ones(graph.num_nodes, graph.num_classes, dtype=torch.float64).cumsum(0).cumsum(1)
    one, other = surrogate.fit(), smaller.fit()
    assert torch.allclose(one.logits, other.logits, atol=1e-9)
    ours = surrogate.meta_gradient(one, signal).edges()[kept]
    assert_close(ours, smaller.meta_gradient(other, signal).edges())


def test_warm_start_ends_where_a_cold_start_does() -> None:
    graph = synthetic(num_nodes=120, seed=3)
    surrogate = Surrogate(graph, inner=Implicit(tolerance=1e-10))
    before = surrogate.fit()
    surrogate.structure.remove(torch.tensor([1, 5, 7]))
    warm, cold = surrogate.fit(before.solution.coordinates), surrogate.fit()
    assert torch.allclose(warm.logits, cold.logits, atol=1e-6)
    assert not torch.allclose(before.logits, cold.logits, atol=1e-6)


def test_settings_are_checked() -> None:
    for wrong in (lambda: Unrolled(steps=0), lambda: Unrolled(momentum=1.0), lambda: Implicit(weight_decay=0.0)):
        with pytest.raises(InputError):
            wrong()
    with pytest.raises(InputError, match="training nodes"):
        Surrogate(Graph(2, np.array([[0, 1]])))
