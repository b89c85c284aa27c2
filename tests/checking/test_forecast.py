"""Forecasts, beside the runs that were measured."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.common import Results
from focusedcleaner.checking import forecast as module
from focusedcleaner.checking.forecast import MEMORY, TIME, drivers, duration, forecast
from focusedcleaner.checking.size import Size
from focusedcleaner.sanitizers import sanitizer

CELLS = Results("forecast").cells
CORA = Size(2485, 5069, 7, 248, 1433, 45487, 185800, 113964)


@pytest.mark.parametrize("cell", CELLS)
def test_within_a_factor_of_two_of_what_was_measured(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: dict[str, Any] = CELLS[cell]
    monkeypatch.setattr(module, "unit_of_time", lambda: measured["unit_ms"] / 1000)
    found = forecast(sanitizer(cell.partition(" | ")[0]), Size(**measured["size"]))
    assert found is not None
    assert 0.5 <= (found.seconds + 0.5) / (measured["cpu_seconds"] + 0.5) <= 2
    assert 0.5 <= found.gigabytes / measured["peak_gb"] <= 2


def test_the_default_was_measured_on_many_kinds_of_graphs() -> None:
    sizes = [Size(**value["size"]) for cell, value in CELLS.items() if cell.startswith("self-attack")]
    assert len(sizes) >= 15
    assert {size.entries == 0 for size in sizes} == {True, False}
    assert max(size.edges for size in sizes) >= 50 * min(size.edges for size in sizes)
    assert max(size.classes for size in sizes) >= 10 * min(size.classes for size in sizes)


def test_costs_are_of_known_drivers_and_not_negative() -> None:
    for costs in (*TIME.values(), *MEMORY.values()):
        assert set(costs) <= set(drivers(CORA))
        assert all(cost > 0 for cost in costs.values())
    assert set(TIME) == set(MEMORY)


def test_a_slower_machine_takes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "unit_of_time", lambda: 0.001)
    fast = forecast(sanitizer("self-attack"), CORA)
    monkeypatch.setattr(module, "unit_of_time", lambda: 0.003)
    slow = forecast(sanitizer("self-attack"), CORA)
    assert fast is not None
    assert slow is not None
    assert (slow.seconds, slow.gigabytes) == (pytest.approx(3 * fast.seconds), fast.gigabytes)


def test_only_measured_methods_and_settings_have_a_forecast() -> None:
    assert forecast(sanitizer("maskgvae"), CORA) is None
    assert forecast(sanitizer("self-attack", attackers="dice"), CORA) is None
    evidence = forecast(sanitizer("self-attack", purpose="evidence"), CORA)
    assert evidence == forecast(sanitizer("self-attack"), CORA)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "1 s"), (9.4, "9 s"), (44.0, "40 s"), (96.0, "2 min"), (3500.0, "58 min"), (7e4, "19.4 h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
