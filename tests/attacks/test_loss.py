"""The attacker's loss and its derivative."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from focusedcleaner.attacks.loss import AttackerLoss
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
