"""``focusedcleaner reproduce``: the paper's tables and figures, ours beside theirs."""

from __future__ import annotations

import math
import os
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as ProgressBar
from rich.table import Column, Table

from focusedcleaner import datasets
from focusedcleaner.cli.console import Stopped, bar_console, count, note, screen
from focusedcleaner.cli.options import ReproduceOptions
from focusedcleaner.errors import InputError
from focusedcleaner.experiments import catalogue, store
from focusedcleaner.experiments.catalogue import QUICK, Experiment, Profile, quick_synthetic
from focusedcleaner.experiments.cells import Cell, CellResult
from focusedcleaner.experiments.engines import Engine, Processes, RayCluster
from focusedcleaner.experiments.figures import check_plots
from focusedcleaner.experiments.outputs import check_writable, show, write_outputs
from focusedcleaner.experiments.runner import (
    Runner,
    RunReport,
    estimate_seconds,
    missing_cells,
    missing_files,
    schedule,
)

LINE_EVERY = 60.0
"""Seconds between progress lines if standard error is not a terminal."""


def _print_list() -> None:
    table = Table("", "name", "where", "title", box=None, pad_edge=False, header_style="bold")
    for experiment in map(catalogue.load, catalogue.names()):
        table.add_row(str(experiment.number), experiment.name, experiment.where, experiment.title)
    screen().print(table)


def reproduce(options: ReproduceOptions) -> None:
    """Compute what is missing, then show and write the results."""
    if options.list_:
        _print_list()
        return
    _check_engine(options)
    experiments = _experiments(options)
    cells = schedule(experiments, options.only)
    if not cells:
        raise InputError(f"no cell has {options.only!r} in its name")
    with store.Store(options.store or store.default_folder(), store.committed_results()) as opened:
        results = opened.results()
        missing = missing_cells(cells, results, opened.computed(with_arrays=True))
        if options.dry_run:
            absent = missing_files(missing.values(), online=False)
            here = {key: cell for key, cell in missing.items() if cell.poison not in absent}
            _print_forecast([cell for cell in cells if cell.poison not in absent], here, results, options)
            _note_files(absent)
            return
        folder, report = _folder(options), RunReport()
        check_writable(folder)
        check_plots()
        if missing and not options.page:
            report = _compute(opened, cells, _engine(options, len(missing)), options.max_minutes)
            results = opened.results()
    if not options.everything:
        for experiment in experiments:
            show(screen(), experiment, results)
    with_page = options.everything and options.profile == "full" and not options.data
    written = write_outputs(experiments, results, folder, with_page=with_page)
    screen().print(f"{count(len(written), 'file')} in {folder}")
    if options.export:
        exported = store.write_csv(schedule(map(catalogue.load, catalogue.names())), results)
        note(f"{count(exported, 'result')} in {store.COMMITTED}")
    _note_files(report.files)
    if report.left:
        note(f"{count(report.left, 'cell')} left: the same command resumes")
    for label, error in report.failed.items():
        note(f"failed: {label}: {error}")
    if report.failed:
        raise typer.Exit(1)


def _note_files(absent: Mapping[Cell, str]) -> None:
    """Say which of the authors' poisoned graphs are not here and were left out."""
    if absent:
        listed = "; ".join(poison.label for poison in absent)
        note(f"left out, because the authors' files are not here: {listed}")
        note(next(iter(absent.values())))


def _experiments(options: ReproduceOptions) -> list[Experiment]:
    """The named experiments under the named profile."""
    if bool(options.names) == options.everything:
        raise InputError("name experiments or use --all (--list shows them)")
    profile = _profile(options.profile, options.data)
    experiments = [catalogue.load(name, profile) for name in options.names or catalogue.names()]
    for experiment in experiments:
        if not experiment.panels and not options.everything:
            raise InputError(f"{experiment.name} has no panel on {options.data}")
    return [experiment for experiment in experiments if experiment.panels]


def _check_engine(options: ReproduceOptions) -> None:
    if options.engine not in ("local", "ray"):
        raise InputError(f"there is no engine {options.engine!r}; the engines are local and ray")
    if options.address is not None and options.engine == "local":
        raise InputError("--address requires --engine ray")


def _engine(options: ReproduceOptions, cells: int) -> Engine:
    if options.engine == "ray":
        return RayCluster(options.address, options.workers)
    workers = min(options.workers or _cores(), cells)
    return Engine() if workers == 1 else Processes(workers)


def _folder(options: ReproduceOptions) -> Path:
    """The output folder; in a checkout, that of the documentation."""
    if options.out is not None or options.profile == "quick" or options.data:
        return options.out or Path("runs/reproduce")
    return Path("docs/results" if Path("docs").is_dir() else "results")


def _compute(opened: store.Store, cells: Sequence[Cell], engine: Engine, max_minutes: float | None) -> RunReport:
    """Compute the missing cells, with a bar or, without a terminal, a line per minute; Ctrl-C says what was saved."""
    console = bar_console()
    columns = [TextColumn("{task.description}", markup=False), BarColumn()]
    printed = time.monotonic() - LINE_EVERY / 2
    with ProgressBar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Starting", total=None)

        def update(done: int, total: int, seconds_left: float) -> None:
            nonlocal printed
            text = f"{done:,} of {count(total, 'cell')}, about {duration(seconds_left)} left"
            bar.update(task, completed=done, total=total, description=text)
            if not console.is_terminal and time.monotonic() - printed > LINE_EVERY:
                note(text)
                printed = time.monotonic()

        seconds = math.inf if max_minutes is None else 60 * max_minutes
        runner = Runner(opened, engine, on_progress=update, seconds=seconds)
        try:
            return runner.run(cells)
        except KeyboardInterrupt:
            saved = count(runner.report.computed, "new cell")
            raise Stopped(f"interrupted: {saved} saved in {opened.path}; the same command resumes") from None


def _print_forecast(
    cells: Sequence[Cell], missing: Mapping[str, Cell], results: Mapping[str, CellResult], options: ReproduceOptions
) -> None:
    """Print what would be computed, by kind and method, and the expected time."""
    workers = options.workers or _cores()
    seconds = estimate_seconds(missing, cells, results)
    numbers = [Column(title, justify="right") for title in ("cells", "available", "missing", "time")]
    table = Table("kind", "method", *numbers, box=None, pad_edge=False, header_style="bold")
    wanted = Counter((cell.kind, cell.method) for cell in {**{cell.key: cell for cell in cells}, **missing}.values())
    for group, number in sorted(wanted.items()):
        times = [seconds[key] for key, cell in missing.items() if (cell.kind, cell.method) == group]
        table.add_row(*group, f"{number:,}", f"{number - len(times):,}", f"{len(times):,}", duration(sum(times)))
    screen().print(table)
    total = duration(sum(seconds.values()) / workers)
    screen().print(f"\n{count(len(missing), 'cell')} missing: about {total} with {count(workers, 'worker')}")


def duration(seconds: float) -> str:
    """A duration in seconds, minutes or hours.

    >>> duration(42), duration(600), duration(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _profile(name: str, data: str | None) -> Profile:
    if name not in ("full", "quick"):
        raise InputError(f"there is no profile {name!r}; the profiles are quick and full")
    if data and data.startswith("synthetic"):
        size = re.fullmatch(r"synthetic(?:-?([1-9]\d{1,4}))?", data.strip(), re.ASCII)
        if not size:
            sizes = "with 10 to 99,999 nodes"
            raise InputError(f"a synthetic graph is named synthetic or synthetic-200, {sizes}, not {data!r}")
        return quick_synthetic(int(size[1] or 150))
    chosen = tuple(data.replace(" ", "").split(",")) if data else ()
    for one in chosen:
        datasets.info(one)
    if name == "full":
        return Profile(data=chosen)
    if chosen and chosen != QUICK.data:
        raise InputError("the quick profile runs on cora, or on a generated graph with --data synthetic")
    try:
        datasets.get(QUICK.data[0])
    except InputError as error:
        if not chosen:  # a named data set may not be needed: its results may be available
            note(f"{error}; a small synthetic graph replaces it")
            return quick_synthetic()
    return QUICK
