"""The runner: what is missing is computed once, whatever interrupts it."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.experiments import catalogue
from focusedcleaner.experiments.cells import Accuracy, Cell, Poison, Sanitation, Source
from focusedcleaner.experiments.compute import Failure, Outcome, Task
from focusedcleaner.experiments.engines import Engine, Finished, Inline, Processes
from focusedcleaner.experiments.plan import Estimate, in_order, to_compute
from focusedcleaner.experiments.runner import Runner, Status
from focusedcleaner.experiments.store import CellResult, Store

SOURCE = Source("synthetic-100", "random 0")
POISONS = [Poison(SOURCE, "mettack", power) for power in (0.05, 0.1)]
CLEANED = [Sanitation(poison, "cld", seed=0) for poison in POISONS]
GRAPHS: list[Poison | Sanitation] = [*POISONS, *CLEANED]
CELLS: list[Cell] = [*CLEANED, *(Accuracy(graph, "sgc") for graph in GRAPHS)]


class Recorder(Engine):
    """Computes nothing and remembers what it was given; the cells of some methods fail."""

    def __init__(self, *failing: str) -> None:
        self.failing, self.started, self._ended = failing, [], []  # type: ignore[var-annotated]

    @property
    def slots(self) -> int:
        return 1

    def start(self, task: Task) -> None:
        self.started.append(task.cell)
        failed = task.cell.method in self.failing
        arrays = dict.fromkeys(("flips", "removed"), task.graph.edges[:0])
        self._ended.append((task.cell.key, Failure("as told") if failed else Outcome({"esr": 0.5}, arrays, 2.0)))

    def finished(self, timeout: float) -> list[Finished]:
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        pass


def test_cells_are_computed_after_what_they_build_on_and_never_again(tmp_path: Path) -> None:
    told: list[Status] = []
    with Store(tmp_path) as store:
        first = Runner(store, Inline(), progress=told.append).run(CELLS)
        assert first.computed == len(CELLS) + 1, "and one attack for both powers"
        assert not first.failed
        again = Recorder()
        assert Runner(store, again).run(CELLS).computed == 0
        assert not again.started
    assert [status.done for status in told] == list(range(1, len(CELLS) + 2))
    assert told[-1].seconds_left == 0 < told[0].seconds_left


def test_the_time_left_follows_the_pace_of_the_run_not_only_earlier_times(tmp_path: Path) -> None:
    cells = [Accuracy(POISONS[0], "sgc", seed=seed) for seed in range(5)]
    told: list[Status] = []
    with Store(tmp_path) as store:
        Runner(store, Recorder()).run(cells[:1])
        store.put(cells[0], Outcome({}, seconds=100.0))
        Runner(store, Recorder(), progress=told.append).run(cells)
    assert [status.seconds_left for status in told] == pytest.approx([6.0, 4.0, 2.0, 0.0])


def test_a_run_goes_on_where_another_stopped(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        stopped = Runner(store, Recorder()).run(CELLS[:1])
        engine = Recorder()
        rest = Runner(store, engine).run(CELLS)
        assert stopped.computed == 2
        assert rest.computed == len(CELLS) - 1
        assert CELLS[0] not in engine.started


def test_a_changed_setting_touches_only_its_cells(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        Runner(store, Recorder()).run(CELLS)
        other = replace(CLEANED[0], settings=(("tau", 0.8),))
        engine = Recorder()
        Runner(store, engine).run([*CELLS, other, Accuracy(other, "sgc")])
        assert engine.started == [other, Accuracy(other, "sgc")]


def test_numbers_without_arrays_are_computed_again_only_where_something_builds_on_them(tmp_path: Path) -> None:
    known = {cell.key: CellResult({"esr": 0.5}, 1.0) for cell in (*CLEANED, POISONS[1].run)}
    assert list(to_compute(CLEANED, known, set()).values()) == []
    wanted = Accuracy(CLEANED[0], "sgc")
    assert list(to_compute([wanted], known, set()).values()) == [POISONS[0].run, CLEANED[0], wanted]
    with Store(tmp_path, known) as store:
        engine = Recorder()
        Runner(store, engine).run([wanted])
        assert engine.started == [POISONS[0].run, CLEANED[0], wanted]


def test_a_failure_stops_what_builds_on_it_and_nothing_else(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        report = Runner(store, Recorder("cld")).run(CELLS)
        assert report.computed == 3
        assert len(report.failed) == 4
        assert report.failed[CLEANED[0].label] == "as told"
        assert report.failed[CELLS[-1].label] == f"builds on {CLEANED[1].label}, which failed"
        assert len(store.failures()) == 4
        assert Runner(store, Recorder()).run(CELLS).computed == 4
        assert store.failures() == {}


def test_nothing_is_started_when_the_time_is_over(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        report = Runner(store, Recorder(), seconds=0).run(CELLS)
    assert (report.computed, report.left) == (0, len(CELLS) + 1)


def test_an_interrupted_run_keeps_its_results_and_gives_its_claims_back(tmp_path: Path) -> None:
    def interrupt(status: Status) -> None:
        if status.done == 2:
            raise KeyboardInterrupt

    with Store(tmp_path) as store:
        with pytest.raises(KeyboardInterrupt):
            Runner(store, Recorder(), progress=interrupt).run(CELLS)
        assert len(store.computed()) == 2
        assert store.database.execute("SELECT COUNT(*) FROM leases").fetchone() == (0,)


def test_what_another_runner_is_at_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focusedcleaner.experiments.runner.LOOK_AGAIN", 0.05)
    host = "elsewhere"
    with Store(tmp_path) as store:
        row = (CLEANED[0].key, host, 1, time.time() + 1000)
        store.database.execute("INSERT INTO leases VALUES (?, ?, ?, ?)", row)

        def finish() -> None:
            time.sleep(0.5)
            with Store(tmp_path) as theirs:
                theirs.put(CLEANED[0], Outcome({"esr": 0.9}, {"removed": np.empty((0, 2), dtype=np.int64)}, 1.0))

        other = threading.Thread(target=finish)
        other.start()
        engine = Recorder()
        report = Runner(store, engine).run(CELLS)
        other.join()
        assert CLEANED[0] not in engine.started
        assert report.computed == len(CELLS)
        assert store.known()[CLEANED[0].key].values["esr"] == 0.9


def test_processes_give_the_same_results_also_when_one_is_killed(tmp_path: Path) -> None:
    with Store(tmp_path / "here") as store:
        Runner(store, Inline()).run(CELLS)
        expected = {key: known.values for key, known in store.known().items()}
    engine = Processes(2)
    killed: list[int] = []

    def kill_one(status: Status) -> None:
        if not killed:
            killed.append(engine.pids[0])
            os.kill(killed[0], signal.SIGKILL)

    with Store(tmp_path / "apart") as store:
        report = Runner(store, engine, progress=kill_one).run(CELLS)
        assert killed
        assert not report.failed
        assert {key: known.values for key, known in store.known().items()} == expected


def test_workers_have_an_environment_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    engine = Processes(1)
    given = Path(f"/proc/{engine.pids[0]}/environ")
    try:
        if given.exists():
            until = time.monotonic() + 60  # the process shows its own environment once it has begun
            while "MALLOC_TRIM_THRESHOLD_" not in given.read_text() and time.monotonic() < until:
                time.sleep(0.01)
            theirs = dict(line.split("=", 1) for line in given.read_text().split("\0") if line)
            assert theirs["OMP_NUM_THREADS"] == "1"
            assert int(theirs["MALLOC_TRIM_THRESHOLD_"]) > 0
        assert os.environ["OMP_NUM_THREADS"] == "7"
        assert "MALLOC_TRIM_THRESHOLD_" not in os.environ
    finally:
        engine.close()


def test_tables_fill_evenly() -> None:
    cells = in_order([catalogue.load("esr"), catalogue.load("f1"), catalogue.load("accuracy-mettack")])
    assert len({cell.key for cell in cells}) == len(cells)
    seeds = [getattr(cell, "seed", 0) for cell in cells]
    assert seeds == sorted(seeds)
    first = [cell for cell in cells if isinstance(cell, Sanitation) and cell.seed == 0]
    powers = [cell.poison.power for cell in first]
    assert powers == sorted(powers, key=[0.1, 0.25, 0.05, 0.2, 0.15].index)


def test_estimates_come_from_like_cells() -> None:
    known = {CLEANED[0].key: CellResult({}, 10.0), Accuracy(POISONS[0], "sgc").key: CellResult({}, 4.0)}
    estimate = Estimate(CELLS, known)
    assert estimate.seconds(CLEANED[1]) == 10.0
    assert estimate.seconds(replace(CLEANED[1], poison=Poison(Source("cora")))) == 10.0
    assert estimate.seconds(CELLS[-1]) == 4.0
    assert estimate.seconds(Accuracy(POISONS[0], "prognn")) == 12.0
