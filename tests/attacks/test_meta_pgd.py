"""Meta-PGD: its gradient, and its guarantees."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from focusedcleaner.attacks import MetaPGD, attack
from focusedcleaner.attacks.pgd import Ascent
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate import Implicit, Unrolled
from tests.attacks.promises import check_harm, check_promises
from tests.attacks.test_mettack import INNER, UNROLLED, dense_logits
from tests.attacks.test_pgd import perturbed
from tests.strategies import labelled_graphs

pytestmark = pytest.mark.slow


@INNER
@settings(deadline=None, max_examples=10)
@given(graph=labelled_graphs(), steps=st.integers(0, 2))
def test_the_gradient_is_that_of_dense_autograd(inner: Unrolled | Implicit, graph: Graph, steps: int) -> None:
    assert graph.split is not None
    ascent = Ascent(MetaPGD(inner=inner), graph, 3, np.random.default_rng(0))
    for _ in range(steps):
        ascent.step(0.3)
    front, back = ascent.gradient().factors()
    weights = perturbed(graph, ascent.pairs, ascent.values).requires_grad_()
    logits = dense_logits(graph, inner, weights)
    others = torch.tensor(np.setdiff1d(np.arange(graph.num_nodes), graph.split.train))
    labels = ascent.loss.labels[others]
    rest = logits[others].scatter(1, labels[:, None], -torch.inf)
    best = rest.detach().sort(1, descending=True).values
    assume(best.shape[1] < 3 or bool((best[:, 0] - best[:, 1] > 1e-7).all()))  # ties have no gradient
    margin = logits[others].gather(1, labels[:, None]).squeeze(1) - rest.amax(1)
    (gradient,) = torch.autograd.grad(-torch.tanh(margin).mean(), weights)
    off = ~torch.eye(graph.num_nodes).bool()
    expected = (gradient + gradient.T)[off]
    scale = max(float(expected.abs().max()), 1e-3)
    assert float(((front @ back.T)[off] - expected).abs().max()) <= 1e-5 * scale


@pytest.mark.parametrize("method", [MetaPGD(iterations=8), MetaPGD(iterations=4, inner=UNROLLED)], ids=str)
@settings(deadline=None, max_examples=5)
@given(graph=labelled_graphs(), power=st.floats(0.2, 0.9), seed=st.integers(0, 1000))
def test_promises(method: MetaPGD, graph: Graph, power: float, seed: int) -> None:
    assume(power * graph.num_edges >= 1)
    check_promises(method, graph, power, seed)


def test_it_does_harm() -> None:
    check_harm(MetaPGD(iterations=30))


def test_settings() -> None:
    assert attack("meta-pgd", inner="unrolled", rate=0.5, inner_rate=0.2) == MetaPGD(rate=0.5, inner=Unrolled(rate=0.2))
