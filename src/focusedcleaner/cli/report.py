"""``focusedcleaner report``: write a run's report again."""

from __future__ import annotations

from pathlib import Path

import typer

from focusedcleaner.cli.console import print_json
from focusedcleaner.cli.inputs import read_graph
from focusedcleaner.cli.options import GraphSource
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import visible
from focusedcleaner.graph import Graph
from focusedcleaner.io.disk import prefix_errors
from focusedcleaner.report import write_report
from focusedcleaner.runs.folder import REPORT
from focusedcleaner.runs.reading import read_run
from focusedcleaner.scoring import aligned


def run(
    run_folder: Path,
    truth: str | None,
    nodes: Path | None,
    adjacency: Path | None,
    largest_component: bool,
    out: Path | None,
    json: bool,
) -> None:
    """Write the report and print its path."""
    finished = read_run(run_folder)
    path = out or run_folder / REPORT
    with prefix_errors(path):
        if out is not None and out.exists() and out.resolve() != (run_folder / REPORT).resolve():
            raise InputError("exists already: choose another file for the report")
        if not path.parent.is_dir():
            raise InputError(f"there is no folder {path.parent}")
    clean = None
    if truth is not None:
        source = GraphSource(truth, nodes, adjacency, largest_component=largest_component)
        clean = aligned(read_graph(source), finished.poisoned)
    write_report(finished, path, truth=clean)
    if json:
        print_json({"report": str(path)})
    else:
        typer.echo(visible(str(path)))


def write_run_report(folder: Path, clean: Graph | None = None) -> None:
    """Write the report of a run that was just saved into its folder."""
    write_report(read_run(folder), folder / REPORT, truth=clean)
