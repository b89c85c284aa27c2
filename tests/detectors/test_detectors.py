"""ClassDiv's identities against the double sums, the mixture against torch's own Gaussians, LinkPred's threshold."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from focusedcleaner.datasets import synthetic
from focusedcleaner.detectors import ClassDiv, LinkPred, NoDetector, View, detector_of, mlp, reduced_attributes
from focusedcleaner.detectors.linkpred import g_mean_threshold
from focusedcleaner.detectors.mixture import RIDGE, Mixture, Monomials
from focusedcleaner.edge_features.divergences import divergences
from focusedcleaner.engine import Pairs, Structure
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate import Surrogate
from tests.strategies import labelled_graphs


def double_sums(graph: Graph, distributions: np.ndarray) -> np.ndarray:
    """prox₁, prox₂ and Div_JS by their definitions."""
    adjacency = graph.adjacency().toarray()
    logs = np.log(distributions)
    divergence = (distributions * logs).sum(1)[:, None] - distributions @ logs.T
    result = np.zeros((graph.num_nodes, 3))
    for node in range(graph.num_nodes):
        neighbours = np.flatnonzero(adjacency[node])
        count = len(neighbours)
        if not count:
            continue
        result[node, 0] = divergence[node, neighbours].mean()
        if count > 1:
            result[node, 1] = divergence[np.ix_(neighbours, neighbours)].sum() / (count * (count - 1))
        mean = distributions[neighbours].mean(0)
        result[node, 2] = -(mean * np.log(mean)).sum() + (distributions * logs).sum(1)[neighbours].mean()
    return result


@settings(deadline=None, max_examples=60)
@given(graph=labelled_graphs(), seed=st.integers(0, 1000))
def test_divergences_are_the_double_sums(graph: Graph, seed: int) -> None:
    logits = np.random.default_rng(seed).normal(size=(graph.num_nodes, 3))
    distributions = torch.softmax(torch.tensor(logits), 1)
    ours = divergences(Structure(graph), distributions).numpy()
    np.testing.assert_allclose(ours, double_sums(graph, distributions.numpy()), atol=1e-12)


def test_divergences_of_certain_nodes_are_finite() -> None:
    graph = Graph(3, np.array([[0, 1], [1, 2]]))
    certain = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    assert torch.isfinite(divergences(Structure(graph), certain)).all()


def reference_energies(features: Tensor, membership: Tensor) -> Tensor:
    """By torch's multivariate normal; N × D and N × K."""
    total = membership.sum(0)
    means = (membership.T @ features) / total[:, None]
    parts = []
    for k in range(membership.shape[1]):
        centred = features - means[k]
        covariance = (membership[:, k, None] * centred).T @ centred / total[k]
        covariance = covariance + RIDGE * torch.eye(features.shape[1]).double()
        normal = torch.distributions.MultivariateNormal(means[k], covariance)
        parts.append(torch.log(total[k] / len(features)) + normal.log_prob(features))
    return -torch.logsumexp(torch.stack(parts, 1), 1)


@settings(deadline=None, max_examples=30)
@given(nodes=st.integers(5, 40), width=st.integers(1, 6), components=st.integers(1, 4), seed=st.integers(0, 1000))
def test_energies_and_their_gradient(nodes: int, width: int, components: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    features = torch.rand(nodes, width, generator=generator, dtype=torch.float64)
    logits = torch.randn(nodes, components, generator=generator, dtype=torch.float64)
    weights = torch.randn(nodes, generator=generator, dtype=torch.float64)
    membership = torch.softmax(logits, 1).requires_grad_()
    theirs = reference_energies(features, membership)
    (their_gradient,) = torch.autograd.grad((theirs * weights).sum(), membership)
    mixture = Mixture.of(Monomials(features.T), membership.detach().T)
    torch.testing.assert_close(mixture.energies(), theirs.detach(), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(
        mixture.slope(weights).T, their_gradient, rtol=1e-5, atol=1e-6 * float(their_gradient.abs().max())
    )


@pytest.mark.parametrize(
    "features",
    [torch.zeros(3, 50), torch.ones(6, 50), torch.rand(1, 50).expand(6, 50).contiguous()],
    ids=["zero", "constant", "duplicated"],
)
def test_energies_are_finite_for_degenerate_features(features: Tensor) -> None:
    mixture = Mixture.of(Monomials(features), torch.softmax(torch.arange(100.0).view(2, 50) / 10, 0))
    assert torch.isfinite(mixture.energies()).all()
    assert torch.isfinite(mixture.slope(1.0)).all()


def view_of(graph: Graph, seed: int = 0) -> View:
    surrogate = Surrogate(graph)
    reduced = reduced_attributes(graph, dtype=torch.float64, device="cpu")
    return View(surrogate.structure, surrogate.fit().logits, reduced, seed)


@pytest.mark.parametrize("attributes", [0, 60])
@pytest.mark.parametrize(
    "detector", [ClassDiv(first_epochs=20), LinkPred(first_epochs=20)], ids=["classdiv", "linkpred"]
)
def test_a_detector_repeats_itself_and_leaves_its_memory_alone(detector: ClassDiv | LinkPred, attributes: int) -> None:
    view = view_of(synthetic(num_nodes=150, num_attributes=attributes, seed=1))
    first, again = detector.victims(view, {}), detector.victims(view, {})
    assert torch.equal(first.score, again.score)
    assert torch.equal(first.mask, ~first.normal)
    assert 0 < int(first.mask.sum()) < 150
    before = {key: value.clone() for key, value in first.memory.items()}
    second, second_again = detector.victims(view, first.memory), detector.victims(view, first.memory)
    assert torch.equal(second.score, second_again.score)
    assert all(torch.equal(before[key], first.memory[key]) for key in before)
    assert not torch.equal(first.score, second.score)


def test_classdiv_threshold_follows_the_quantile_with_momentum() -> None:
    view = view_of(synthetic(num_nodes=150, seed=1))
    detector = ClassDiv(tau=0.8, beta=0.25, first_epochs=10)
    first = detector.victims(view, {})
    assert first.threshold == pytest.approx(float(torch.quantile(first.score, 0.8)), abs=1e-5)
    assert int(first.mask.sum()) == 30
    second = detector.victims(view, first.memory)
    expected = 0.25 * float(torch.quantile(second.score, 0.8)) + 0.75 * first.threshold
    assert second.threshold == pytest.approx(expected, abs=1e-5)


def test_classdiv_without_warm_start_trains_afresh() -> None:
    view = view_of(synthetic(num_nodes=150, seed=1))
    detector = ClassDiv(first_epochs=10, warm_start=False)
    first = detector.victims(view, {})
    assert torch.equal(first.score, detector.victims(view, first.memory).score)


@settings(deadline=None, max_examples=30)
@given(graph=labelled_graphs(), seed=st.integers(0, 1000))
def test_dot_products_of_pairs_and_their_gradient(graph: Graph, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    outputs = torch.randn(graph.num_nodes, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(graph.num_edges, generator=generator, dtype=torch.float64)
    pairs = Pairs(graph.num_nodes, graph.edges.T, dtype=torch.float64)
    u, v = torch.tensor(graph.edges).T
    theirs = (outputs[u] * outputs[v]).sum(1)
    torch.testing.assert_close(pairs.dots(outputs.detach(), outputs.detach()) / 2, theirs.detach())
    (gradient,) = torch.autograd.grad((theirs * weights).sum(), outputs)
    torch.testing.assert_close(pairs.weighted_sum(weights, outputs.detach()), gradient)


def test_the_network_trains_as_autograd_and_adam_would() -> None:
    generator = torch.Generator().manual_seed(0)
    inputs, target = torch.rand(4, 30, generator=generator), torch.rand(3, 30, generator=generator)
    start = mlp.fresh(4, 7, 3, seed=1)
    first = mlp.train(start, inputs, lambda outputs: 2 * (outputs - target), epochs=4, rate=0.05)
    ours = mlp.train(first, inputs, lambda outputs: 2 * (outputs - target), epochs=3, rate=0.05)
    weights = {key: start[key].clone().requires_grad_() for key in mlp.WEIGHTS}
    optimizer = torch.optim.Adam(weights.values(), lr=0.05)
    for _ in range(7):
        optimizer.zero_grad()
        (mlp.apply(inputs, weights) - target).square().sum().backward()
        optimizer.step()
    for key, weight in weights.items():
        torch.testing.assert_close(ours[key], weight.detach(), rtol=1e-4, atol=1e-5)


def test_linkpred_victims_have_an_unlikely_edge() -> None:
    view = view_of(synthetic(num_nodes=150, seed=1))
    found = LinkPred(first_epochs=30).victims(view, {})
    isolated = view.structure.degrees == 0
    assert not found.mask[isolated].any()
    assert torch.equal(found.mask, found.score > found.threshold)


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


def test_none_focuses_on_nobody() -> None:
    found = NoDetector().victims(view_of(synthetic(num_nodes=50, seed=0)), {})
    assert found.mask.all()
    assert found.normal.all()


def test_names_and_settings_are_checked() -> None:
    with pytest.raises(InputError, match="classdiv, linkpred, ensemble, none"):
        detector_of("classdivv")
    for wrong in (lambda: ClassDiv(tau=1.5), lambda: ClassDiv(temperature=0), lambda: LinkPred(negatives=0)):
        with pytest.raises(InputError):
            wrong()
