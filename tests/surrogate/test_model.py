"""The sparse meta-gradient against a dense double-precision autograd oracle that shares no code with it."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from focusedcleaner.datasets import synthetic
from focusedcleaner.engine import Attributes, Structure
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate import Implicit, Smoother, Surrogate, Unrolled
from focusedcleaner.surrogate.features import Dual, Primal
from tests.strategies import labelled_graphs

UNROLLED = Unrolled()
IMPLICIT = Implicit(weight_decay=0.01, tolerance=1e-12)
FORMS = ("dual", "primal", "sparse")


def dense_attributes(graph: Graph) -> Tensor:
    return torch.eye(graph.num_nodes).double() if graph.attributes is None else torch.tensor(graph.attributes.toarray())


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
        flat = flat - torch.linalg.solve(torch.func.hessian(objective)(flat, fixed), gradient)
    gradient = torch.func.grad(objective)(flat, rows)
    return (flat - torch.linalg.solve(torch.func.hessian(objective)(flat, fixed), gradient)).view(shape)


def oracle(graph: Graph, inner: Unrolled | Implicit, signal: Tensor) -> Tensor:
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
    else:
        mean_square = float(dense_attributes(graph).square().sum(1).mean()) or 1.0
        weights = optimal_weights(rows, labels, inner.weight_decay * mean_square)
    (gradient,) = torch.autograd.grad((signal * (two_hops @ weights)).sum(), adjacency)
    u, v = torch.tensor(graph.edges).T
    return gradient[u, v] + gradient[v, u]


def assert_close(ours: Tensor, theirs: Tensor) -> None:
    scale = max(float(theirs.abs().max()), 1e-3)
    assert float((ours - theirs).abs().max()) <= 1e-6 * scale


@pytest.mark.parametrize("inner", [UNROLLED, IMPLICIT], ids=["unrolled", "implicit"])
@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=15)
@given(graph=labelled_graphs(), seed=st.integers(0, 1000))
def test_meta_gradient_is_that_of_dense_autograd(
    inner: Unrolled | Implicit, form: str, graph: Graph, seed: int
) -> None:
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


@settings(deadline=None, max_examples=40)
@given(graph=labelled_graphs(min_nodes=10, max_nodes=30), order=st.randoms(use_true_random=False))
def test_features_kept_over_removals_are_those_computed_afresh(graph: Graph, order: Random) -> None:
    surrogate = Surrogate(graph, form="dual")
    edges = list(range(graph.num_edges))
    order.shuffle(edges)
    for step in (edges[:1], edges[1:2], edges[2:]):
        surrogate.structure.remove(torch.tensor(step, dtype=torch.long))
        kept = surrogate.features.now()
        fresh = Surrogate(graph, form="dual")
        fresh.structure.remove(torch.nonzero(~surrogate.structure.alive).squeeze(1))
        anew = fresh.features.now()
        assert isinstance(kept, Dual)
        assert isinstance(anew, Dual)
        assert torch.equal(kept.rows, anew.rows)
        torch.testing.assert_close(kept.gram, anew.gram, rtol=1e-12, atol=1e-12)


def test_warm_start_ends_where_a_cold_start_does() -> None:
    graph = synthetic(num_nodes=120, seed=3)
    surrogate = Surrogate(graph, inner=Implicit(tolerance=1e-10))
    before = surrogate.fit()
    surrogate.structure.remove(torch.tensor([1, 5, 7]))
    warm, cold = surrogate.fit(before.solution.coordinates), surrogate.fit()
    assert torch.allclose(warm.logits, cold.logits, atol=1e-6)
    assert not torch.allclose(before.logits, cold.logits, atol=1e-6)


def test_many_rows_by_a_dense_product_are_those_by_sparse_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic(num_nodes=300, num_attributes=6, seed=0)
    by_dense = Surrogate(graph, form="primal").features.now()
    monkeypatch.setattr("focusedcleaner.surrogate.features.DENSE_LIMIT", 10)
    by_sparse = Surrogate(graph, form="primal").features.now()
    assert isinstance(by_dense, Primal)
    assert isinstance(by_sparse, Primal)
    torch.testing.assert_close(by_dense.rows, by_sparse.rows)


def test_the_form_is_picked_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic(num_nodes=300, num_attributes=10, seed=0)
    assert type(Surrogate(graph).fit().features).__name__ == "Primal"
    wide = synthetic(num_nodes=300, num_attributes=200, seed=0)
    assert type(Surrogate(wide).fit().features).__name__ == "Dual"
    monkeypatch.setattr("focusedcleaner.surrogate.features.DENSE_LIMIT", 10)
    assert type(Surrogate(wide).fit().features).__name__ == "Sparse"


@settings(deadline=None, max_examples=30)
@given(graph=labelled_graphs())
def test_smoother_and_its_gradient(graph: Graph) -> None:
    structure = Structure(graph)
    smoother = Smoother(graph, Attributes(graph))
    adjacency = torch.tensor(graph.adjacency().toarray(), requires_grad=True)
    attributes = dense_attributes(graph) if graph.attributes is not None else torch.zeros(graph.num_nodes, 1).double()
    degrees = adjacency.sum(1)
    scale = torch.where(degrees > 0, degrees.clamp_min(1e-9).rsqrt(), 0.0)
    laplacian = torch.diag((degrees > 0).double()) - scale[:, None] * adjacency * scale
    value = torch.trace(attributes.T @ laplacian @ attributes)
    assert float(smoother.value(structure)) == pytest.approx(value.item(), abs=1e-9)
    (gradient,) = torch.autograd.grad(value, adjacency)
    u, v = torch.tensor(graph.edges).T
    assert_close(smoother.edges(structure), gradient[u, v] + gradient[v, u])


def test_settings_are_checked() -> None:
    for wrong in (lambda: Unrolled(steps=0), lambda: Unrolled(momentum=1.0), lambda: Implicit(weight_decay=0.0)):
        with pytest.raises(InputError):
            wrong()
    with pytest.raises(InputError, match="training nodes"):
        Surrogate(Graph(2, np.array([[0, 1]])))
