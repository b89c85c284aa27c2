"""Engines: processes give the same results as this process, also when one is killed."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection

import psutil
import pytest

from focusedcleaner.experiments.cells import CellResult, accuracy, poison
from focusedcleaner.experiments.compute import make_task, run_task
from focusedcleaner.experiments.engines import RETRIES, Processes
from tests.experiments.test_runner import SOURCE

pytestmark = pytest.mark.slow

TASKS = {seed: make_task(accuracy(poison(SOURCE), "sgc", seed=seed), lambda cell: {}) for seed in range(3)}


def workers() -> list[psutil.Process]:
    """The worker processes of this process, without multiprocessing's resource tracker."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # also of a process that is dead but not yet waited for
            found += [child] if "spawn_main" in " ".join(child.cmdline()) else []
    return found


def first_worker() -> psutil.Process:
    deadline = time.monotonic() + 60
    while not workers() and time.monotonic() < deadline:  # a new process has a name of its own once it has begun
        time.sleep(0.01)
    return workers()[0]


def collect(engine: Processes, number: int) -> dict[str, CellResult]:
    """Wait for so many results."""
    results: dict[str, CellResult] = {}
    while len(results) < number:
        results |= engine.finished(timeout=60)
    return results


def test_a_task_is_repeated_when_its_worker_is_killed() -> None:
    engine = Processes(2)
    try:
        engine.start(TASKS[0])
        engine.start(TASKS[1])
        first_worker().kill()
        results = collect(engine, 2)
        first_worker().kill()  # it is idle
        engine.start(TASKS[2])
        results |= collect(engine, 1)
    finally:
        engine.close()
    assert {key: result.values for key, result in results.items()} == {
        task.cell.key: run_task(task).values for task in TASKS.values()
    }
    assert not workers(), "all processes are gone"


def test_a_task_that_kills_its_workers_fails_and_the_engine_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    engine = Processes(1)
    try:
        engine.start(TASKS[0])
        environment = first_worker().environ()  # workers have their own
        assert environment["OMP_NUM_THREADS"] == "1"
        assert int(environment["MALLOC_TRIM_THRESHOLD_"]) > 0
        assert os.environ["OMP_NUM_THREADS"] == "7"
        assert "MALLOC_TRIM_THRESHOLD_" not in os.environ
        for _ in range(RETRIES + 1):
            first_worker().kill()
            results = dict(engine.finished(timeout=60))
        assert results[TASKS[0].cell.key].error == "the worker process died 3 times"
        engine.start(TASKS[1])
        assert not collect(engine, 1)[TASKS[1].cell.key].error
    finally:
        engine.close()


def start_and_wait(report: Connection) -> None:
    """A runner with an idle worker, for `test_workers_end_when_the_runner_is_killed`."""
    engine = Processes(1)
    engine.start(TASKS[0])
    collect(engine, 1)
    report.send(workers()[0].pid)
    time.sleep(600)


def test_workers_end_when_the_runner_is_killed() -> None:
    ours, theirs = get_context("spawn").Pipe()
    runner = get_context("spawn").Process(target=start_and_wait, args=(theirs,))
    runner.start()
    worker = psutil.Process(ours.recv())
    runner.kill()
    runner.join()
    assert not psutil.wait_procs([worker], timeout=60)[1]
