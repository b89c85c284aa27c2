"""The attacker's loss and its derivative."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from focusedcleaner.attacks.loss import AttackerLoss, LossKind
from focusedcleaner.datasets import synthetic


def test_the_loss_is_the_cross_entropy() -> None:
    graph = synthetic(40, seed=0)
    assert graph.split is not None
    assert graph.labels is not None
    logits = torch.randn(40, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    train, labels = torch.tensor(graph.split.train), torch.tensor(graph.labels)
    others = torch.tensor(np.setdiff1d(np.arange(40), graph.split.train))
    predicted = torch.arange(40) % 5
    expected = 0.3 * cross_entropy(logits[train], labels[train]) + 0.7 * cross_entropy(
        logits[others], predicted[others]
    )
    assert AttackerLoss(graph, predicted, 0.3).value(logits) == pytest.approx(float(expected))


def test_the_margin_loss() -> None:
    graph = synthetic(40, seed=0)
    logits = torch.randn(40, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    loss = AttackerLoss(graph, torch.arange(40) % 5, 0.3, "cw")
    own = logits[torch.arange(40), loss.labels]
    others = logits.clone()
    others[torch.arange(40), loss.labels] = -torch.inf
    expected = -(loss.weights.squeeze(1) * (own - others.amax(1)).clamp_min(0)).sum()
    assert loss.value(logits.detach()) == pytest.approx(expected.item())
    (gradient,) = torch.autograd.grad(expected, logits)
    torch.testing.assert_close(loss.signal(logits.detach()), gradient)


@pytest.mark.parametrize("kind", ["ce", "cw", "tanh", "probability"])
def test_the_signal_is_the_derivative(kind: LossKind) -> None:
    """By finite differences of the value."""
    graph = synthetic(40, seed=0)
    logits = torch.randn(40, graph.num_classes, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    loss = AttackerLoss(graph, torch.arange(40) % graph.num_classes, 0.3, kind)
    signal = loss.signal(logits)
    for node, label in ((0, 0), (3, 1), (7, 0)):
        step = torch.zeros_like(logits)
        step[node, label] = 1e-6
        slope = (loss.value(logits + step) - loss.value(logits - step)) / 2e-6
        assert slope == pytest.approx(float(signal[node, label]), abs=1e-8)


def test_bounded_losses_leave_wrong_nodes_alone() -> None:
    """The margin of every node is −10: cross-entropy pulls at them as hard as it can, the bounded losses hardly."""
    graph = synthetic(40, seed=0)
    predicted = torch.zeros(40, dtype=torch.long)
    logits = torch.zeros(40, graph.num_classes, dtype=torch.float64)
    steep = AttackerLoss(graph, predicted, 0.0)
    logits[torch.arange(40), (steep.labels + 1) % graph.num_classes] = 10.0
    assert steep.signal(logits).abs().max() > 0.99 * steep.weights.max()
    for kind in ("tanh", "probability"):
        assert AttackerLoss(graph, predicted, 0.0, kind).signal(logits).abs().max() < 1e-3 * steep.weights.max()
