"""A command killed at any step on the disk leaves the old state or the new one, and comes to the same bytes again."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable

import pytest

from tests.faults.conftest import Prepared
from tests.faults.scenarios import litter, opened_state, run_with_fault

pytestmark = pytest.mark.slow


def kill_everywhere(prepared: Prepared, points: Iterable[int]) -> dict[str, int]:
    """Kill the command at these steps; count what was found."""
    counts = {"points": 0, "old": 0, "new": 0}
    for point in points:
        place = prepared.copy()
        killed = run_with_fault(prepared.scenario.command, place, "kill", point)
        assert killed.code == -signal.SIGKILL, (point, killed)
        found = opened_state(place)
        assert prepared.is_allowed(found), (point, found)
        again = run_with_fault(prepared.scenario.again, place)
        assert again.code == 0, (point, again)
        assert opened_state(place) == prepared.new, point
        assert litter(place) == [], point
        counts["points"] += 1
        counts["old" if found == prepared.old else "new"] += 1
    return counts


def test_a_kill_leaves_the_old_state_or_the_new(prepared: Prepared) -> None:
    counts = kill_everywhere(prepared, prepared.sample(0.1, 0.75, 0.95))
    assert counts["old"]


@pytest.mark.campaign
def test_a_kill_at_every_step(prepared: Prepared, figures: Callable[..., None]) -> None:
    counts = kill_everywhere(prepared, range(1, prepared.steps + 1))
    assert counts["points"] == prepared.steps
    figures(f"kill-points-{prepared.scenario.name}", **counts, same_bytes_again=counts["points"])
