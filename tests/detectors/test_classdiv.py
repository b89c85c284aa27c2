"""ClassDiv's threshold and training."""

from __future__ import annotations

import pytest
import torch

from focusedcleaner.datasets import synthetic
from focusedcleaner.detectors import ClassDiv
from tests.detectors.views import view_of


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
