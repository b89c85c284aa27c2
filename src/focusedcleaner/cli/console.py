"""Output: results on standard output; notes, errors and progress on standard error."""

from __future__ import annotations

import json
import math
import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from focusedcleaner.errors import InputWarning
from focusedcleaner.formatting import count as count
from focusedcleaner.formatting import percent as percent
from focusedcleaner.formatting import readable, visible, why
from focusedcleaner.graph import FloatArray, Graph, IntArray

Update = Callable[[int, int | None], None]
_LONGEST_LINE = 100_000


class Stopped(KeyboardInterrupt):
    """Ctrl-C, with a line that says what was kept."""


class _VisibleConsole(Console):
    """Replaces invisible characters, such as the escape sequences in a node's name, before anything is rendered."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        if isinstance(renderable, str):
            renderable = visible(renderable)
        elif isinstance(renderable, Text):
            renderable = renderable.copy()
            renderable.plain = visible(renderable.plain)
        return super().render(renderable, options)


def screen() -> Console:
    """Standard output; markup in names is not interpreted."""
    return _VisibleConsole(markup=False, highlight=False, emoji=False)


def heading(text: str) -> Text:
    return Text(text, style="bold")


def results_table(first: str, *others: str) -> Table:
    """A table without lines: a column of names, then right-aligned columns of numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first)
    for title in others:
        table.add_column(title, justify="right")
    return table


def edge_list(graph: Graph, edges: IntArray, evidence: Mapping[str, Any], scores: FloatArray) -> Table:
    """Edges in order of rank, by the names of their ends, each with its evidence in words."""
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", style="dim")
    table.add_column(no_wrap=True)
    table.add_column()
    for row, (u, v) in enumerate(edges):
        ends = f"{readable(graph.name(u))} – {readable(graph.name(v))}"
        table.add_row(str(row + 1), ends, why(graph, evidence, scores, row, (u, v)))
    return table


def print_pointers(title: str, *pointers: tuple[str, str]) -> None:
    """Print paths and commands under a title, each with a description."""
    console = screen()
    width = max(len(pointer) for pointer, _ in pointers)
    console.print(heading(title))
    for pointer, description in pointers:
        console.print(Text.assemble(f"  {pointer:<{width}}  ", (description, "dim")), soft_wrap=True)


def note(text: str) -> None:
    """Print one line on standard error."""
    print_error(f"note: {text}")


def print_error(text: str) -> None:
    """Print one line on standard error, with control characters made visible."""
    typer.echo(readable(text, _LONGEST_LINE), err=True)


def print_json(fields: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output; NaN and infinity become null."""
    typer.echo(json.dumps(_finite(fields), ensure_ascii=False))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


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

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, InputWarning):
                note(str(message))
            else:
                default(message, category, *where, **more)

        warnings.showwarning = show
        yield


class _Rate(ProgressColumn):
    """Steps per second."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.1f}/s", style="dim")


@contextmanager
def progress_bar(description: str, *, bytes_: bool = False) -> Iterator[Update]:
    """Show a progress bar on standard error, if that is a terminal; it disappears at the end.

    Args:
        description: what is being done.
        bytes_: whether the steps are bytes.
    """
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    counters: list[ProgressColumn] = (
        [DownloadColumn(), TransferSpeedColumn()] if bytes_ else [MofNCompleteColumn(), _Rate()]
    )
    columns = [TextColumn("{task.description}", markup=False), BarColumn(), *counters, TimeRemainingColumn()]
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
