"""ClassDiv's threshold and training."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from focusedcleaner.datasets import synthetic
from focusedcleaner.detectors import ClassDiv, View
from focusedcleaner.detectors.base import Memory
from focusedcleaner.detectors.classdiv import RIDGE, Mixture, Monomials, energy_gradient, quantile
from tests.detectors.views import view_of

VIEW = view_of(synthetic(num_nodes=60, seed=2))


@dataclass(frozen=True)
class InUnit(ClassDiv):
    """ClassDiv whose features before scaling are given, in some unit."""

    raw: Tensor | None = None
    factor: float = 1.0

    def _divergences(self, view: View) -> Tensor:
        assert self.raw is not None
        return self.raw * self.factor


def test_classdiv_threshold_follows_the_quantile_with_momentum() -> None:
    view = view_of(synthetic(num_nodes=150, seed=1))
    detector = ClassDiv(tau=0.8, beta=0.25, first_epochs=10)
    first = detector.victims(view, {})
    assert first.threshold == pytest.approx(float(torch.quantile(first.score, 0.8)), abs=1e-5)
    assert int(first.mask.sum()) == 30
    second = detector.victims(view, first.memory)
    expected = 0.25 * float(torch.quantile(second.score, 0.8)) + 0.75 * first.threshold
    assert second.threshold == pytest.approx(expected, abs=1e-5)


@settings(deadline=None, max_examples=15)
@given(factor=st.floats(0.01, 100), seed=st.integers(0, 50))
def test_features_in_another_unit_move_threshold_and_energies_alike(factor: float, seed: int) -> None:
    """κ averages over rounds, so a round whose features are on another scale must not move it against the energies."""
    raw = torch.rand(60, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    one, other = (InUnit(first_epochs=3, raw=raw, factor=unit).victims(VIEW, {}) for unit in (1.0, factor))
    shift = 3 * math.log(factor)
    torch.testing.assert_close(other.score, one.score + shift, rtol=0, atol=1e-3)
    assert other.threshold - one.threshold == pytest.approx(shift, abs=1e-3)


@pytest.mark.parametrize("removed", [1, 2, 7])
def test_the_threshold_after_several_removals_is_that_of_single_steps(removed: int) -> None:
    view = view_of(synthetic(num_nodes=150, seed=1))
    detector = ClassDiv(first_epochs=10, epochs=0)
    first = detector.victims(view, {})
    memory: Memory = {**first.memory, "threshold": first.memory["threshold"] + 5}
    at_once = detector.victims(replace(view, removed=removed), memory)
    for _ in range(removed):
        step = detector.victims(view, memory)
        memory = dict(step.memory)
    assert at_once.threshold == pytest.approx(step.threshold, abs=1e-4)
    assert first.threshold < at_once.threshold < first.threshold + 5


def test_classdiv_without_warm_start_trains_afresh() -> None:
    view = view_of(synthetic(num_nodes=150, seed=1))
    detector = ClassDiv(first_epochs=10, warm_start=False)
    first = detector.victims(view, {})
    assert torch.equal(first.score, detector.victims(view, first.memory).score)


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
    mixture = Mixture(Monomials(features.T), membership.detach().T)
    torch.testing.assert_close(mixture.energies(), theirs.detach(), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(
        mixture.gradient(weights).T, their_gradient, rtol=1e-5, atol=1e-6 * float(their_gradient.abs().max())
    )


@settings(deadline=None, max_examples=20)
@given(nodes=st.integers(8, 40), size=st.integers(3, 9), seed=st.integers(0, 1000))
def test_the_gradient_in_parts_is_that_of_the_mean_energy(nodes: int, size: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    features = torch.rand(4, nodes, generator=generator, dtype=torch.float64)
    outputs = torch.randn(3, nodes, generator=generator, dtype=torch.float64, requires_grad=True)
    energy = reference_energies(features.T, torch.softmax(outputs, 0).T).mean()
    (expected,) = torch.autograd.grad(energy, outputs)
    monomials = [Monomials(part) for part in features.split(size, 1)]
    ours = energy_gradient(monomials, [*outputs.detach().split(size, 1)])
    torch.testing.assert_close(torch.cat(ours, 1), expected, rtol=1e-5, atol=1e-6 * float(expected.abs().max()))


@given(values=st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=50), share=st.floats(0, 1))
def test_the_quantile_is_that_of_torch(values: list[float], share: float) -> None:
    numbers = torch.tensor(values)
    assert torch.equal(quantile(numbers, share), torch.quantile(numbers, share))


@pytest.mark.parametrize(
    "features",
    [torch.zeros(3, 50), torch.ones(6, 50), torch.rand(1, 50).expand(6, 50).contiguous()],
    ids=["zero", "constant", "duplicated"],
)
def test_energies_are_finite_for_degenerate_features(features: Tensor) -> None:
    mixture = Mixture(Monomials(features), torch.softmax(torch.arange(100.0).view(2, 50) / 10, 0))
    assert torch.isfinite(mixture.energies()).all()
    assert torch.isfinite(mixture.gradient(1.0)).all()
