"""What some methods can give beside the edges to remove: a score of every edge, and probabilities."""

from __future__ import annotations

from focusedcleaner.budget import Budget
from focusedcleaner.errors import InputError
from focusedcleaner.registry import SANITIZERS
from focusedcleaner.sanitizers.base import Sanitizer


def check_offers(method: Sanitizer, *, scores: bool = False, soft: bool = False, budget: Budget | None = None) -> None:
    """Refuse a method that can't give what is asked for, before any work.

    Args:
        method: the method.
        scores: whether every edge needs a score.
        soft: whether every edge needs a probability, and none is to be removed.
        budget: the budget, which must be None if ``soft``.
    """
    if scores and not method.scores_edges:
        able = [one.name for one in SANITIZERS if one.kind.scores_edges]
        raise InputError(
            f"{method.name} scores only the edges that it removes: scores of all edges come from {', '.join(able)}"
        )
    if soft and not method.probabilistic:
        able = [one.name for one in SANITIZERS if one.kind.probabilistic]
        raise InputError(f"{method.name} gives no probabilities, which soft weights need: choose {' or '.join(able)}")
    if soft and budget is not None:
        raise InputError("soft weights remove no edge: leave out the budget")
