"""Ctrl-C, SIGTERM and SIGHUP, once and again, at several moments: the state is saved and resumes to the same bytes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from focusedcleaner.attacks import mettack
from focusedcleaner.cli import main, signals
from focusedcleaner.io import disk, transaction
from focusedcleaner.sanitizers import focused
from focusedcleaner.sanitizers.iterative import Journal
from tests.faults.conftest import Prepared
from tests.faults.scenarios import ATTACK, SANITIZE, SCENARIOS, inside, litter, opened_state
from tests.hostile.child import INTRODUCTION, Outcome, command, in_child

CODES = {signal.SIGINT: 2, signal.SIGTERM: 143, signal.SIGHUP: 129}
pytestmark = [pytest.mark.slow, pytest.mark.parametrize("prepared", [SCENARIOS["sanitize"]], ids=[""], indirect=True)]


def sanitize(folder: Path, number: int, moment: str, times: int) -> Outcome:
    """A `sanitize` whose own process sends itself a signal: in round 2, or at a step of writing files."""

    def strike() -> None:
        for _ in range(times):
            os.kill(os.getpid(), number)

    def run() -> None:
        whole, stage = focused._Cleaning.round, transaction._stage
        struck = []

        def in_round(self: focused._Cleaning, journal: Journal, size: int) -> Journal:
            if journal.rounds == 1 and moment != "saving":
                struck.append(1)
                os.kill(os.getpid(), number)
            return whole(self, journal, size)

        def while_staging(path: Path, *more: object) -> None:
            if (moment == "saving" and path.name == "run.json") or (moment == "both" and struck):
                strike()
            stage(path, *more)  # type: ignore[arg-type]

        focused._Cleaning.round = in_round  # type: ignore[method-assign]
        transaction._stage = while_staging  # type: ignore[assignment]
        os.chdir(folder)
        main(list(SANITIZE))

    return in_child(run)


@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
@pytest.mark.parametrize(("moment", "times"), [("round", 1), ("both", 1), ("both", 3)])
def test_a_signal_keeps_the_result_so_far(number: int, moment: str, times: int, prepared: Prepared) -> None:
    place = prepared.copy()
    stopped = sanitize(place, number, moment, times)
    assert stopped.code == CODES[signal.Signals(number)], stopped
    assert stopped.err.splitlines()[-1].startswith(
        "interrupted after 2 of 6 edges; the result so far is in RUN; continue with: "
    )
    assert sum(not line.startswith(INTRODUCTION) for line in stopped.err.splitlines()) == 1
    assert opened_state(place)["RUN/run.json"] != prepared.new["RUN/run.json"]
    assert command(*SANITIZE, "--resume", cwd=place).code == 0
    assert opened_state(place) == prepared.new
    assert litter(place) == []


@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
def test_a_signal_while_the_whole_run_is_saved_waits(number: int, prepared: Prepared) -> None:
    place = prepared.copy()
    stopped = sanitize(place, number, "saving", 2)
    assert stopped.code == CODES[signal.Signals(number)], stopped
    assert stopped.err.endswith("\ninterrupted; the run was finished and is in RUN\n")
    assert opened_state(place) == prepared.new
    assert litter(place) == []


def test_a_terminated_attack_keeps_its_flips(prepared: Prepared) -> None:
    place = prepared.copy()

    def run() -> None:
        whole = mettack.MettackSearch.next_flip
        flips = iter(range(10))

        def struck(self: mettack.MettackSearch) -> tuple[int, int] | None:
            if next(flips) == 2:
                os.kill(os.getpid(), signal.SIGTERM)
            return whole(self)

        mettack.MettackSearch.next_flip = struck  # type: ignore[method-assign]
        os.chdir(place)
        main([*ATTACK, "4"])

    stopped = in_child(run)
    assert stopped.code == 143
    assert stopped.err.startswith("interrupted after 2 of 4 flips, which are kept; continue with: ")
    assert command(*ATTACK, "4", "--resume", cwd=place).code == 0
    assert litter(place) == []
    whole = prepared.copy()
    assert command(*ATTACK, "4", cwd=whole).code == 0
    assert (whole / "p.npz").read_bytes() == (place / "p.npz").read_bytes()


def test_nohup_stays_nohup(prepared: Prepared) -> None:
    place = prepared.copy()

    def run() -> None:
        os.chdir(place)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        disk.SAVE_EVERY = -1.0
        save = disk.Checkpoint.save

        def struck(self: disk.Checkpoint, arrays: object) -> None:
            os.kill(os.getpid(), signal.SIGHUP)
            save(self, arrays)  # type: ignore[arg-type]

        disk.Checkpoint.save = struck  # type: ignore[method-assign]
        main(list(SANITIZE))

    assert in_child(run).code == 0
    assert opened_state(place) == prepared.new


def test_handlers_are_restored_and_workers_die_as_ever(prepared: Prepared) -> None:
    before = [signal.getsignal(number) for number in signals.SIGNALS]
    with signals.handled() as interruption, inside(prepared.start):
        assert [signal.getsignal(number) for number in signals.SIGNALS] == [interruption.receive] * 3
        worker = in_child(lambda: os.kill(os.getpid(), signal.SIGTERM))
        assert worker.code == -signal.SIGTERM
        assert interruption.signal is None
    assert [signal.getsignal(number) for number in signals.SIGNALS] == before
