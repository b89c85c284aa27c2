"""MinMax as published: the GCN's gradient, the turns of the game, and the guarantees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from focusedcleaner.attacks import MinMax, PublishedMinMax, alternating, attack
from focusedcleaner.attacks.alternating import Game
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from tests.attacks.promises import check_harm, check_promises
from tests.attacks.test_pgd import normalized, perturbed
from tests.strategies import labelled_graphs
from tests.surrogate.test_model import dense_attributes

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True, scope="module")
def short_training() -> Iterator[None]:
    """Play against a defender of 20 epochs, which is as good an opponent for what is tested here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alternating, "EPOCHS", 20)
        yield


def game_of(graph: Graph, budget: int = 3, lambda_: float = 1.0) -> Game:
    torch.manual_seed(0)
    return Game(PublishedMinMax(lambda_=lambda_, hidden=5), graph, budget, np.random.default_rng(0))


@settings(deadline=None, max_examples=15)
@given(graph=labelled_graphs(), lambda_=st.sampled_from([0.5, 1.0]), turns=st.integers(0, 2))
def test_the_gradient_is_that_of_dense_autograd(graph: Graph, lambda_: float, turns: int) -> None:
    assert graph.split is not None
    game = game_of(graph, lambda_=lambda_)
    for _ in range(turns):
        game.step(20.0)
    structure = game.structure(torch.float32)
    front, back = game.defender.gradient(structure, game.loss).factors()
    weights = perturbed(graph, game.pairs, game.values).float().requires_grad_()
    gcn, operator, x = game.defender, normalized(weights.double()).float(), dense_attributes(graph).float()
    with torch.no_grad():
        torch.testing.assert_close(gcn.logits(structure), _dense_logits(gcn, operator, x), rtol=1e-4, atol=1e-5)
    logits = _dense_logits(gcn, operator, x)
    train = torch.tensor(graph.split.train)
    others = torch.tensor(np.setdiff1d(np.arange(graph.num_nodes), graph.split.train))
    loss = lambda_ * cross_entropy(logits[train], torch.tensor(graph.labels)[train])
    loss = loss + (1 - lambda_) * cross_entropy(logits[others], game.loss.labels[others])
    (gradient,) = torch.autograd.grad(loss, weights)
    off = ~torch.eye(graph.num_nodes).bool()
    expected = (gradient + gradient.T)[off]
    scale = max(float(expected.abs().max()), 1e-3)
    assert float(((front @ back.T)[off] - expected).abs().max()) <= 1e-4 * scale


def _dense_logits(gcn: alternating.Defender, operator: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    hidden = torch.relu(operator @ x @ gcn.first + gcn.first_bias)
    return operator @ hidden @ gcn.second + gcn.second_bias


def test_a_turn_trains_the_defender_and_spends_the_budget() -> None:
    graph = synthetic(80, seed=0)
    game = game_of(graph, budget=10)
    before = game.defender.first.detach().clone()
    game.step(1e4)
    assert not torch.equal(game.defender.first, before)
    assert game.values.sum() == pytest.approx(10)


@settings(deadline=None, max_examples=6)
@given(graph=labelled_graphs(), power=st.floats(0.2, 0.9), seed=st.integers(0, 1000))
def test_promises(graph: Graph, power: float, seed: int) -> None:
    assume(power * graph.num_edges >= 1)
    check_promises(PublishedMinMax(iterations=8), graph, power, seed, isolates=True)


def test_it_does_harm() -> None:
    check_harm(PublishedMinMax())


def test_the_variant_chooses_the_class_and_its_settings() -> None:
    assert attack("minmax") == attack("minmax", variant="strong") == MinMax()
    assert attack("minmax", variant="published", iterations="20") == PublishedMinMax(iterations=20)
    with pytest.raises(InputError, match="variant must be strong or published, not 'weak'"):
        attack("minmax", variant="weak")
    with pytest.raises(InputError, match="minmax has no setting 'hidden'"):
        attack("minmax", hidden=16)
