"""The runner: missing cells are computed once, whatever interrupts it."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from focusedcleaner.experiments import catalogue
from focusedcleaner.experiments.catalogue import common
from focusedcleaner.experiments.cells import AUTHORS, Cell, CellResult, Source, accuracy, poison, sanitation
from focusedcleaner.experiments.compute import Task
from focusedcleaner.experiments.engines import Engine
from focusedcleaner.experiments.runner import Runner, estimate_seconds, missing_cells, schedule
from focusedcleaner.experiments.store import Store
from focusedcleaner.graph import no_pairs

SOURCE = Source("synthetic-100", "random 0")
POISONS = [poison(SOURCE, "mettack", power) for power in (0.05, 0.1)]
CLEANED = [sanitation(attacked, "cld", seed=0) for attacked in POISONS]
GRAPHS: list[Cell] = [*POISONS, *CLEANED]
CELLS: list[Cell] = [*CLEANED, *(accuracy(graph, "sgc") for graph in GRAPHS)]


class Recorder(Engine):
    """Records the cells without computing them; the cells of some methods fail."""

    def __init__(self, *failing: str) -> None:
        super().__init__()
        self.failing = failing
        self.started: list[Cell] = []

    def start(self, task: Task) -> None:
        super().start(task)
        self.started.append(task.cell)

    def finished(self, timeout: float) -> list[tuple[str, CellResult]]:
        tasks, self._tasks = self._tasks, []
        return [(task.cell.key, self._result(task)) for task in tasks]

    def _result(self, task: Task) -> CellResult:
        if task.cell.method in self.failing:
            return CellResult({}, error="on purpose")
        return CellResult({"esr": 0.5}, 2.0, dict.fromkeys(("flips", "removed"), task.graph.edges[:0]))


def test_cells_are_computed_after_their_inputs_and_only_once(tmp_path: Path) -> None:
    calls: list[tuple[int, int, float]] = []
    with Store(tmp_path) as store:
        first = Runner(store, Engine(), on_progress=lambda *call: calls.append(call)).run(CELLS)
        assert first.computed == len(CELLS) + 1, "and one attack for both powers"
        assert not first.failed
        again = Recorder()
        assert Runner(store, again).run(CELLS).computed == 0
        assert not again.started
    assert [call[:2] for call in calls] == [(done, len(CELLS) + 1) for done in range(1, len(CELLS) + 2)]
    assert calls[-1][2] == 0 < calls[0][2]


def test_the_time_left_follows_the_pace_of_this_run(tmp_path: Path) -> None:
    cells = [accuracy(POISONS[0], "sgc", seed=seed) for seed in range(5)]
    calls: list[tuple[int, int, float]] = []
    with Store(tmp_path) as store:
        Runner(store, Recorder()).run(cells[:1])
        store.put(cells[0], CellResult({}, 100.0))
        Runner(store, Recorder(), on_progress=lambda *call: calls.append(call)).run(cells)
    assert [seconds_left for _, _, seconds_left in calls] == pytest.approx([6.0, 4.0, 2.0, 0.0])


def test_a_run_resumes_where_another_stopped(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        stopped = Runner(store, Recorder()).run(CELLS[:1])
        engine = Recorder()
        rest = Runner(store, engine).run(CELLS)
        assert stopped.computed == 2
        assert rest.computed == len(CELLS) - 1
        assert CELLS[0] not in engine.started


def test_a_changed_setting_affects_only_its_cells(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        Runner(store, Recorder()).run(CELLS)
        other = replace(CLEANED[0], settings=(("tau", 0.8),))
        engine = Recorder()
        Runner(store, engine).run([*CELLS, other, accuracy(other, "sgc")])
        assert engine.started == [other, accuracy(other, "sgc")]


def test_committed_numbers_are_computed_again_only_if_their_arrays_are_needed(tmp_path: Path) -> None:
    known = {cell.key: CellResult({"esr": 0.5}, 1.0) for cell in (*CLEANED, POISONS[1].full_run)}
    assert list(missing_cells(CLEANED, known, set()).values()) == []
    wanted = accuracy(CLEANED[0], "sgc")
    assert list(missing_cells([wanted], known, set()).values()) == [POISONS[0].full_run, CLEANED[0], wanted]
    with Store(tmp_path, known) as store:
        engine = Recorder()
        Runner(store, engine).run([wanted])
        assert engine.started == [POISONS[0].full_run, CLEANED[0], wanted]


def test_a_failure_stops_dependent_cells_only_and_is_tried_again(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        report = Runner(store, Recorder("cld")).run(CELLS)
        assert report.computed == 3
        assert len(report.failed) == 4
        assert report.failed[CLEANED[0].label] == "on purpose"
        assert report.failed[CELLS[-1].label] == f"needs {CLEANED[1].label}, which failed"
        assert Runner(store, Recorder()).run(CELLS).computed == 4


def test_nothing_is_started_after_the_time_limit(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        report = Runner(store, Recorder(), seconds=0).run(CELLS)
    assert (report.computed, report.left) == (0, len(CELLS) + 1)


def test_an_interrupted_run_keeps_its_results_and_releases_its_claims(tmp_path: Path) -> None:
    def interrupt(done: int, total: int, seconds_left: float) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with Store(tmp_path) as store:
        with pytest.raises(KeyboardInterrupt):
            Runner(store, Recorder(), on_progress=interrupt).run(CELLS)
        assert len(store.computed()) == 2
        assert store.database.execute("SELECT COUNT(*) FROM leases").fetchone() == (0,)


def test_a_cell_that_another_runner_computes_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focusedcleaner.experiments.runner.POLL", 0.05)
    host = "elsewhere"
    with Store(tmp_path) as store:
        row = (CLEANED[0].key, host, 1, time.time() + 1000)
        store.database.execute("INSERT INTO leases VALUES (?, ?, ?, ?)", row)

        def finish() -> None:
            time.sleep(0.5)
            with Store(tmp_path) as theirs:
                theirs.put(CLEANED[0], CellResult({"esr": 0.9}, 1.0, {"removed": no_pairs()}))

        other = threading.Thread(target=finish)
        other.start()
        engine = Recorder()
        report = Runner(store, engine).run(CELLS)
        other.join()
        assert CLEANED[0] not in engine.started
        assert report.computed == len(CELLS)
        assert store.results()[CLEANED[0].key].values["esr"] == 0.9


def test_tables_fill_evenly() -> None:
    cells = schedule([catalogue.load("esr"), catalogue.load("f1"), catalogue.load("accuracy-minmax")])
    assert len({cell.key for cell in cells}) == len(cells)
    fast = [cell for cell in cells if cell.method not in common()["slow"]]
    for group in (True, False):
        inside = [cell for cell in fast if (cell.poison.method in AUTHORS) == group]
        seeds = [cell.seed for cell in inside]
        assert seeds == sorted(seeds)
        powers = [cell.poison.amount for cell in inside if cell.kind == "sanitation" and cell.seed == 0]
        assert powers == sorted(powers, key=[0.1, 0.25, 0.05, 0.2, 0.15].index)


def test_the_authors_poison_comes_first_and_robust_models_after_sanitation_last() -> None:
    experiments = [catalogue.load(name) for name in ("with-robust-lp", "accuracy-mettack")]
    cells = [cell for cell in schedule(experiments) if cell.method not in common()["slow"]]
    theirs = [cell.poison.method in AUTHORS for cell in cells]
    assert theirs == sorted(theirs, reverse=True)
    combined = {cell.key for cell in experiments[0].cells()} - {cell.key for cell in experiments[1].cells()}
    late = [cell.key in combined for cell in cells if cell.poison.method not in AUTHORS]
    assert late == sorted(late)


def test_cells_without_the_authors_files_are_left_out_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOCUSEDCLEANER_DATA", str(tmp_path))
    monkeypatch.setenv("FOCUSEDCLEANER_CACHE", str(tmp_path))
    monkeypatch.setattr("focusedcleaner.datasets.authors.BASE_URL", "http://127.0.0.1:1")
    theirs = [accuracy(poison(Source("cora"), "authors-mettack", power), "sgc") for power in (0.05, 0.1)]
    with Store(tmp_path) as store:
        report = Runner(store, Recorder()).run([*CELLS, *theirs])
    assert report.computed == len(CELLS) + 1
    assert not report.failed
    reasons = list(report.files.values())
    assert set(report.files) == {cell.poison for cell in theirs}
    assert ["can't be downloaded" in reason for reason in reasons] == [True, False], "one attempt is enough"


def test_the_slowest_methods_come_last() -> None:
    slow = [cell.method in common()["slow"] for cell in schedule([catalogue.load("accuracy-mettack")])]
    assert any(slow)
    assert slow == sorted(slow)


def test_estimates_come_from_similar_cells() -> None:
    known = {CLEANED[0].key: CellResult({}, 10.0), accuracy(POISONS[0], "sgc").key: CellResult({}, 4.0)}
    elsewhere = replace(CLEANED[1], graph=poison(Source("cora")))
    untimed: list[Cell] = [accuracy(POISONS[0], "low-rank"), sanitation(POISONS[0], "svd")]
    estimates = estimate_seconds({one.key: one for one in (CLEANED[1], elsewhere, CELLS[-1], *untimed)}, CELLS, known)
    assert list(estimates.values()) == [10.0, 10.0, 4.0, 12.0, 3.0]
