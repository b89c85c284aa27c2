"""Shared by the tests of the commands."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from focusedcleaner.attacks import Dice
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import focused
from focusedcleaner.sanitizers.iterative import Journal

RESULT = ["removed.csv", "report.html", "run.json", "sanitized.npz", "trace.csv"]
_VERDICT = ["status", "reason", "estimate", "expected_precision", "expected_false_alarms", "caveat", "rule"]
JSON = [*_VERDICT, "method", "budget", "removed", "suspects", "warnings", "seconds", "out"]
"""What `sanitize --json` prints, for a method that adds no edges."""


@pytest.fixture
def poisoned(graph: Graph) -> Graph:
    return Dice().poison(graph, "20%", seed=0).graph


@pytest.fixture
def interrupt_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let Ctrl-C be pressed in the round after so many."""
    whole = focused._Cleaning.round

    def at(rounds: int) -> None:
        def interrupted(self: Any, journal: Journal, size: int) -> Any:
            if journal.rounds == rounds:
                raise KeyboardInterrupt
            return whole(self, journal, size)

        monkeypatch.setattr(focused._Cleaning, "round", interrupted)

    return at


def fails(done: Any, message: str, *, left: list[str]) -> None:
    """The last line says what is wrong; nothing else than notes, nothing on standard output, nothing on disk."""
    assert done.exit_code == 2, done.output
    *notes, line = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert all(note.startswith("note: ") for note in notes)
    assert done.stdout == ""
    assert sorted(os.listdir()) == sorted(left)
