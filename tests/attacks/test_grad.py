"""GraD against a dense greedy reference, and its guarantees."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from focusedcleaner.attacks import GraD, attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate import Implicit, Unrolled
from tests.attacks.promises import check_harm, check_promises
from tests.attacks.test_mettack import IMPLICIT, INNER, dense_logits, own_predictions
from tests.strategies import labelled_graphs

pytestmark = pytest.mark.slow


@INNER
@settings(deadline=None, max_examples=8)
@given(graph=labelled_graphs())
def test_the_first_flip_is_the_best_by_dense_autograd(inner: Unrolled | Implicit, graph: Graph) -> None:
    assert graph.split is not None
    others = np.setdiff1d(np.arange(graph.num_nodes), graph.split.train)
    predicted = own_predictions(graph, inner)
    flips = GraD(0.0, 1.0, inner).poison(graph, 1).flips
    assert flips is not None
    assume(len(flips))
    adjacency = torch.tensor(graph.adjacency().toarray()).requires_grad_()
    probabilities = torch.softmax(dense_logits(graph, inner, adjacency), 1)
    loss = -probabilities[others, predicted[others]].mean()
    (gradient,) = torch.autograd.grad(loss, adjacency)
    edges = adjacency.detach()
    scores = (gradient + gradient.T) * (1 - 2 * edges)
    leaf = edges.sum(1) == 1
    scores[torch.eye(graph.num_nodes).bool() | ((edges > 0) & (leaf[:, None] | leaf))] = -torch.inf
    u, v = flips[0]
    tolerance = 1e-6 * max(1e-3, float(scores[scores > -torch.inf].abs().max()))
    assert scores[u, v] >= scores.max() - tolerance


@settings(deadline=None, max_examples=6)
@given(graph=labelled_graphs(), power=st.floats(0.2, 0.9), seed=st.integers(0, 1000))
def test_promises(graph: Graph, power: float, seed: int) -> None:
    assume(power * graph.num_edges >= 1)
    check_promises(GraD(inner=IMPLICIT), graph, power, seed)


def test_it_does_harm() -> None:
    check_harm(GraD())


def test_a_smaller_power_is_a_prefix() -> None:
    graph = synthetic(100, seed=0)
    first = attack("grad").poison(graph, 8).prefix(3)
    np.testing.assert_array_equal(first.flips, attack("grad").poison(graph, 3).flips)


def test_settings() -> None:
    assert attack("grad", inner="unrolled", max_removed=1) == GraD(max_removed=1.0, inner=Unrolled())
