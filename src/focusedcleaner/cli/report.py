"""``focusedcleaner report``: a run's report, written anew."""

from __future__ import annotations

from pathlib import Path

import typer

from focusedcleaner.cli.console import print_json
from focusedcleaner.cli.inputs import GraphSource
from focusedcleaner.errors import InputError
from focusedcleaner.io.disk import prefix_errors
from focusedcleaner.report import write_report
from focusedcleaner.runs import REPORT, read_run
from focusedcleaner.scoring import aligned


def run(folder: Path, truth: GraphSource | None, out: Path | None, *, json: bool) -> None:
    """Write the report of a run folder, and say where it is."""
    done = read_run(folder)
    path = folder / REPORT if out is None else out
    with prefix_errors(path):
        if out is not None and out.exists() and out.resolve() != (folder / REPORT).resolve():
            raise InputError("exists already: choose another file for the report")
        if not path.parent.is_dir():
            raise InputError(f"there is no folder {path.parent}")
    clean = None if truth is None else aligned(truth.read(), done.poisoned)
    write_report(done, path, truth=clean)
    if json:
        print_json({"report": str(path)})
    else:
        typer.echo(path)
