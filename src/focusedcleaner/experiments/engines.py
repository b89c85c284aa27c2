"""Engines compute tasks: in this process, in worker processes on this machine, or on a Ray cluster."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Any

import torch

from focusedcleaner.engine.ray_cluster import connect_ray
from focusedcleaner.experiments.cells import CellResult
from focusedcleaner.experiments.compute import Task, run_task

RETRIES = 2
"""How often a task is repeated after its worker died."""
_WORKER_ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    # glibc keeps freed memory for the next matrix, instead of returning it to the system.
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
    "MALLOC_TRIM_THRESHOLD_": str(2**32),
    "MALLOC_TOP_PAD_": str(2**26),
}


class Engine:
    """Computes tasks one after another in this process; subclasses compute several at a time elsewhere.

    Workers never touch the store: results go back to the runner.

    Args:
        slots: number of tasks at a time.
    """

    def __init__(self, slots: int = 1) -> None:
        self.slots = slots
        self._tasks: list[Task] = []

    def start(self, task: Task) -> None:
        """Start a task; the caller makes sure that a slot is free."""
        self._tasks.append(task)

    def finished(self, timeout: float) -> list[tuple[str, CellResult]]:
        """Cell keys and results of the tasks that ended; waits up to ``timeout`` seconds for the first."""
        tasks, self._tasks = self._tasks, []
        return [(task.cell.key, run_task(task)) for task in tasks]

    def close(self) -> None:
        """Stop at once and drop running tasks."""


class Processes(Engine):
    """Worker processes with one thread each.

    Each worker is a process pool of its own: when it dies, only its pool breaks, so that only its task is repeated.

    Args:
        workers: number of processes.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(slots=workers)
        self._idle = [_new_pool() for _ in range(workers)]
        self._running: dict[Future[CellResult], tuple[Task, ProcessPoolExecutor]] = {}
        self._deaths: Counter[str] = Counter()

    def start(self, task: Task) -> None:
        pool = self._idle.pop()
        with _worker_environment():  # the first task starts the process
            try:
                future = pool.submit(run_task, task)
            except BrokenProcessPool:  # killed while idle
                pool = _new_pool()
                future = pool.submit(run_task, task)
        self._running[future] = task, pool

    def finished(self, timeout: float) -> list[tuple[str, CellResult]]:
        results = []
        for future in wait(self._running, timeout, FIRST_COMPLETED).done:
            task, pool = self._running.pop(future)
            key = task.cell.key
            try:
                results.append((key, future.result()))
                self._idle.append(pool)
            except BrokenProcessPool:
                self._idle.append(_new_pool())
                self._deaths[key] += 1
                if self._deaths[key] > RETRIES:
                    results.append((key, CellResult({}, error=f"the worker process died {self._deaths[key]} times")))
                else:
                    self.start(task)
        return results

    def close(self) -> None:
        for pool in (*self._idle, *(pool for _, pool in self._running.values())):
            for process in list((pool._processes or {}).values()):  # from Python 3.14: pool.kill_workers()
                process.kill()
            pool.shutdown(cancel_futures=True)
        self._idle, self._running = [], {}


def _new_pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_start_worker)


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the runner handles Ctrl-C
    torch.set_num_threads(1)
    threading.Thread(target=_exit_with_runner, daemon=True).start()


def _exit_with_runner() -> None:
    """End this worker when the runner was killed; an idle worker would wait for ever."""
    runner = parent_process()
    if runner is not None:
        runner.join()
        os._exit(1)


@contextmanager
def _worker_environment() -> Iterator[None]:
    """Set the environment that a starting worker inherits; libraries read it when they are loaded."""
    before = dict(os.environ)
    os.environ.update(_WORKER_ENVIRONMENT)
    try:
        yield
    finally:
        for name in _WORKER_ENVIRONMENT.keys() - before:
            del os.environ[name]
        os.environ.update(before)


class RayCluster(Engine):
    """Tasks on a Ray cluster. Each task carries its data, so that the machines need no shared disk.

    Args:
        address: ``host:port`` of a cluster; None starts Ray on this machine, reachable from this machine only.
        workers: number of tasks at a time; None uses all cores of the cluster.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self._ray = connect_ray(address, workers, object_store_memory=200 * 2**20)
        super().__init__(workers or max(1, int(self._ray.cluster_resources().get("CPU", 1))))
        self._compute = self._ray.remote(num_cpus=1, max_retries=RETRIES)(run_task)
        self._running: dict[Any, str] = {}

    def start(self, task: Task) -> None:
        self._running[self._compute.remote(task)] = task.cell.key

    def finished(self, timeout: float) -> list[tuple[str, CellResult]]:
        ready = self._ray.wait(list(self._running), timeout=timeout)[0] if self._running else []
        return [(self._running.pop(reference), self._result(reference)) for reference in ready]

    def close(self) -> None:
        self._running.clear()
        self._ray.shutdown()

    def _result(self, reference: Any) -> CellResult:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            return CellResult({}, error=f"the Ray worker died: {' '.join(str(error).split())[:200]}")
