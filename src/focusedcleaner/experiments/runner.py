"""Computes missing cells in a useful order, saves each result at once, and resumes where an earlier run stopped."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

from focusedcleaner.datasets.authors import FileMissing
from focusedcleaner.experiments.catalogue import Experiment, common
from focusedcleaner.experiments.cells import AUTHORS, PUBLISHED, Cell, CellResult
from focusedcleaner.experiments.compute import check_authors_files, clean_graph, make_task, published_graph
from focusedcleaner.experiments.engines import Engine
from focusedcleaner.experiments.store import Store

Progress = Callable[[int, int, float], None]
POLL = 2.0
"""Seconds between two looks at a cell that another runner is computing."""
RENEW = 60.0
"""Seconds between two renewals of the claims in the store."""
POWERS_FIRST = (0.0, 0.1, 0.25, 0.05, 0.2, 0.15)
"""The order in which attack powers are computed."""


def schedule(experiments: Iterable[Experiment], only: str = "") -> list[Cell]:
    """All cells with ``only`` in their label, each once: those on the authors' poison first, the slowest methods last.

    Within each group they are in the order of seed, power and experiment, so that tables fill evenly.
    """
    priorities: dict[str, tuple[tuple[int, ...], Cell]] = {}
    for number, experiment in enumerate(experiments):
        for cell in experiment.cells():
            power, split = cell.poison.amount, cell.source.split
            rank = POWERS_FIRST.index(power) if power in POWERS_FIRST else len(POWERS_FIRST)
            split_seed = int(split.removeprefix("random ")) if split.startswith("random ") else 0
            group = 0 if cell.poison.method in AUTHORS else 1 + experiment.last
            group = 3 if cell.method in common()["slow"] else group
            priority = (group, max(cell.seed, split_seed), rank, number)
            if only in cell.label and (cell.key not in priorities or priority < priorities[cell.key][0]):
                priorities[cell.key] = priority, cell
    return [cell for _, cell in sorted(priorities.values(), key=lambda item: item[0])]


def missing_cells(cells: Iterable[Cell], results: Mapping[str, CellResult], with_arrays: set[str]) -> dict[str, Cell]:
    """The cells to compute by key: those without a result, each after the inputs whose arrays are missing."""
    missing: dict[str, Cell] = {}

    def add(cell: Cell) -> None:
        if cell.key not in missing:
            for needed in cell.inputs():
                if needed.key not in with_arrays:
                    add(needed)
            missing[cell.key] = cell

    for cell in cells:
        if cell.key not in results:
            add(cell)
    return missing


def missing_files(cells: Iterable[Cell], *, online: bool) -> dict[Cell, str]:
    """The authors' poisoned graphs that these cells need and that are not there, with the reason.

    Args:
        cells: cells to compute.
        online: download what is not on this machine; after a download that failed, no other is tried.

    Raises:
        InputError: a file is not the published one.
    """
    missing: dict[Cell, str] = {}
    poisons = {cell.poison for cell in cells if cell.poison.method in AUTHORS}
    for poison in sorted(poisons, key=lambda poison: poison.label):
        try:
            check_authors_files(poison, online=online and not missing)
        except FileMissing as error:
            missing[poison] = str(error)
    return missing


def estimate_seconds(
    missing: Mapping[str, Cell], cells: Iterable[Cell], results: Mapping[str, CellResult]
) -> dict[str, float]:
    """The expected time of missing cells by key: the mean of the same method on the same data set, or else on any.

    Methods that have not been timed take the seconds in common.toml, or 3; the beginning of another sanitation takes
    none.
    """
    times: dict[tuple[str, ...], list[float]] = {}
    computed = {one.key: one for cell in cells for one in (cell, *cell.inputs()) if one.key in results}
    for key, cell in computed.items():
        for group in _groups(cell):
            times.setdefault(group, []).append(results[key].seconds)
    means, untimed = {group: mean(seconds) for group, seconds in times.items()}, common()["seconds"]
    return {
        key: next((means[group] for group in _groups(cell) if group in means), untimed.get(cell.method, 3.0))
        * (cell.ranking is None)
        for key, cell in missing.items()
    }


def _groups(cell: Cell) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (cell.kind, cell.method, cell.source.data), (cell.kind, cell.method)


@dataclass
class RunReport:
    """The outcome of a run.

    Args:
        computed: number of new results.
        failed: errors by cell label.
        left: number of cells not started within the time limit.
        files: what `missing_files` found; cells that need them were left out.
    """

    computed: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    left: int = 0
    files: Mapping[Cell, str] = field(default_factory=dict)


class Runner:
    """Computes cells and saves them to a store.

    Args:
        store: an open store.
        engine: computes the cells; closed at the end.
        on_progress: called after every result with cells done, cells in all, and the expected seconds left.
        seconds: no cell is started after this time.
    """

    def __init__(
        self, store: Store, engine: Engine, *, on_progress: Progress | None = None, seconds: float = math.inf
    ) -> None:
        self.store, self.engine, self.on_progress = store, engine, on_progress
        self.deadline = time.monotonic() + seconds
        self.report = RunReport()
        self._running: dict[str, Cell] = {}
        self._failed: set[str] = set()
        self._poll_at: dict[str, float] = {}  # when to look again at cells that another runner is computing
        self._taken = self._expected = 0.0  # seconds of the computed cells, to correct the estimate for this machine

    def run(self, cells: Sequence[Cell]) -> RunReport:
        """Compute the missing cells and what they need.

        Raises:
            InputError: a data set is missing, or a file is not the published one.
            KeyboardInterrupt: Ctrl-C; all results so far are saved.
        """
        results, self._ready = self.store.results(), self.store.computed(with_arrays=True)
        self._waiting = missing_cells(cells, results, self._ready)
        renewed = time.monotonic()
        try:
            absent = self.report.files = missing_files(self._waiting.values(), online=True)
            self._waiting = {key: cell for key, cell in self._waiting.items() if cell.poison not in absent}
            # Any other missing file is reported before anything is computed.
            for poison in sorted({cell.poison for cell in self._waiting.values()}, key=lambda poison: poison.label):
                clean_graph(poison.source)
                if poison.method in PUBLISHED:
                    published_graph(poison)
            self._seconds = estimate_seconds(self._waiting, cells, results)
            while self._running or (self._waiting and time.monotonic() < self.deadline):
                self._fill_slots()
                if self._running:
                    for key, result in self.engine.finished(timeout=1.0):
                        self._finish(self._running.pop(key), result)
                elif self._waiting:
                    time.sleep(POLL / 4)
                if time.monotonic() - renewed > RENEW:
                    self.store.renew()
                    renewed = time.monotonic()
        finally:
            self.engine.close()
            self.store.release()
        self.report.left = len(self._waiting)
        return self.report

    def _fill_slots(self) -> None:
        """Start the first waiting cells whose inputs are ready."""
        for key, cell in list(self._waiting.items()):
            now = time.monotonic()
            if len(self._running) >= self.engine.slots or now >= self.deadline:
                return
            needed = {one.key: one for one in cell.inputs()}
            failed = next((needed[one] for one in needed if one in self._failed), None)
            if failed is not None:
                self._finish(self._waiting.pop(key), CellResult({}, error=f"needs {failed.label}, which failed"))
            elif not self._ready.issuperset(needed) or now <= self._poll_at.get(key, 0):
                continue
            elif self.store.claim(cell):
                self._running[key] = self._waiting.pop(key)
                self.engine.start(make_task(cell, self.store.arrays))
            elif key in self.store.computed():
                del self._waiting[key]
                self._ready.add(key)
                self._update_progress()
            else:  # another runner is computing it
                self._poll_at[key] = now + POLL

    def _finish(self, cell: Cell, result: CellResult) -> None:
        if result.error:
            self.store.release(cell)
            self._failed.add(cell.key)
            self.report.failed[cell.label] = result.error
        else:
            self.store.put(cell, result)
            self.report.computed += 1
            self._taken += result.seconds
            self._expected += self._seconds[cell.key]
            self._ready.add(cell.key)
        self._update_progress()

    def _update_progress(self) -> None:
        if self.on_progress is not None:
            remaining, total = [*self._waiting, *self._running], len(self._seconds)
            pace = self._taken / self._expected if self._expected else 1.0
            seconds_left = pace * sum(self._seconds[key] for key in remaining) / self.engine.slots
            self.on_progress(total - len(remaining), total, seconds_left)
