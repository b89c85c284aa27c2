"""Tables: means over seeds beside the paper's figures, as Markdown, as CSV and for the terminal."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import mean, stdev

from rich.table import Table
from rich.text import Text

from focusedcleaner.experiments.catalogue import Experiment, Header, Panel, TableCell
from focusedcleaner.experiments.cells import SIZES, CellResult

COUNTS = (*(size for size in SIZES if size != "homophily"), "planted", "removed")
"""Measures that are counts; all others are shares, shown in percent."""
MANY_COLUMNS = 15
"""Wider panels show every fifth column; the CSV has all."""


@dataclass(frozen=True)
class Entry(TableCell):
    """A table cell with its values, one per seed; shares in percent."""

    values: tuple[float, ...]

    @property
    def measure(self) -> str:
        return str(self.fields["measure"])

    @property
    def mean(self) -> float:
        return mean(self.values) if self.values else math.nan

    @property
    def deviation(self) -> float:
        """The sample standard deviation; 0 for a single value."""
        return stdev(self.values) if len(self.values) > 1 else 0.0

    @property
    def difference(self) -> float:
        """Our mean minus the paper's figure."""
        return self.mean - self.paper

    @property
    def text(self) -> str:
        """Our mean, with ± for several seeds and with n if some are missing."""
        if not self.values:
            return self.missing_reason or "not computed yet"
        if self.measure in COUNTS:
            return f"{self.mean:,.0f}"
        spread = f" ± {self.deviation:.1f}" if len(self.values) > 1 else ""
        some = f", n = {len(self.values)}" if len(self.values) < len(self.cells) else ""
        return f"{self.mean:.1f}{spread}{some}"

    @property
    def comparison(self) -> str:
        """The paper's figure and the difference in parentheses; empty if the paper has none."""
        if math.isnan(self.paper):
            return ""
        form = ",.0f" if self.measure in COUNTS else ".1f"
        difference = f"; {self.difference:+{form}}" if self.values else ""
        return f"({self.paper:{form}}{difference})"


Entries = Mapping[tuple[str, str, str], Entry]
"""Entries by the ids of panel, row and column, in the order of the tables."""


def fill_tables(experiment: Experiment, results: Mapping[str, CellResult]) -> Entries:
    """Look up the values of every table cell in the results, which are given by cell key."""
    return {(one.panel.id, one.row.id, one.column.id): _fill(one, results) for one in experiment.table_cells}


def _fill(table_cell: TableCell, results: Mapping[str, CellResult]) -> Entry:
    measure = table_cell.fields["measure"]
    values = [results[cell.key].values.get(measure) for cell in table_cell.cells if cell.key in results]
    numbers = tuple((1 if measure in COUNTS else 100) * value for value in values if value is not None)
    entry = Entry(**vars(table_cell), values=numbers)
    return replace(entry, missing_reason="–") if values and not numbers else entry


def markdown(experiment: Experiment, entries: Entries) -> str:
    """A table per panel: ours, then the paper's figure and the difference in parentheses."""
    lines: list[str] = []
    for panel in experiment.panels:
        columns = _shown_columns(panel)
        lines += [f"| {panel.label} | {' | '.join(column.label for column in columns)} |"]
        lines += ["| --- |" + " ---: |" * len(columns)]
        for row in panel.rows:
            shown = [entries[panel.id, row.id, column.id] for column in columns]
            texts = [f"{entry.text} {entry.comparison}".strip() for entry in shown]
            lines.append(f"| {row.label} | {' | '.join(texts)} |")
        lines.append("")
    return "\n".join(lines)


def rich_tables(experiment: Experiment, entries: Entries) -> Iterator[Table]:
    """A table per panel, for the terminal."""
    for panel in experiment.panels:
        table = Table("", title=panel.label, title_justify="left", title_style="bold", box=None, pad_edge=False)
        for column in _shown_columns(panel):
            table.add_column(column.label, justify="right")
        for row in panel.rows:
            shown = [entries[panel.id, row.id, column.id] for column in _shown_columns(panel)]
            texts = [entry.text if entry.values or entry.missing_reason else "–" for entry in shown]
            comparisons = [(f" {entry.comparison}".rstrip(), "dim") for entry in shown]
            table.add_row(row.label, *(Text.assemble(*both) for both in zip(texts, comparisons, strict=True)))
        yield table


def csv_text(entries: Entries) -> str:
    """One line per table cell; shares in percent."""
    buffer = io.StringIO()
    buffer.write("panel,row,column,measure,mean,standard_deviation,n,wanted,paper,difference,why\n")
    writer = csv.writer(buffer, lineterminator="\n")
    for entry in entries.values():
        where = (entry.panel.label, entry.row.label, entry.column.label, entry.measure)
        deviation = entry.deviation if len(entry.values) > 1 else math.nan
        numbers = (entry.mean, deviation, entry.paper, entry.difference)
        mean_, deviation_, paper, difference = ("" if math.isnan(one) else f"{one:.3f}" for one in numbers)
        why = "" if entry.values else entry.text
        writer.writerow((*where, mean_, deviation_, len(entry.values), len(entry.cells), paper, difference, why))
    return buffer.getvalue()


def _shown_columns(panel: Panel) -> tuple[Header, ...]:
    return panel.columns[:: 5 if len(panel.columns) > MANY_COLUMNS else 1]
