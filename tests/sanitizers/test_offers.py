"""What a method can't give is refused before any work, with the names of methods that can."""

from __future__ import annotations

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.registry import SANITIZERS
from focusedcleaner.sanitizers import check_offers, sanitizer


def test_every_method_is_taken_or_refused_by_what_it_declares() -> None:
    for one in SANITIZERS:
        method = sanitizer(one.name)
        check_offers(method)
        for asked, able in (("scores", method.scores_edges), ("soft", method.probabilistic)):
            if able:
                check_offers(method, **{asked: True})
            else:
                with pytest.raises(InputError, match="self-attack"):
                    check_offers(method, **{asked: True})


def test_soft_weights_and_a_budget_contradict_each_other() -> None:
    with pytest.raises(InputError, match="leave out the budget"):
        check_offers(sanitizer("self-attack"), soft=True, budget="auto")
