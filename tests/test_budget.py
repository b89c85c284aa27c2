"""Budgets as people write them."""

from __future__ import annotations

import pytest

from focusedcleaner.budget import Budget, edges_allowed
from focusedcleaner.errors import InputError


@pytest.mark.parametrize(
    ("budget", "edges"),
    [("10%", 55), (0.1, 55), ("0.1", 55), (10, 10), ("10", 10), (" 7 % ", 38), ("100%", 550), ("0.29", 159), (1, 1)],
)
def test_budgets_that_people_write(budget: Budget, edges: int) -> None:
    assert edges_allowed(budget, 550) == edges


@pytest.mark.parametrize(
    "budget",
    [
        0,
        -1,
        "0",
        "-1",
        "-5%",
        "0%",
        "300%",
        "abc",
        "",
        551,
        "1.5",
        1.0,
        2.5,
        "1e-9",
        "nan",
        "inf",
        "1e400",
        "9" * 400,
        "9" * 5000,
        "٣",
        "²",
        "1_0",
        "5%%",
        "1/2",
        True,
    ],
)
def test_budgets_that_can_not_be(budget: Budget) -> None:
    with pytest.raises(InputError, match="budget"):
        edges_allowed(budget, 550)


def test_the_power_of_an_attack_is_called_so() -> None:
    with pytest.raises(InputError, match="power 0 is not above 0"):
        edges_allowed(0, 10, what="power")
