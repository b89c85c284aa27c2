"""Computes what is missing, keeps each result at once, and goes on where an earlier run stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from focusedcleaner.experiments.cells import Cell
from focusedcleaner.experiments.compute import Failure, Outcome
from focusedcleaner.experiments.engines import Engine
from focusedcleaner.experiments.graphs import task_of
from focusedcleaner.experiments.plan import Estimate, check_sources, to_compute
from focusedcleaner.experiments.store import Store

LOOK_AGAIN = 2.0
"""Seconds after which a cell that another runner has claimed is looked at again."""
RENEW = 60.0
"""Seconds between two signs of life in the store."""


@dataclass(frozen=True)
class Status:
    """How far a run is."""

    done: int
    total: int
    seconds_left: float
    """An estimate, for as many cells at a time as the engine has slots."""


Progress = Callable[[Status], None]


@dataclass
class Report:
    """What a run came to."""

    computed: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    """Errors by the cell's label."""
    left: int = 0
    """Cells that there was no time for."""


class Runner:
    """Fills a store.

    Args:
        store: open; where results go.
        engine: who computes; closed at the end.
        progress: told after every result.
        seconds: no cell is started after so many; None for no limit.
    """

    def __init__(
        self, store: Store, engine: Engine, *, progress: Progress | None = None, seconds: float | None = None
    ) -> None:
        self.store, self.engine, self.progress = store, engine, progress
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.report = Report()
        self._running: dict[str, Cell] = {}
        self._elsewhere: dict[str, float] = {}
        """Cells that another runner is at, and when to look at them again."""
        self._broken: set[str] = set()
        """Keys of cells that failed."""
        self._took = self._expected = 0.0
        """Seconds of the cells that were computed: as it was, and as it had been estimated."""

    def run(self, cells: Sequence[Cell]) -> Report:
        """Compute those of the cells, and of what they build on, that the store has not.

        Raises:
            InputError: a data set is missing.
            KeyboardInterrupt: Ctrl-C; all results so far are kept.
        """
        known, self._ready = self.store.known(), self.store.keys_with_arrays()
        self._waiting = to_compute(cells, known, self._ready)
        self._total = len(self._waiting)
        self._needs = {key: {one.key: one for one in cell.inputs()} for key, cell in self._waiting.items()}
        estimate = Estimate(cells, known)
        self._seconds = {key: estimate.seconds(cell) for key, cell in self._waiting.items()}
        renewed = time.monotonic()
        try:
            check_sources(self._waiting.values())
            while self._waiting or self._running:
                if not self._out_of_time():
                    self._fill()
                elif not self._running:
                    break
                self._collect()
                if time.monotonic() - renewed > RENEW:
                    self.store.renew()
                    renewed = time.monotonic()
        finally:
            self.engine.close()
            self.store.release()
        self.report.left = len(self._waiting)
        return self.report

    def _out_of_time(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _fill(self) -> None:
        """Start as many cells as there are free slots, the first that can be started first."""
        for key, cell in list(self._waiting.items()):
            if len(self._running) >= self.engine.slots:
                return
            needs = self._needs[key]
            broken = next((needs[one] for one in needs if one in self._broken), None)
            if broken is not None:
                self._settle(cell, Failure(f"builds on {broken.label}, which failed"))
            elif self._ready.issuperset(needs) and self._elsewhere.get(key, 0) < time.monotonic():
                self._start(cell)

    def _start(self, cell: Cell) -> None:
        if self.store.claim(cell):
            del self._waiting[cell.key]
            self._running[cell.key] = cell
            self.engine.start(task_of(cell, self.store.arrays))
        elif cell.key in self.store.computed():
            del self._waiting[cell.key]
            self._ready.add(cell.key)
            self._tell()
        else:
            self._elsewhere[cell.key] = time.monotonic() + LOOK_AGAIN

    def _collect(self) -> None:
        if not self._running:
            if self._waiting:
                time.sleep(LOOK_AGAIN / 4)
            return
        for key, result in self.engine.finished(timeout=1.0):
            self._settle(self._running.pop(key), result)

    def _settle(self, cell: Cell, result: Outcome | Failure) -> None:
        self._waiting.pop(cell.key, None)
        if isinstance(result, Failure):
            self.store.fail(cell, result.error)
            self._broken.add(cell.key)
            self.report.failed[cell.label] = result.error
        else:
            self.store.put(cell, result)
            self.report.computed += 1
            self._took += result.seconds
            self._expected += self._seconds[cell.key]
            self._ready.add(cell.key)
        self._tell()

    def _tell(self) -> None:
        if self.progress is not None:
            still = [*self._waiting, *self._running]
            pace = self._took / self._expected if self._expected else 1.0  # other machines are faster or slower
            left = pace * sum(map(self._seconds.__getitem__, still)) / max(self.engine.slots, 1)
            self.progress(Status(self._total - len(still), self._total, left))
