"""What every detector promises."""

from __future__ import annotations

import pytest
import torch

from focusedcleaner.datasets import synthetic
from focusedcleaner.detectors import ClassDiv, LinkPred, NoDetector, detector_of
from focusedcleaner.errors import InputError
from tests.detectors.views import view_of


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
