"""Tables: means over seeds beside the paper's figures, and the paper's claims checked against them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from statistics import mean, stdev
from typing import Any

from focusedcleaner.errors import InputError
from focusedcleaner.experiments.catalogue import Experiment, Panel, TableCell
from focusedcleaner.experiments.cells import AUTHORS, SIZES, Cell, CellResult

COUNTS = (*(size for size in SIZES if size != "homophily"), "planted", "removed")
"""Measures that are counts; all others are shares, shown in percent."""
NOT_HERE = "needs a download"
"""What a table shows of the authors' poison where nothing was computed on it, for want of their files."""
RULES = ("order", "higher", "peaks", "reaches", "near", "above", "equal")
"""The field of a claim that says what is compared, see `checks_in`."""


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
        difference = f"; {self.mean - self.paper:+{form}}" if self.values else ""
        return f"({self.paper:{form}}{difference})"


Entries = Mapping[tuple[str, str, str], Entry]
"""Entries by the ids of panel, row and column, in the order of the tables."""


def fill_tables(experiment: Experiment, results: Mapping[str, CellResult]) -> Entries:
    """Look up the values of every table cell in the results, which are given by cell key."""
    entries = {}
    here = {
        one.panel.id for one in experiment.table_cells for cell in one.cells if _is_theirs(cell) and cell.key in results
    }
    for one in experiment.table_cells:
        measure = one.fields["measure"]
        values = [results[cell.key].values.get(measure) for cell in one.cells if cell.key in results]
        numbers = tuple((1 if measure in COUNTS else 100) * value for value in values if value is not None)
        reason = "–" if values and not numbers else one.missing_reason
        if not reason and not values and one.panel.id not in here and all(map(_is_theirs, one.cells)):
            reason = NOT_HERE
        entries[one.panel.id, one.row.id, one.column.id] = Entry(
            **{**vars(one), "missing_reason": reason, "values": numbers}
        )
    return entries


def _is_theirs(cell: Cell) -> bool:
    """Whether a cell starts from the authors' poison."""
    return cell.poison.method in AUTHORS


@dataclass(frozen=True)
class Check:
    """One comparison: whether the claim holds there, and the figures compared."""

    where: str
    holds: bool
    figures: str


@dataclass(frozen=True)
class Verdict:
    """A claim with its comparisons (none while figures are missing).

    ``why`` names the reasons, of reasons.toml, why it does not hold everywhere.
    """

    text: str
    checks: tuple[Check, ...]
    why: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.holds)

    @property
    def summary(self) -> str:
        if not self.checks:
            return "not computed yet"
        return "holds" if not self.failed else f"holds in {self.counts} comparisons"

    @property
    def counts(self) -> str:
        """How many comparisons hold."""
        return f"{len(self.checks) - len(self.failed)} of {len(self.checks)}"


def verdicts(experiment: Experiment, entries: Entries) -> list[Verdict]:
    """Check every claim of an experiment, in the panels that it names or in all.

    A claim about nothing but files that are not there is left out.
    """
    found = []
    for claim in experiment.claims:
        panels = [panel for panel in experiment.panels if panel.id in claim.get("panels", (panel.id,))]
        checks = tuple(itertools.chain.from_iterable(checks_in(claim, panel, entries) for panel in panels))
        ids = {panel.id for panel in panels}
        reasons = {entry.missing_reason for (panel, _, _), entry in entries.items() if panel in ids}
        if checks or reasons != {NOT_HERE}:
            found.append(Verdict(claim["text"], checks, tuple(claim.get("why", ()))))
    return found


def checks_in(claim: Mapping[str, Any], panel: Panel, entries: Entries) -> Iterator[Check]:
    """Check a claim in one panel, in the columns ``at`` and the ``rows`` or in all, wherever figures are available."""

    def at(row: str, column: str) -> Entry:
        return entries[panel.id, row, column]

    columns = [column.id for column in panel.columns if column.id in claim.get("at", (column.id,))]
    rows = [row.id for row in panel.rows if row.id in claim.get("rows", (row.id,))]
    available = [at(row, column) for row in rows for column in columns if at(row, column).values]
    published = [entry for entry in available if not math.isnan(entry.paper)]
    within, of = claim.get("within", 0.0), attrgetter(claim.get("of", "mean"))
    match claim:
        case {"order": order}:  # each row is above the next, which may be the best of a list; ``within``: or near it
            for column, (better, worse) in itertools.product(columns, itertools.pairwise(order)):
                rivals = [at(row, column) for row in ([worse] if isinstance(worse, str) else worse)]
                one, other = at(better, column), max(rivals, key=lambda entry: (bool(entry.values), of(entry)))
                yield from _compare(one, other, of(one) > of(other) - within, deviations="of" in claim)
        case {"higher": [column, reference]}:  # a column is above another
            for one, other in ((at(row, column), at(row, reference)) for row in rows):
                yield from _compare(one, other, one.mean > other.mean)
        case {"peaks": peaks}:  # a row is largest in its column, up to one standard deviation
            for row, column in peaks.items():
                line = [at(row, one.id) for one in panel.columns]
                if all(entry.values for entry in line):
                    one, other = at(row, column), max(line, key=lambda entry: entry.mean)
                    yield from _compare(one, other, other.mean - one.mean <= one.deviation)
        case {"reaches": row} | {"near": row}:  # at most ``within`` points below the paper's figures, or away from them
            for entry in (entry for entry in published if entry.row.id == row):
                figures = f"ours {entry.mean:.1f}, the paper's {entry.paper:.1f}"
                holds = entry.paper - within <= entry.mean and (
                    "reaches" in claim or entry.mean <= entry.paper + within
                )
                yield Check(f"{panel.label}, {entry.column.label}", holds, figures)
        case {"above": number}:  # every figure is above a number
            for entry in available:
                where = f"{panel.label}, {entry.row.label}, {entry.column.label}"
                yield Check(where, entry.mean > number, f"{entry.mean:.1f}")
        case {"equal": True}:  # every figure is the paper's
            for entry in published:
                where = f"{panel.label}, {entry.row.label}, {entry.column.label}"
                figures = f"ours {entry.mean:,.0f}, the paper's {entry.paper:,.0f}"
                yield Check(where, entry.mean == entry.paper, figures)
        case _:
            raise InputError(f"the claim {claim['text']!r} has no rule; the rules are {', '.join(RULES)}")


def _compare(one: Entry, other: Entry, holds: bool, *, deviations: bool = False) -> Iterator[Check]:
    """Compare two rows in one column, or two columns in one row, if both have values."""
    if one.values and other.values:
        same_row = one.row.id == other.row.id
        where = one.row.label if same_row else one.column.label
        names = [f"at {entry.column.label}:" if same_row else entry.row.label for entry in (one, other)]
        figures = [f"± {entry.deviation:.1f}" if deviations else f"{entry.mean:.1f}" for entry in (one, other)]
        compared = ", ".join(map(" ".join, zip(names, figures, strict=True)))
        yield Check(f"{one.panel.label}, {where}", holds, compared)
