"""A disk that is full from any step on costs one line and leaves the old state or the new one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from tests.faults.conftest import Prepared
from tests.faults.scenarios import litter, opened_state, run_with_fault

pytestmark = pytest.mark.slow


def fill_everywhere(prepared: Prepared, points: Iterable[int]) -> dict[str, int]:
    """Let the disk be full from these steps on; count how the command ended and what was found."""
    counts = {"points": 0, "one_line": 0, "undisturbed": 0, "old": 0, "new": 0}
    for point in points:
        place = prepared.copy()
        outcome = run_with_fault(prepared.scenario.command, place, "full", point)
        assert outcome.refused or outcome.code == 0, (point, outcome)  # a step such as removing needs no space
        found = opened_state(place)
        assert prepared.is_allowed(found), (point, found)
        # A committed run whose folder has not got its name, the flips of an attack and the finished arrays of an ingest
        # wait for --resume.
        waiting = (".RUN.part", ".GRAPH.part")
        left = [name for name in litter(place) if not name.startswith(waiting) and "flips" not in name]
        assert left == [], point
        again = run_with_fault(prepared.scenario.again, place)
        assert again.code == 0, (point, again)
        assert opened_state(place) == prepared.new, point
        assert litter(place) == [], point
        counts["points"] += 1
        counts["one_line" if outcome.refused else "undisturbed"] += 1
        counts["old" if found == prepared.old else "new"] += 1
    return counts


def test_a_full_disk_costs_one_line(prepared: Prepared) -> None:
    counts = fill_everywhere(prepared, prepared.sample(0.6, 0.9))
    assert counts["one_line"]


@pytest.mark.campaign
def test_a_full_disk_at_every_step(prepared: Prepared, figures: Callable[..., None]) -> None:
    counts = fill_everywhere(prepared, range(1, prepared.steps + 1))
    assert counts["points"] == prepared.steps
    figures(f"disk-full-{prepared.scenario.name}", **counts)
