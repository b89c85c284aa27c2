"""Both detectors together."""

from __future__ import annotations

import pytest
import torch

from focusedcleaner.datasets import synthetic
from focusedcleaner.detectors import ClassDiv, Ensemble, LinkPred, View
from focusedcleaner.errors import InputError
from focusedcleaner.sanitizers import FocusedCleaner, sanitizer
from tests.detectors.views import view_of


def view() -> View:
    graph = synthetic(num_nodes=150, seed=3)
    return view_of(graph.without_test_labels(), seed=7)


@pytest.mark.parametrize(("rule", "joined"), [("both", torch.logical_and), ("either", torch.logical_or)])
def test_victims_are_those_of_both_or_of_either(rule: str, joined: object) -> None:
    seen = view()
    parts = ClassDiv(tau=0.7), LinkPred()
    together = Ensemble(rule, *parts)  # type: ignore[arg-type]
    found = together.victims(seen, {})
    apart = [part.victims(seen, {}) for part in parts]
    assert torch.equal(found.mask, joined(apart[0].mask, apart[1].mask))  # type: ignore[operator]
    assert torch.equal(found.normal, ~found.mask)
    assert torch.equal(found.score > found.threshold, found.mask)
    again = together.victims(seen, found.memory)
    after = [part.victims(seen, one.memory) for part, one in zip(parts, apart, strict=True)]
    assert torch.equal(again.mask, joined(after[0].mask, after[1].mask))  # type: ignore[operator]


def test_it_cleans_under_its_name() -> None:
    cleaner = sanitizer("focused-ensemble", rule="either", eta=0)
    assert isinstance(cleaner, FocusedCleaner)
    assert cleaner.detector == Ensemble("either")
    done = cleaner.sanitize(synthetic(num_nodes=120, seed=0), 0.1, seed=1)
    assert len(done.removed) == done.budget
    assert done.method == "focused-ensemble"


def test_another_rule_is_refused() -> None:
    with pytest.raises(InputError, match="rule must be both or either, not 'all'"):
        sanitizer("focused-ensemble", rule="all")
