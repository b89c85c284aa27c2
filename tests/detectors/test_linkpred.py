"""LinkPred's loss gradient, threshold and victims."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import logsigmoid

from focusedcleaner.datasets import synthetic
from focusedcleaner.detectors import LinkPred
from focusedcleaner.detectors.linkpred import PairParts, balanced_bce_gradient, g_mean_threshold
from focusedcleaner.engine import Pairs
from tests.detectors.views import view_of


@settings(deadline=None, max_examples=20)
@given(nodes=st.integers(3, 12), edges=st.integers(1, 3), others=st.integers(0, 10), seed=st.integers(0, 1000))
def test_the_gradient_of_the_balanced_cross_entropy_is_that_of_autograd(
    nodes: int, edges: int, others: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    ends = rng.permutation(np.argwhere(np.triu(np.ones((nodes, nodes)), 1)))[: edges + others].T
    outputs = torch.from_numpy(rng.normal(size=(nodes, 4))).requires_grad_()
    dots = (outputs[ends[0]] * outputs[ends[1]]).sum(1)
    positive, negative = dots[:edges], dots[edges:]
    loss = -logsigmoid(positive).mean() / 2
    if len(negative):
        loss = loss - logsigmoid(-negative).mean() / 2
    (expected,) = torch.autograd.grad(loss, outputs)
    pairs = Pairs(nodes, ends, dtype=torch.float64)
    ours = balanced_bce_gradient(pairs, edges, outputs.detach())
    by_parts = PairParts(pairs, edges, size=3).gradient([part.T for part in outputs.detach().split(3)])
    torch.testing.assert_close(torch.cat(by_parts, 1).T, ours)
    torch.testing.assert_close(ours, expected)


def test_victims_have_an_edge_below_the_threshold() -> None:
    view = view_of(synthetic(num_nodes=150, seed=1))
    gone = torch.arange(0, view.structure.num_edges, 9)
    view.structure.remove(gone)
    detector = LinkPred(first_epochs=30)
    victims = detector.victims(view, {})
    positive, negative, _ = detector.probabilities(view, {})
    positive = positive[view.structure.alive]
    threshold = float(g_mean_threshold(positive, negative))
    lowest = torch.ones(150)
    for probability, (u, v) in zip(positive, view.structure.ends[:, view.structure.alive].T.tolist(), strict=True):
        lowest[u], lowest[v] = torch.minimum(lowest[u], probability), torch.minimum(lowest[v], probability)
    assert 0 < int(victims.mask.sum()) < 150
    assert victims.mask[lowest < threshold - 1e-6].all()
    assert not victims.mask[lowest >= threshold].any()
    assert (view.structure.degrees == 0).any()
    assert not victims.mask[view.structure.degrees == 0].any()


@settings(deadline=None, max_examples=50)
@given(
    positive=st.lists(st.floats(0, 1, width=32), min_size=1, max_size=12),
    negative=st.lists(st.floats(0, 1, width=32), min_size=1, max_size=12),
)
def test_g_mean_threshold_is_the_best_of_all(positive: list[float], negative: list[float]) -> None:
    edges, others = torch.tensor(positive), torch.tensor(negative)

    def g_mean(threshold: float) -> float:
        return float(((edges >= threshold).float().mean() * (others < threshold).float().mean()).sqrt())

    best = float(g_mean_threshold(edges, others))
    assert g_mean(best) == pytest.approx(max(g_mean(value) for value in [*edges.tolist(), *others.tolist()]))
