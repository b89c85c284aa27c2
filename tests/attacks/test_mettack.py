"""METTACK against a dense greedy reference, and its guarantees on any graph."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import cross_entropy

from focusedcleaner.attacks import Mettack, Regularized, attack
from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.datasets import synthetic
from focusedcleaner.engine.structure import MutableEdges
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.surrogate import Implicit, Surrogate, Unrolled
from tests.strategies import labelled_graphs
from tests.surrogate.test_model import dense_attributes, dense_two_hops, unrolled_weights

pytestmark = pytest.mark.slow

UNROLLED = Unrolled(steps=30)
IMPLICIT = Implicit(weight_decay=0.01, tolerance=1e-12)
INNER = pytest.mark.parametrize("inner", [UNROLLED, IMPLICIT], ids=["unrolled", "implicit"])
LAMBDA = pytest.mark.parametrize("lambda_", [0.0, 0.5, 1.0], ids=["self", "both", "train"])


def optimal_weights(rows: Tensor, labels: Tensor, decay: float) -> Tensor:
    """Newton's method with the whole Hessian; only its last step depends on ``rows`` for autograd, which suffices."""
    count, (columns, classes) = len(rows), (rows.shape[1], labels.shape[1])
    fixed = rows.detach()
    weights = torch.zeros(columns, classes).double()
    for features in [*[fixed] * 25, rows]:
        softmax = torch.softmax(fixed @ weights, 1)
        bends = torch.diag_embed(softmax) - softmax[:, :, None] * softmax[:, None, :]
        hessian = torch.einsum("if,ig,ice->fcge", fixed, fixed, bends).reshape(columns * classes, -1) / count
        slope = features.T @ (torch.softmax(features @ weights, 1) - labels) / count + decay * weights
        damped = hessian + decay * torch.eye(columns * classes).double()
        weights = weights - torch.linalg.solve(damped, slope.reshape(-1)).view(columns, classes)
    return weights


def dense_logits(graph: Graph, inner: Unrolled | Implicit, adjacency: Tensor) -> Tensor:
    assert graph.split is not None
    two_hops = dense_two_hops(graph, adjacency)
    train = torch.tensor(graph.split.train)
    labels = torch.nn.functional.one_hot(torch.tensor(graph.labels)[train], graph.num_classes).double()
    if isinstance(inner, Unrolled):
        return two_hops @ unrolled_weights(two_hops[train], labels, inner)
    mean_square = float(dense_attributes(graph).square().sum(1).mean()) or 1.0
    return two_hops @ optimal_weights(two_hops[train], labels, inner.weight_decay * mean_square)


def own_predictions(graph: Graph, inner: Unrolled | Implicit) -> Tensor:
    """ŷ; graphs on which rounding decides it are left out."""
    logits = dense_logits(graph, inner, torch.tensor(graph.adjacency().toarray())).detach()
    best = logits.sort(1, descending=True).values
    gap = best[:, 0] - best[:, 1]
    assume(bool(((gap > 1e-7) | (best.abs().amax(1) == 0)).all()))
    return logits.argmax(1)


def dense_scores(
    graph: Graph, inner: Unrolled | Implicit, lambda_: float, predicted: Tensor, adjacency: Tensor
) -> Tensor:
    """(1 − 2A)·∂L/∂A of every pair, by autograd through dense matrices and the whole inner training."""
    assert graph.split is not None
    adjacency = adjacency.clone().requires_grad_()
    logits = dense_logits(graph, inner, adjacency)
    train = torch.tensor(graph.split.train)
    others = torch.tensor(np.setdiff1d(np.arange(graph.num_nodes), graph.split.train))
    loss = lambda_ * cross_entropy(logits[train], torch.tensor(graph.labels)[train])
    if len(others):
        loss = loss + (1 - lambda_) * cross_entropy(logits[others], predicted[others])
    (gradient,) = torch.autograd.grad(loss, adjacency)
    return ((gradient + gradient.T) * (1 - 2 * adjacency)).detach()


@INNER
@LAMBDA
@settings(deadline=None, max_examples=12)
@given(graph=labelled_graphs())
def test_the_score_of_every_pair_is_that_of_dense_autograd(
    inner: Unrolled | Implicit, lambda_: float, graph: Graph
) -> None:
    predicted = own_predictions(graph, inner)
    adjacency = torch.tensor(graph.adjacency().toarray())
    expected = dense_scores(graph, inner, lambda_, predicted, adjacency)
    surrogate = Surrogate(graph, inner=inner)
    fitted = surrogate.fit()
    loss = AttackerLoss(graph, fitted.logits.argmax(1), lambda_)
    front, back = surrogate.meta_gradient(fitted, loss.signal(fitted.logits)).factors()
    ours = (front @ back.T) * (1 - 2 * adjacency)
    off = ~torch.eye(graph.num_nodes).bool()
    scale = max(float(expected[off].abs().max()), 1e-3)
    assert float((ours - expected)[off].abs().max()) <= 1e-6 * scale


@INNER
@LAMBDA
@settings(deadline=None, max_examples=8)
@given(graph=labelled_graphs())
def test_flips_are_those_of_a_dense_greedy_attack(inner: Unrolled | Implicit, lambda_: float, graph: Graph) -> None:
    predicted = own_predictions(graph, inner)
    flips = Mettack(lambda_, 1.0, inner).poison(graph, min(4, graph.num_edges)).flips
    assert flips is not None
    adjacency = torch.tensor(graph.adjacency().toarray())
    closed = torch.eye(graph.num_nodes).bool()
    for u, v in flips:
        scores = dense_scores(graph, inner, lambda_, predicted, adjacency)
        leaf = adjacency.sum(1) == 1
        stays = closed | ((adjacency > 0) & (leaf[:, None] | leaf))
        scores[stays] = -torch.inf
        # Twins have equal scores: whichever of them was taken, it must be a best one.
        tolerance = 1e-6 * max(1e-3, float(scores[~stays].abs().max()))
        assert scores[u, v] >= scores.max() - tolerance
        adjacency[u, v] = adjacency[v, u] = 1 - adjacency[u, v]
        closed[u, v] = closed[v, u] = True


@settings(deadline=None, max_examples=15)
@given(
    graph=labelled_graphs(),
    lambda_=st.sampled_from([0.0, 0.5, 1.0]),
    power=st.floats(0.1, 0.99),
    unrolled=st.booleans(),
    ratio=st.sampled_from([None, 0.004, 0.5]),
    share=st.sampled_from([0.0, 0.04, 0.5, 1.0]),
)
def test_promises(
    graph: Graph, lambda_: float, power: float, unrolled: bool, ratio: float | None, share: float
) -> None:
    assume(power * graph.num_edges >= 1)
    before = graph.fingerprint()
    method = Mettack(lambda_, share, UNROLLED if unrolled else Implicit(), ratio)
    poisoning = method.poison(graph, power, seed=1)
    assert graph.fingerprint() == before
    flips = poisoning.flips
    assert flips is not None
    assert len(flips) <= poisoning.budget
    assert len(flips) == len(poisoning.added) + len(poisoning.removed)
    assert len(np.unique(flips, axis=0)) == len(flips)
    assert (flips[:, 0] < flips[:, 1]).all()
    assert len(poisoning.removed) <= share * len(flips)
    assert poisoning.graph.num_edges == graph.num_edges + len(poisoning.added) - len(poisoning.removed)
    assert poisoning.graph.split == graph.split
    bare = MutableEdges(graph)
    for u, v in flips:
        bare.flip(u, v)
        assert (bare.degrees > 0)[graph.degrees > 0].all()
    again = method.poison(graph, power, seed=1)
    np.testing.assert_array_equal(again.flips, flips)
    half = max(1, len(flips) // 2)
    if len(flips):
        np.testing.assert_array_equal(method.poison(graph, half).added, poisoning.prefix(half).added)
        assert poisoning.prefix(half).graph == method.poison(graph, half).graph


def test_it_ends_early_where_no_pair_is_left() -> None:
    """A triangle of three nodes: one edge can go, the rest would isolate a node or be put back."""
    graph = Graph(3, [[0, 1], [0, 2], [1, 2]], labels=[0, 1, 0], split=Split([0, 1], [], [2]))
    poisoning = Mettack(max_removed=1.0).poison(graph, 3)
    assert len(poisoning.removed) == 1
    assert len(poisoning.added) == 0


def test_no_bound_on_removals() -> None:
    graph = synthetic(60, seed=3)
    flips = attack("mettack", max_removed="none").poison(graph, 25).flips
    np.testing.assert_array_equal(flips, Mettack(max_removed=1.0).poison(graph, 25).flips)
    assert attack("mettack", max_removed="none") == Mettack(max_removed=None)


def test_threads_and_time_do_not_matter() -> None:
    graph = synthetic(120, seed=2)
    flips = Mettack().poison(graph, 10).flips
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        np.testing.assert_array_equal(Mettack().poison(graph, 10).flips, flips)
    finally:
        torch.set_num_threads(before)


def test_it_does_harm() -> None:
    """The surrogate, trained again on the poisoned graph, errs more than after random flips."""
    graph = synthetic(300, seed=0)
    assert graph.labels is not None

    def accuracy(poisoned: Graph) -> float:
        predicted = Surrogate(poisoned).fit().logits.argmax(1).numpy()
        return float((predicted == graph.labels).mean())

    ours = accuracy(Mettack().poison(graph, "10%").graph)
    assert ours < accuracy(attack("random").poison(graph, "10%").graph) - 0.1


def test_settings() -> None:
    assert attack("mettack") == Mettack(inner=Regularized(weight_decay=1e-3))
    assert attack("mettack", weight_decay=0.1) == Mettack(inner=Regularized(weight_decay=0.1))
    assert attack("mettack", inner="unrolled") == Mettack(inner=Unrolled(100, 0.1, 0.9))
    assert attack("mettack", likelihood_ratio="0.004", lambda_="0.5") == Mettack(0.5, likelihood_ratio=0.004)
    for wrong in ({"lambda_": 1.5}, {"max_removed": -0.1}, {"likelihood_ratio": 0.0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Mettack(**wrong)  # type: ignore[arg-type]
