"""What goes to the screen: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

import typer
from rich.console import Console
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
from rich.text import Text

from focusedcleaner.errors import InputWarning
from focusedcleaner.formatting import count as count
from focusedcleaner.formatting import percent as percent

Update = Callable[[int, int | None], None]


class Stopped(KeyboardInterrupt):
    """Ctrl-C, with a line about what was kept."""


def screen() -> Console:
    """Standard output for people; nothing in a name is taken for markup."""
    return Console(markup=False, highlight=False, emoji=False)


def note(text: str) -> None:
    """One line on standard error."""
    typer.echo(f"note: {one_line(text)}", err=True)


def one_line(text: str) -> str:
    return " ".join(text.split())


def print_json(fields: Mapping[str, Any]) -> None:
    """One JSON object on standard output; what is not a number there is null."""
    typer.echo(json.dumps(_plain(fields), ensure_ascii=False))


def _plain(thing: Any) -> Any:
    if isinstance(thing, Mapping):
        return {key: _plain(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [_plain(value) for value in thing]
    return None if isinstance(thing, float) and not math.isfinite(thing) else thing


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Show each `InputWarning` as one line on standard error; leave other warnings alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", InputWarning)
        others = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, InputWarning):
                note(str(message))
            else:
                others(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


class _Rate(ProgressColumn):
    """Steps a second."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.1f}/s", style="dim")


@contextmanager
def progress_bar(what: str, *, bytes_: bool = False) -> Iterator[Update]:
    """A bar on standard error while it is a terminal, with rate and time left; it disappears when it is done.

    Args:
        what: what is being done.
        bytes_: whether the steps are bytes.
    """
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    counted: list[ProgressColumn] = (
        [DownloadColumn(), TransferSpeedColumn()] if bytes_ else [MofNCompleteColumn(), _Rate()]
    )
    columns = [TextColumn("{task.description}", markup=False), BarColumn(), *counted, TimeRemainingColumn()]
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
