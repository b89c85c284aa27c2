"""Output: results on standard output; notes, errors and progress on standard error."""

from __future__ import annotations

import json
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, Protocol

import typer
from rich import progress
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from focusedcleaner.errors import InputWarning
from focusedcleaner.formatting import count as count
from focusedcleaner.formatting import readable, visible, why
from focusedcleaner.graph import FloatArray, Graph, IntArray


class Update(Protocol):
    """Moves a progress bar; the total may be unknown."""

    def __call__(self, done: int, total: int | None, stage: str = "", /) -> None: ...


class Stopped(KeyboardInterrupt):
    """Ctrl-C, with a line that says what was kept."""


class Screen(Console):
    """Replaces invisible characters, such as the escape sequences in a node's name, before anything is rendered."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        if isinstance(renderable, str):
            renderable = visible(renderable)
        elif isinstance(renderable, Text):
            renderable = renderable.copy()
            renderable.plain = visible(renderable.plain)
        return super().render(renderable, options)

    def print_heading(self, text: str) -> None:
        self.print(Text(text, style="bold"))

    def print_dim(self, text: str) -> None:
        self.print(Text(text, style="dim"))

    def print_line(self, text: str, description: str = "") -> None:
        """Print text that must not be wrapped, such as a path or a command, with a dim description."""
        self.print(Text.assemble(text, (description, "dim")), soft_wrap=True)

    def print_pointers(self, title: str, *pointers: tuple[str, str]) -> None:
        """Print paths and commands under a title, each with a description."""
        width = max(len(pointer) for pointer, _ in pointers)
        self.print_heading(title)
        for pointer, description in pointers:
            self.print_line(f"  {pointer:<{width}}  ", description)


def screen() -> Screen:
    """Standard output; markup in names is not interpreted."""
    return Screen(markup=False, highlight=False, emoji=False)


def results_table(first: str, *others: str) -> Table:
    """A table without lines: a column of names, then right-aligned columns of numbers."""
    columns = (Column(title, justify="right") for title in others)
    return Table(first, *columns, box=None, pad_edge=False, header_style="bold")


def grid(**first_column: Any) -> Table:
    """Two columns without a header: short names or numbers, then text."""
    return Table.grid(Column(no_wrap=True, **first_column), Column(overflow="fold"), padding=(0, 2))


def edge_list(
    graph: Graph, edges: IntArray, evidence: Mapping[str, Any], scores: FloatArray, *, planted: bool = True
) -> Table:
    """Edges in order of rank, by the names of their ends, each with the evidence that it is ``planted`` in words."""
    table = Table.grid(Column(justify="right", style="dim"), Column(no_wrap=True), padding=(0, 1))
    for row, (u, v) in enumerate(edges):
        ends = f"{readable(graph.name(u))} – {readable(graph.name(v))}"
        table.add_row(str(row + 1), ends, why(graph, evidence, scores, row, (u, v), planted=planted))
    return table


def note(text: str) -> None:
    """Print one line on standard error."""
    print_error(f"note: {text}")


def print_facts(rows: Sequence[tuple[str, str]]) -> None:
    """Print a line per fact on standard error, if that can be written: a short name, then text."""
    for name, text in rows:
        print_error(f"{name}: {text}")


def print_error(text: str) -> None:
    """Print one line on standard error, if that can be written, with control characters made visible."""
    with suppress(OSError):
        typer.echo(readable(text, most=100_000), err=True)


def print_json(fields: Mapping[str, Any]) -> None:
    """Print one JSON object in ASCII on standard output; NaN and infinity become null."""
    finite = json.loads(json.dumps(fields), parse_constant=lambda _: None)
    typer.echo(json.dumps(finite))


def resume_command(words: Sequence[str] | None, *more: str) -> str:
    """The command that continues after an interruption.

    >>> resume_command(["attack", "cora"])
    'focusedcleaner attack cora --resume'
    """
    words = ["focusedcleaner", *(words or ()), *more]
    return shlex.join(words if "--resume" in words else [*words, "--resume"])


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print each `InputWarning` as a note; other warnings stay as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", InputWarning)
        default = warnings.showwarning
        warnings.showwarning = lambda message, category, *where: (
            note(str(message)) if issubclass(category, InputWarning) else default(message, category, *where)
        )
        yield


class _Stage(progress.ProgressColumn):
    """What is being done or, where that is not told, the steps done and the steps per second."""

    def render(self, task: progress.Task) -> Text:
        if task.fields["stage"]:
            return Text(visible(task.fields["stage"]))
        total = "?" if task.total is None else f"{task.total:,.0f}"
        speed = "" if task.speed is None else f"  {task.speed:,.1f}/s"
        return Text.assemble((f"{task.completed:,.0f}/{total}", "green"), (speed, "dim"))


class _TimeLeft(progress.ProgressColumn):
    """The time left at the mean speed between the first report and the last; rounds are too few for rich's own."""

    def render(self, task: progress.Task) -> Text:
        left = None if task.finished else task.fields["end"]
        if left is None or task.elapsed is None:
            return Text("")
        return Text(f"{timedelta(seconds=max(round(left - task.elapsed), 0))} left", style="cyan")


class _Bar:
    """Moves a progress bar and foresees the second, from its start, at which it will be full."""

    def __init__(self, bar: progress.Progress, description: str) -> None:
        self.bar = bar
        self.task = bar.add_task(description, total=None, stage="", end=None)
        self.first = 0.0, 0
        """When the first report came, and how many steps were done then: those of an interrupted run took no time."""

    def __call__(self, done: int, total: int | None, stage: str = "", /) -> None:
        now, (start, before) = self.bar.tasks[0].elapsed or 0.0, self.first
        end = self.bar.tasks[0].fields["end"]
        if total is not None and done > before:
            end = now + (now - start) * (total - done) / (done - before)
        if not start:
            self.first = now, done
        self.bar.update(self.task, completed=done, total=total, stage=stage, end=end)


def bar_console() -> Console:
    """Standard error for bars. FORCE_COLOR, which notebooks and CI set, does not make a terminal of it."""
    terminal = None if sys.stderr.isatty() else False
    return Console(stderr=True, force_terminal=terminal, markup=False, highlight=False, emoji=False)


@contextmanager
def progress_bar(
    description: str,
    *,
    bytes_: bool = False,
    console: Console | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Update]:
    """Show a progress bar on standard error, or another console, if that is a terminal; ``bytes_``: steps are bytes."""
    console = console or bar_console()
    columns: list[progress.ProgressColumn] = [
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        *([progress.DownloadColumn(), progress.TransferSpeedColumn()] if bytes_ else [_Stage()]),
        _TimeLeft(),
    ]
    hidden = not console.is_terminal
    with progress.Progress(*columns, console=console, transient=True, disable=hidden, get_time=clock) as bar:
        yield _Bar(bar, description)
