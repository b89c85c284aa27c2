"""``focusedcleaner reproduce``: the paper's tables and figures, ours beside theirs."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from focusedcleaner import datasets
from focusedcleaner.cli.console import Stopped, count, note, screen
from focusedcleaner.errors import InputError
from focusedcleaner.experiments import catalogue, ledger
from focusedcleaner.experiments.catalogue import Experiment
from focusedcleaner.experiments.cells import Cell
from focusedcleaner.experiments.engines import Engine, Inline, Processes
from focusedcleaner.experiments.figures import check_plots
from focusedcleaner.experiments.outputs import check_writable, show, write_outputs
from focusedcleaner.experiments.plan import Estimate, in_order, to_compute
from focusedcleaner.experiments.profiles import FULL, QUICK, Profile, small
from focusedcleaner.experiments.runner import Progress as Told
from focusedcleaner.experiments.runner import Report, Runner, Status
from focusedcleaner.experiments.store import Store, default_folder

LINE_EVERY = 60.0
"""Seconds between two lines about the progress where standard error is no terminal."""


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    names: tuple[str, ...] = ()
    everything: bool = False
    profile: str = "full"
    data: str | None = None
    engine: str = "local"
    address: str | None = None
    workers: int | None = None
    store: Path | None = None
    out: Path | None = None
    only: str = ""
    max_minutes: float | None = None
    dry_run: bool = False
    page: bool = False
    export: bool = False

    def experiments(self) -> list[Experiment]:
        """The experiments that are meant, as the profile has them."""
        if bool(self.names) == self.everything:
            raise InputError("name experiments or say --all (--list shows them)")
        profile = self._profile()
        found = [catalogue.load(name, profile) for name in (catalogue.names() if self.everything else self.names)]
        empty = [one.name for one in found if not one.panels]
        if empty and not self.everything:
            raise InputError(f"{empty[0]} has no panel on {self.data}")
        return [one for one in found if one.panels]

    def _profile(self) -> Profile:
        if self.profile not in ("full", "quick"):
            raise InputError(f"there is no profile {self.profile!r}; there are quick and full")
        chosen = tuple((self.data or "").replace(" ", "").split(",")) if self.data else ()
        if len(chosen) == 1 and chosen[0].startswith("synthetic"):
            return _on_synthetic(chosen[0])
        for name in chosen:
            datasets.info(name)
        if self.profile == "full":
            return Profile(data=chosen) if chosen else FULL
        if len(chosen) > 1 or (chosen and chosen != QUICK.data):
            raise InputError("the quick profile runs on cora, or on a small graph of its own with --data synthetic")
        return QUICK if chosen or _at_hand("cora") else small()

    @property
    def whole(self) -> bool:
        """Whether the page of all results is meant."""
        return self.everything and self.profile == "full" and not self.data

    def folder(self) -> Path:
        """Where tables and figures go: the documentation's place where there is one."""
        if self.out is not None:
            return self.out
        if self.profile == "quick" or self.data:
            return Path("runs") / "reproduce"
        return Path("docs") / "results" if Path("docs").is_dir() else Path("results")


def show_list() -> None:
    """The experiments by name."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("", "name", "where", "what"):
        table.add_column(title)
    for name in catalogue.names():
        known = catalogue.load(name)
        table.add_row(str(known.number), name, known.where, known.title)
    screen().print(table)


def run(request: Request) -> None:
    """Compute what is missing, then show and write what is asked for."""
    experiments = request.experiments()
    cells = in_order(experiments, request.only)
    if not cells:
        raise InputError(f"no cell has {request.only!r} in its name")
    with Store(request.store or default_folder(), ledger.shipped()) as store:
        if request.dry_run:
            _tell_plan(store, cells, request)
            return
        folder = request.folder()
        check_writable(folder)
        check_plots()
        report = Report() if request.page else _compute(store, cells, request)
        known = store.known()
    if not request.everything:
        for experiment in experiments:
            show(screen(), experiment, known)
    written = write_outputs(experiments, known, folder, whole=request.whole)
    screen().print(f"{count(len(written), 'file')} in {folder}")
    if request.export:
        results = ledger.write(in_order(map(catalogue.load, catalogue.names())), known)
        note(f"{count(results, 'result')} in {ledger.FOLDER}")
    _end(report)


def _compute(store: Store, cells: Sequence[Cell], request: Request) -> Report:
    """Run; Ctrl-C ends with a line about what is kept."""
    missing = to_compute(cells, store.known(), store.keys_with_arrays())
    if not missing:
        return Report()
    seconds = None if request.max_minutes is None else 60 * request.max_minutes
    with _progress() as progress:
        runner = Runner(store, _engine(request, len(missing)), progress=progress, seconds=seconds)
        try:
            return runner.run(cells)
        except KeyboardInterrupt:
            kept = count(runner.report.computed, "new cell")
            raise Stopped(f"interrupted: {kept} kept in {store.path}; the same command goes on") from None


def _engine(request: Request, cells: int) -> Engine:
    if request.engine == "ray":
        from focusedcleaner.experiments.engines.cluster import Cluster

        return Cluster(request.address, request.workers)
    if request.engine != "local":
        raise InputError(f"there is no engine {request.engine!r}; there are local and ray")
    if request.address is not None:
        raise InputError("--address goes with --engine ray")
    workers = min(request.workers or _cores(), cells)
    return Inline() if workers == 1 else Processes(workers)


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _tell_plan(store: Store, cells: Sequence[Cell], request: Request) -> None:
    """What would run, by kind and method, and how long."""
    known = store.known()
    missing = to_compute(cells, known, store.keys_with_arrays())
    estimate = Estimate(cells, known)
    wanted = Counter((cell.kind, cell.method) for cell in {**{cell.key: cell for cell in cells}, **missing}.values())
    open_cells = Counter((cell.kind, cell.method) for cell in missing.values())
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("kind")
    table.add_column("method")
    for title in ("cells", "there", "missing", "time"):
        table.add_column(title, justify="right")
    for (kind, method), number in sorted(wanted.items()):
        left = open_cells[kind, method]
        seconds = estimate.total(cell for cell in missing.values() if (cell.kind, cell.method) == (kind, method))
        table.add_row(kind, method, f"{number:,}", f"{number - left:,}", f"{left:,}", duration(seconds))
    screen().print(table)
    workers = request.workers or _cores()
    total = estimate.total(missing.values()) / workers
    screen().print(f"\n{count(len(missing), 'cell')} missing: about {duration(total)} with {count(workers, 'worker')}")


@contextmanager
def _progress() -> Iterator[Told]:
    """A bar with cells and time left; a line a minute where there is no terminal."""
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    columns = [TextColumn("{task.description}", markup=False), BarColumn()]
    last = time.monotonic() - LINE_EVERY / 2
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Starting", total=None)

        def told(status: Status) -> None:
            nonlocal last
            words = f"{status.done:,} of {count(status.total, 'cell')}, about {duration(status.seconds_left)} left"
            bar.update(task, completed=status.done, total=status.total, description=words)
            if not console.is_terminal and time.monotonic() - last > LINE_EVERY:
                note(words)
                last = time.monotonic()

        yield told


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(42), duration(600), duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _end(report: Report) -> None:
    """Say what failed and what was left."""
    if report.left:
        note(f"{count(report.left, 'cell')} left: the same command goes on")
    for label, error in report.failed.items():
        note(f"failed: {label}: {error}")
    if report.failed:
        raise typer.Exit(1)


def _on_synthetic(name: str) -> Profile:
    """The quick profile on ``synthetic``, or on ``synthetic-200`` with so many nodes."""
    size = name.removeprefix("synthetic").removeprefix("-")
    if name != "synthetic" and not size.isdecimal():
        raise InputError(f"a synthetic graph is named synthetic or synthetic-200, not {name!r}")
    return small(int(size)) if size else small()


def _at_hand(name: str) -> bool:
    try:
        datasets.get(name)
    except InputError as error:
        note(f"{error}; a small synthetic graph stands in")
        return False
    return True
