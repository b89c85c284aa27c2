"""The numbers of a table: means over seeds beside the paper's figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import mean, stdev

from focusedcleaner.experiments.catalogue import Experiment, Line, Panel, why_not
from focusedcleaner.experiments.points import SIZES
from focusedcleaner.experiments.store import CellResult

COUNTS = (*(size for size in SIZES if size != "homophily"), "planted", "removed")
"""Measures that are numbers of things; all others are shares, shown in percent."""


@dataclass(frozen=True)
class Entry:
    """One place of a table.

    Args:
        panel: whose; likewise the row and the column.
        row: see ``panel``.
        column: see ``panel``.
        measure: what is measured.
        values: one per seed, shares in percent.
        wanted: how many there will be.
        paper: the paper's figure, NaN where it has none.
        reason: why there is no value, where there can't be one.
    """

    panel: Panel
    row: Line
    column: Line
    measure: str
    values: tuple[float, ...]
    wanted: int
    paper: float
    reason: str = ""

    @property
    def mean(self) -> float:
        return mean(self.values) if self.values else math.nan

    @property
    def deviation(self) -> float:
        """The standard deviation of a sample; 0 for a single value."""
        return stdev(self.values) if len(self.values) > 1 else 0.0

    @property
    def difference(self) -> float:
        """Ours minus the paper's."""
        return self.mean - self.paper

    @property
    def is_count(self) -> bool:
        return self.measure in COUNTS

    @property
    def text(self) -> str:
        """Ours alone: the mean, ± where there are several seeds, and how many where some are missing."""
        if not self.values:
            return self.reason or "not computed yet"
        if self.is_count:
            return f"{self.mean:,.0f}"
        spread = f" ± {self.deviation:.1f}" if self.wanted > 1 and len(self.values) > 1 else ""
        few = f", n = {len(self.values)}" if len(self.values) < self.wanted else ""
        return f"{self.mean:.1f}{spread}{few}"

    @property
    def beside(self) -> str:
        """The paper's figure and the difference, in parentheses; nothing where it has none."""
        if math.isnan(self.paper):
            return ""
        form = ",.0f" if self.is_count else ".1f"
        ours = f"; {self.difference:+{form}}" if self.values else ""
        return f"({self.paper:{form}}{ours})"


def entries(experiment: Experiment, known: Mapping[str, CellResult]) -> Iterator[Entry]:
    """Every place of an experiment's tables, panel by panel and row by row."""
    for place in experiment.places:
        where, measure = (place.panel, place.row, place.column), place.fields["measure"]
        found = [known[cell.key].values.get(measure) for cell in place.cells if cell.key in known]
        unit = 1 if measure in COUNTS else 100
        values = tuple(unit * value for value in found if value is not None)
        reason = "–" if found and not values else why_not(place.fields) or ""
        yield Entry(*where, measure, values, len(place.cells), experiment.published(*where), reason)


def by_panel(experiment: Experiment, known: Mapping[str, CellResult]) -> dict[str, dict[tuple[str, str], Entry]]:
    """The places of each panel, by row and column."""
    found: dict[str, dict[tuple[str, str], Entry]] = {panel.id: {} for panel in experiment.panels}
    for entry in entries(experiment, known):
        found[entry.panel.id][entry.row.id, entry.column.id] = entry
    return found
