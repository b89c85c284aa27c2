"""Summaries and pages of sanitations, written to a run folder and read again as the command line does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from focusedcleaner.graph import Graph
from focusedcleaner.report import page, summary
from focusedcleaner.runs import Run, read_run, write_run
from focusedcleaner.sanitizers import Sanitation


@contextmanager
def saved(sanitation: Sanitation, source: Mapping[str, Any] | None = None) -> Iterator[Run]:
    with TemporaryDirectory() as folder:
        write_run(sanitation, Path(folder, "RUN"), source=source)
        yield read_run(Path(folder, "RUN"))


def summarized(
    sanitation: Sanitation, *, truth: Graph | None = None, source: Mapping[str, Any] | None = None, **record: Any
) -> dict[str, Any]:
    """The summary of a sanitation; keyword arguments replace entries of `run.json`."""
    with saved(sanitation, source) as run:
        return summary(replace(run, record={**run.record, **record}), truth=truth)


def reported(sanitation: Sanitation, **options: Any) -> str:
    """The HTML of a sanitation's report."""
    return page(summarized(sanitation, **options))
