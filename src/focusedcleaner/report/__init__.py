"""What was found, for people: a summary, and the one page made of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from focusedcleaner.graph import Graph
from focusedcleaner.io.disk import write_files
from focusedcleaner.report.page import page
from focusedcleaner.report.summary import summary
from focusedcleaner.runs import Run
from focusedcleaner.sanitizers import Sanitation

__all__ = ["page", "summary", "write_report"]


def write_report(
    found: Run | Sanitation,
    path: str | os.PathLike[str],
    *,
    truth: Graph | None = None,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write a report: one HTML file that loads nothing, whole or not at all; a file that is there is replaced.

    Args:
        found: a run folder that was read (`focusedcleaner.runs.read_run`), or a sanitation.
        path: the file.
        truth: the clean graph, where it is known: the report then tells what was removed rightly.
        about: what `run.json` says of a sanitation, where it has been written.

    >>> import tempfile
    >>> from focusedcleaner.datasets import synthetic
    >>> from focusedcleaner.sanitizers import FocusedCleaner
    >>> sanitation = FocusedCleaner().sanitize(synthetic(200), 5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(sanitation, f"{folder}/report.html")
    ...     Path(f"{folder}/report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    write_files({Path(path): page(summary(found, truth=truth, about=about)).encode()})
