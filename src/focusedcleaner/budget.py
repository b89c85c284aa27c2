"""Budgets: how many edges a method may change, as a number, a fraction or a percentage."""

from __future__ import annotations

import math
import re
from numbers import Real

from focusedcleaner.errors import InputError

_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)

Budget = int | float | str
"""A number of edges (``500``), a fraction of the edges (``0.1``) or a percentage of them (``"10%"``)."""

AUTO = "auto"
"""The budget that lets the method decide how many edges to remove."""

DEFAULT = 0.1
"""The budget of a method that can't decide itself, where none is given."""

_TOO_MANY = 1e6
"""A fraction from which on a number of edges must have been meant."""
LONGEST_NUMBER = 40
"""Most characters of a whole number."""


def is_auto(budget: Budget) -> bool:
    """Whether the method decides the number of edges.

    >>> is_auto("Auto"), is_auto("10%")
    (True, False)
    """
    return isinstance(budget, str) and budget.strip().lower() == AUTO


def edges_allowed(budget: Budget, num_edges: int, *, what: str = "budget") -> int:
    """Convert a budget to a number of edges, rounded down.

    >>> edges_allowed("10%", 5567), edges_allowed(0.1, 5567), edges_allowed(300, 5567)
    (556, 556, 300)
    """
    value, fraction = read_budget(budget, what=what)
    # The tolerance makes 0.29 · 100 = 28.999999999999996 allow 29 edges.
    allowed = int(value * num_edges + 1e-9) if fraction else int(value)
    if allowed > num_edges:
        raise InputError(f"{what} {_shown(budget)} is more than the graph's {num_edges:,} edges")
    if allowed < 1:
        raise InputError(f"{what} {_shown(budget)} allows no edge: the graph has {num_edges:,} edges")
    return allowed


def read_budget(budget: Budget, *, what: str = "budget") -> tuple[float, bool]:
    """The number, and whether it is a fraction of the edges; a budget that no graph allows is refused.

    >>> read_budget("5%"), read_budget("500")
    ((0.05, True), (500, False))
    """
    value, fraction = _number(budget, what)
    if not value > 0:
        raise InputError(f"{what} {_shown(budget)} is not above 0")
    if fraction and value > 1:
        raise InputError(f"{what} {_shown(budget)} is more than all edges (100%)")
    return value, fraction


def _number(budget: Budget, what: str) -> tuple[float, bool]:
    number = _parsed(budget) if isinstance(budget, str) else budget
    if isinstance(number, bool) or not isinstance(number, Real) or math.isnan(number):
        forms = "a number of edges (500), a fraction (0.1) nor a percentage (10%)"
        raise InputError(f"{what} {_shown(repr(budget))} is neither {forms}")
    fraction = isinstance(number, float)
    if fraction and number >= 1 and not (isinstance(budget, str) and budget.strip().endswith("%")):
        if number >= _TOO_MANY:
            raise InputError(f"{what} {_shown(budget)} is more edges than any graph has")
        advice = f"write {100 * number:g}% or a whole number of edges"
        raise InputError(f"{what} {_shown(budget)} is not below 1: {advice}")
    return number, fraction


def _parsed(text: str) -> float:
    """The number in a text: whole for a number of edges, a float for a fraction, NaN for any other text."""
    number, percentage = text.strip().removesuffix("%").rstrip(), text.strip().endswith("%")
    if not percentage and _WHOLE.fullmatch(number) and len(number) <= LONGEST_NUMBER:
        return int(number)
    return float(number) / (100 if percentage else 1) if _DECIMAL.fullmatch(number) else math.nan


def _shown(budget: object) -> str:
    text = str(budget)
    return text if len(text) <= LONGEST_NUMBER else f"{text[:LONGEST_NUMBER]}…"
