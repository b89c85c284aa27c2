"""Engines of this machine: the runner's own process, or a few processes beside it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from focusedcleaner.experiments.compute import Failure, Task, run
from focusedcleaner.experiments.engines.base import DIED, RETRIES, Engine, Finished

_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # glibc keeps the memory of a matrix for the next one, instead of having each page given and cleared anew.
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
    "MALLOC_TRIM_THRESHOLD_": str(2**32),
    "MALLOC_TOP_PAD_": str(2**26),
}
"""What a worker computes with: one thread, and memory that it does not give back."""


class Inline(Engine):
    """One task after the other in this very process."""

    def __init__(self) -> None:
        self._task: Task | None = None

    @property
    def slots(self) -> int:
        return 1

    def start(self, task: Task) -> None:
        self._task = task

    def finished(self, timeout: float) -> list[Finished]:
        task, self._task = self._task, None
        return [] if task is None else [(task.cell.key, run(task))]

    def close(self) -> None:
        self._task = None


@dataclass
class _Worker:
    """A process, the line to it, and what it is at."""

    process: SpawnProcess
    line: Connection
    task: Task | None = None


class Processes(Engine):
    """So many processes with one thread each; one that dies is replaced and its task done again.

    Args:
        workers: how many.
    """

    def __init__(self, workers: int) -> None:
        self._workers = [_spawn() for _ in range(workers)]
        self._deaths: dict[str, int] = {}

    @property
    def slots(self) -> int:
        return len(self._workers)

    @property
    def pids(self) -> list[int]:
        """The processes' numbers."""
        return [worker.process.pid or 0 for worker in self._workers]

    def start(self, task: Task) -> None:
        free = next(place for place, worker in enumerate(self._workers) if worker.task is None)
        self._give(free, task)

    def finished(self, timeout: float) -> list[Finished]:
        busy = {worker.line: place for place, worker in enumerate(self._workers) if worker.task is not None}
        ready = wait(list(busy), timeout) if busy else []
        ended = [self._hear(busy[line]) for line in ready if isinstance(line, Connection)]
        return [one for one in ended if one is not None]

    def close(self) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.line.close()
        for worker in self._workers:
            worker.process.join()
        self._workers = []

    def _give(self, place: int, task: Task) -> None:
        try:
            self._workers[place].line.send(task)
        except OSError:
            self._replace(place)
            self._workers[place].line.send(task)
        self._workers[place].task = task

    def _hear(self, place: int) -> Finished | None:
        """What a worker answers; where it died instead, a new one gets its task, unless that has killed too many."""
        worker = self._workers[place]
        task = worker.task
        assert task is not None
        worker.task = None
        try:
            return task.cell.key, worker.line.recv()
        except (EOFError, OSError):
            self._replace(place)
        deaths = self._deaths[task.cell.key] = self._deaths.get(task.cell.key, 0) + 1
        if deaths > RETRIES:
            return task.cell.key, Failure(f"{DIED}, {deaths} times")
        self._give(place, task)
        return None

    def _replace(self, place: int) -> None:
        gone = self._workers[place]
        gone.line.close()
        gone.process.kill()
        gone.process.join()
        self._workers[place] = _spawn()


def _spawn() -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs,), daemon=True)
    with _environment():
        process.start()
    theirs.close()
    return _Worker(process, ours)


@contextmanager
def _environment() -> Iterator[None]:
    """The workers' environment, as long as one starts: the libraries read it when they are loaded."""
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    os.environ.update(_ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(line: Connection) -> None:
    """A worker's life: tasks in, results out, until the line is closed. Ctrl-C is the runner's affair."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import torch

    torch.set_num_threads(1)
    while True:
        try:
            line.send(run(line.recv()))
        except (EOFError, OSError):
            return
