"""Tables of an experiment: for the screen, as Markdown, as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from focusedcleaner.experiments.catalogue import Experiment, Line, Panel
from focusedcleaner.experiments.store import CellResult
from focusedcleaner.experiments.summary import Entry, by_panel, entries

MANY_COLUMNS = 15
"""A panel with more columns is shown with every fifth of them; the CSV has all."""
_HEADER = (
    "panel",
    "row",
    "column",
    "measure",
    "mean",
    "standard_deviation",
    "n",
    "wanted",
    "paper",
    "difference",
    "why",
)


def markdown(experiment: Experiment, known: Mapping[str, CellResult]) -> str:
    """A table for every panel, ours with the paper's figure and the difference in parentheses."""
    found = by_panel(experiment, known)
    return "\n".join(_markdown(panel, found[panel.id]) for panel in experiment.panels)


def rich_tables(experiment: Experiment, known: Mapping[str, CellResult]) -> list[Table]:
    """A table for every panel."""
    found = by_panel(experiment, known)
    return [_rich(panel, found[panel.id]) for panel in experiment.panels]


def csv_text(experiment: Experiment, known: Mapping[str, CellResult]) -> str:
    """One line for every place; shares in percent."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(_HEADER)
    for entry in entries(experiment, known):
        numbers = (entry.mean, entry.deviation if len(entry.values) > 1 else math.nan)
        writer.writerow(
            [
                *(entry.panel.label, entry.row.label, entry.column.label, entry.measure),
                *map(_number, numbers),
                *(len(entry.values), entry.wanted),
                *map(_number, (entry.paper, entry.difference)),
                "" if entry.values else entry.text,
            ]
        )
    return buffer.getvalue()


def _markdown(panel: Panel, found: Mapping[tuple[str, str], Entry]) -> str:
    columns = _shown(panel)
    lines = [f"| {panel.label} | {' | '.join(column.label for column in columns)} |"]
    lines.append("| --- |" + " ---: |" * len(columns))
    for row in panel.rows:
        cells = [f"{found[row.id, column.id].text} {found[row.id, column.id].beside}".strip() for column in columns]
        lines.append(f"| {row.label} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _rich(panel: Panel, found: Mapping[tuple[str, str], Entry]) -> Table:
    table = Table(title=panel.label, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("")
    columns = _shown(panel)
    for column in columns:
        table.add_column(column.label, justify="right")
    for row in panel.rows:
        places = [found[row.id, column.id] for column in columns]
        texts = [place.text if place.values or place.reason else "–" for place in places]
        beside = [(f" {place.beside}".rstrip(), "dim") for place in places]
        table.add_row(row.label, *(Text.assemble(*both) for both in zip(texts, beside, strict=True)))
    return table


def _shown(panel: Panel) -> list[Line]:
    return list(panel.columns[:: 5 if len(panel.columns) > MANY_COLUMNS else 1])


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"
