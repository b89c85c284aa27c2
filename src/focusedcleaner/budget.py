"""Budgets: how many edges a method may change, as a number, a fraction or a percentage."""

from __future__ import annotations

from focusedcleaner.errors import InputError

Budget = int | float | str
"""A number of edges (``500``), a fraction of the edges (``0.1``) or a percentage of them (``"10%"``)."""

AUTO = "auto"
"""The budget that lets the method decide how many edges to remove."""

DEFAULT = 0.1
"""The budget of a method that can't decide itself, where none is given."""


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
    value, fraction = _read(budget, what)
    if not value > 0:
        raise InputError(f"{what} {budget} is not above 0")
    if fraction and value > 1:
        raise InputError(f"{what} {budget} is more than all {num_edges:,} edges (100%)")
    # The tolerance makes 0.29 · 100 = 28.999999999999996 allow 29 edges.
    allowed = int(value * num_edges + 1e-9) if fraction else int(value)
    if allowed > num_edges:
        raise InputError(f"{what} {budget} is more than the graph's {num_edges:,} edges")
    if allowed < 1:
        raise InputError(f"{what} {budget} allows no edge: the graph has {num_edges:,} edges")
    return allowed


def _read(budget: Budget, what: str) -> tuple[float, bool]:
    """The number, and whether it is a fraction of the edges."""
    message = f"{what} {budget!r} is neither a number of edges (500), a fraction (0.1) nor a percentage (10%)"
    if isinstance(budget, str):
        text = budget.strip()
        try:
            if text.endswith("%"):
                return float(text[:-1]) / 100, True
            budget = int(text) if text.lstrip("+-").isdigit() else float(text)
        except ValueError:
            raise InputError(message) from None
    if isinstance(budget, bool) or budget != budget:
        raise InputError(message)
    if isinstance(budget, float) and budget >= 1:
        raise InputError(f"{what} {budget:g} is not below 1: write {100 * budget:g}% or a whole number of edges")
    return float(budget), isinstance(budget, float)
