"""The report of a run: a summary as plain data, and one HTML file made from it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from focusedcleaner.graph import Graph
from focusedcleaner.io.transaction import write_files
from focusedcleaner.report import charts
from focusedcleaner.report.rendering import template_environment
from focusedcleaner.report.summary import summary
from focusedcleaner.runs import Run

__all__ = ["page", "summary", "write_report"]


def write_report(run: Run, path: str | os.PathLike[str], *, truth: Graph | None = None) -> None:
    """Write the report of a run as one self-contained HTML file; an existing file is replaced atomically.

    Args:
        run: the run, from `focusedcleaner.runs.read_run`.
        path: the file.
        truth: the clean graph, if it is known: the report then says which removed edges were planted.

    >>> import tempfile
    >>> from focusedcleaner.datasets import synthetic
    >>> from focusedcleaner.runs import read_run, write_run
    >>> from focusedcleaner.sanitizers import FocusedCleaner
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_run(FocusedCleaner().sanitize(synthetic(200), 5), f"{folder}/RUN")
    ...     write_report(read_run(f"{folder}/RUN"), f"{folder}/report.html")
    ...     Path(f"{folder}/report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    write_files({Path(path): page(summary(run, truth=truth)).encode()})


def page(data: Mapping[str, Any]) -> str:
    """Return the HTML of a report, from what `summary` returns."""
    return template_environment().get_template("report.html").render(**data, charts=charts)
