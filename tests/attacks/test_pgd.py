"""PGD and MinMax: the projection, the gradient, the sampling, and their guarantees."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from focusedcleaner.attacks import PGD, Attack, MinMax
from focusedcleaner.attacks.base import added_and_removed
from focusedcleaner.attacks.pgd import Ascent, BlockMinMax, BlockPGD
from focusedcleaner.attacks.relaxed import WeightedStructure, best_sample, project
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate import Implicit
from tests.attacks.promises import check_harm, check_promises
from tests.attacks.test_mettack import optimal_weights
from tests.strategies import labelled_graphs
from tests.surrogate.test_model import dense_attributes

pytestmark = pytest.mark.slow


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=30), st.integers(1, 8))
def test_projection_is_the_nearest_point(values: list[float], budget: int) -> None:
    point, (found, shift) = np.array(values), project(np.array(values), budget)
    assert ((found >= 0) & (found <= 1)).all()
    assert found.sum() <= budget + 1e-9
    # The nearest point z of a convex set is the one with (x − z)·(y − z) ≤ 0 for all y in it.
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = rng.random(len(values))
        other *= min(1.0, budget / other.sum())
        assert (point - found) @ (other - found) <= 1e-6
    assert shift >= 0


def exact(ascent: Ascent) -> Ascent:
    """The same with an inner training that leaves no error behind."""
    ascent.surrogate.inner = Implicit(weight_decay=0.01, tolerance=1e-12)
    ascent.fitted = ascent.surrogate.fit()
    return ascent


def perturbed(graph: Graph, pairs: np.ndarray, values: np.ndarray) -> torch.Tensor:
    adjacency = torch.tensor(graph.adjacency().toarray())
    change = torch.zeros_like(adjacency)
    change[pairs[:, 0], pairs[:, 1]] = torch.from_numpy(values)
    return adjacency + (1 - 2 * adjacency) * (change + change.T)


def normalized(weights: torch.Tensor) -> torch.Tensor:
    loops = weights + torch.eye(len(weights)).double()
    scale = loops.sum(1).rsqrt()
    return scale[:, None] * loops * scale


@pytest.mark.parametrize("retrains", [True, False])
@settings(deadline=None, max_examples=15)
@given(graph=labelled_graphs(), steps=st.integers(0, 2))
def test_the_gradient_is_that_of_dense_autograd(retrains: bool, graph: Graph, steps: int) -> None:
    assert graph.split is not None
    ascent = exact(Ascent((MinMax if retrains else PGD)(lambda_=0.5), graph, 3, np.random.default_rng(0)))
    for _ in range(steps):
        ascent.step(0.3)
    front, back = ascent.gradient().factors()
    weights = perturbed(graph, ascent.pairs, ascent.values).requires_grad_()
    hops = normalized(weights) @ normalized(weights) @ dense_attributes(graph)
    train = torch.tensor(graph.split.train)
    others = torch.tensor(np.setdiff1d(np.arange(graph.num_nodes), graph.split.train))
    labels = torch.nn.functional.one_hot(torch.tensor(graph.labels)[train], graph.num_classes).double()
    decay = 0.01 * (float(dense_attributes(graph).square().sum(1).mean()) or 1.0)
    rows = hops
    if not retrains:
        clean = normalized(torch.tensor(graph.adjacency().toarray()))
        rows = clean @ clean @ dense_attributes(graph)
    logits = hops @ optimal_weights(rows[train], labels, decay)
    loss = cross_entropy(logits[train], torch.tensor(graph.labels)[train]) / 2
    loss = loss + cross_entropy(logits[others], ascent.loss.labels[others]) / 2
    (gradient,) = torch.autograd.grad(loss, weights)
    off = ~torch.eye(graph.num_nodes).bool()
    expected = (gradient + gradient.T)[off]
    scale = max(float(expected.abs().max()), 1e-3)
    assert float(((front @ back.T)[off] - expected).abs().max()) <= 1e-6 * scale


@settings(deadline=None, max_examples=25)
@given(graph=labelled_graphs(), rate=st.sampled_from([0.1, 1.0, 10.0]), budget=st.integers(1, 4))
def test_leaving_out_small_gradients_changes_nothing(graph: Graph, rate: float, budget: int) -> None:
    """A step of the sparse ascent is the step of a dense one: all pairs raised, then projected."""
    ascent = exact(Ascent(MinMax(), graph, budget, np.random.default_rng(0)))
    ascent.step(rate)
    u, v = np.triu_indices(graph.num_nodes, 1)
    sign = 1 - 2 * graph.adjacency().toarray()[u, v]
    before = np.zeros((graph.num_nodes, graph.num_nodes))
    before[ascent.pairs[:, 0], ascent.pairs[:, 1]] = ascent.values
    front, back = ascent.gradient().factors()
    assert ascent.unit is not None
    raised = before[u, v] + rate / ascent.unit * sign * (front @ back.T).numpy()[u, v]
    expected, _ = project(raised, budget)
    ascent.step(rate)
    after = np.zeros_like(before)
    after[ascent.pairs[:, 0], ascent.pairs[:, 1]] = ascent.values
    np.testing.assert_allclose(after[u, v], expected, atol=1e-5)


def test_weighted_structures() -> None:
    graph = synthetic(20, 2.0, seed=0)
    weights = np.random.default_rng(0).random(graph.num_edges)
    dense = torch.zeros(20, 20).double()
    u, v = graph.edges.T.copy()
    dense[u, v] = torch.from_numpy(weights)
    operator = normalized(dense + dense.T)
    structure = WeightedStructure(20, graph.edges, weights)
    torch.testing.assert_close(structure.propagate(torch.eye(20).double()), operator)
    rows = structure.rows_of_two_hops(np.array([3, 7])).toarray()
    np.testing.assert_allclose(rows, (operator @ operator)[[3, 7]].numpy())


def test_sampling_keeps_to_the_budget_whatever_is_drawn() -> None:
    """Chances so large that every Bernoulli sample is too large: the pairs of largest chance remain."""
    graph = synthetic(50, seed=0)
    u, v = np.triu_indices(50, 1)
    pairs = np.stack([u, v], axis=1)
    chances = np.linspace(0.5, 1.0, len(pairs))
    flips = best_sample(graph, pairs, chances, 7, lambda poisoned: 0.0, 10, np.random.default_rng(0))
    added, removed = added_and_removed(graph, flips)
    assert len(added) + len(removed) <= 7
    assert {tuple(pair) for pair in added.tolist()} <= {tuple(pair) for pair in pairs[-7:].tolist()}


def test_sampling_takes_the_largest_loss() -> None:
    graph = synthetic(50, seed=0)
    pairs = np.array([[0, 1], [0, 2], [0, 3], [0, 4]])
    flips = best_sample(
        graph,
        pairs,
        np.full(4, 0.5),
        4,
        lambda poisoned: -abs(poisoned.num_edges - 101.0),
        50,
        np.random.default_rng(0),
    )
    added, removed = added_and_removed(graph, flips)
    assert len(added) - len(removed) == 1


@pytest.mark.parametrize(
    "attack",
    [
        MinMax(iterations=8),
        MinMax(iterations=8, loss="cw", rate=5.0),
        BlockMinMax(iterations=8, block_size=40),
        PGD(iterations=8),
        BlockPGD(iterations=8, block_size=40),
    ],
    ids=lambda attack: f"{type(attack).__name__}-{attack.loss}",
)
@settings(deadline=None, max_examples=6)
@given(graph=labelled_graphs(), power=st.floats(0.2, 0.9), seed=st.integers(0, 1000))
def test_promises(attack: Attack, graph: Graph, power: float, seed: int) -> None:
    assume(power * graph.num_edges >= 1)
    check_promises(attack, graph, power, seed)


@settings(deadline=None, max_examples=25)
@given(graph=labelled_graphs(), retrains=st.booleans(), budget=st.integers(1, 4))
def test_a_block_of_all_pairs_changes_nothing(graph: Graph, retrains: bool, budget: int) -> None:
    """With so many draws that none of at most 91 pairs is missing, the steps are those on all pairs."""
    methods = (MinMax(), BlockMinMax(block_size=5_000)) if retrains else (PGD(), BlockPGD(block_size=5_000))
    whole, block = (exact(Ascent(method, graph, budget, np.random.default_rng(0))) for method in methods)
    for rate in (0.3, 0.2):
        whole.step(rate)
        block.step(rate)
    dense = np.zeros((2, graph.num_nodes, graph.num_nodes))
    for matrix, ascent in zip(dense, (whole, block), strict=True):
        matrix[ascent.pairs[:, 0], ascent.pairs[:, 1]] = ascent.values
    np.testing.assert_allclose(dense[1], dense[0], atol=1e-3)


def test_a_small_block_is_kept_to() -> None:
    graph = synthetic(60, seed=0)
    ascent = Ascent(BlockPGD(block_size=30), graph, 5, np.random.default_rng(0))
    ascent.step(0.3)
    drawn = np.random.default_rng(0).integers(0, 60, (2, 30))
    allowed = np.concatenate([graph.edges, np.sort(drawn.T, axis=1)])
    assert len(ascent.pairs)
    assert set(map(tuple, ascent.pairs.tolist())) <= set(map(tuple, allowed.tolist()))


@pytest.mark.parametrize(
    "attack", [MinMax(iterations=30), PGD(iterations=30), BlockPGD(iterations=30, block_size=1_000)]
)
def test_they_do_harm(attack: Attack) -> None:
    check_harm(attack)


def test_large_graphs_are_sent_to_prbcd(monkeypatch: pytest.MonkeyPatch) -> None:
    for attack, blockwise in ((MinMax(), BlockMinMax), (PGD(), BlockPGD)):
        monkeypatch.setattr(type(attack), "max_nodes", 50)
        with pytest.raises(InputError, match=r"takes at most 50 nodes, not 60: use prbcd"):
            attack.poison(synthetic(60, seed=0), 3)
        assert len(blockwise(iterations=2, block_size=500).poison(synthetic(60, seed=0), 3).added)


def test_settings_are_checked() -> None:
    for wrong in ({"iterations": 0}, {"rate": 0.0}, {"loss": "hinge"}, {"lambda_": 2.0}, {"samples": 0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            MinMax(**wrong)
