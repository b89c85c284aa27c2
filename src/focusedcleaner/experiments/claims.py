"""Claims of the paper, checked against our figures one comparison at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from focusedcleaner.errors import InputError
from focusedcleaner.experiments.catalogue import Experiment, Panel
from focusedcleaner.experiments.tables import Entries, Entry

RULES = ("order", "best", "near", "spreads", "rises", "higher", "peaks", "reaches", "above", "equal")
"""The field of a claim that says what is compared, see `_checks`."""


@dataclass(frozen=True)
class Check:
    """One comparison: whether the claim holds there, and the figures compared."""

    where: str
    holds: bool
    figures: str


@dataclass(frozen=True)
class Verdict:
    """A claim with its comparisons (none while figures are missing) and the reason why it does not hold everywhere."""

    text: str
    checks: tuple[Check, ...]
    why: str = ""

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.holds)

    @property
    def summary(self) -> str:
        if not self.checks:
            return "not computed yet"
        held = len(self.checks) - len(self.failed)
        return "holds" if not self.failed else f"holds in {held} of {len(self.checks)} comparisons"


def verdicts(experiment: Experiment, entries: Entries) -> list[Verdict]:
    """Check every claim of an experiment, in the panels that it names or in all."""
    return [
        Verdict(
            claim["text"],
            tuple(
                check
                for panel in experiment.panels
                if panel.id in claim.get("panels", (panel.id,))
                for check in _checks(claim, panel, entries)
            ),
            claim.get("why", ""),
        )
        for claim in experiment.claims
    ]


def _checks(claim: Mapping[str, Any], panel: Panel, entries: Entries) -> Iterator[Check]:
    """Check a claim in one panel, in the columns ``at`` or in all, wherever the figures are available."""

    def at(row: str, column: str) -> Entry:
        return entries[panel.id, row, column]

    columns = [column.id for column in panel.columns if column.id in claim.get("at", (column.id,))]
    available = [at(row.id, column) for row in panel.rows for column in columns if at(row.id, column).values]
    match claim:
        case {"order": rows}:  # each row is above the next
            for column, (better, worse) in itertools.product(columns, itertools.pairwise(rows)):
                one, other = at(better, column), at(worse, column)
                yield from _rows(one, other, one.mean > other.mean)
        case {"best": row, "among": rows}:  # a row is not below the best of others
            for column in columns:
                rivals = [entry for entry in available if entry.column.id == column and entry.row.id in rows]
                if rivals:
                    one, other = at(row, column), max(rivals, key=lambda entry: entry.mean)
                    yield from _rows(one, other, one.mean >= other.mean)
        case {"near": [row, reference], "within": points}:  # a row is at most so many points below another
            for one, other in ((at(row, column), at(reference, column)) for column in columns):
                yield from _rows(one, other, one.mean >= other.mean - points)
        case {"spreads": [row, reference]}:  # a row has a larger standard deviation than another
            for one, other in ((at(row, column), at(reference, column)) for column in columns):
                yield from _rows(one, other, one.deviation > other.deviation, deviations=True)
        case {"rises": rows}:  # the last column is above the first
            for row in [rows] if isinstance(rows, str) else rows:
                one, other = at(row, panel.columns[0].id), at(row, panel.columns[-1].id)
                yield from _columns(one, other, other.mean > one.mean)
        case {"higher": [column, reference]}:  # a column is above another
            for one, other in ((at(row.id, column), at(row.id, reference)) for row in panel.rows):
                yield from _columns(one, other, one.mean > other.mean)
        case {"peaks": peaks}:  # a row is largest in its column, up to one standard deviation
            for row, column in peaks.items():
                line = [at(row, one.id) for one in panel.columns]
                if all(entry.values for entry in line):
                    one, other = at(row, column), max(line, key=lambda entry: entry.mean)
                    yield from _columns(one, other, other.mean - one.mean <= one.deviation)
        case {"reaches": row, "within": points}:  # a row is at most so many points below the paper's figures
            for entry in (entry for entry in available if entry.row.id == row and not math.isnan(entry.paper)):
                figures = f"ours {entry.mean:.1f}, the paper's {entry.paper:.1f}"
                yield Check(f"{panel.label}, {entry.column.label}", entry.mean >= entry.paper - points, figures)
        case {"above": number}:  # every figure is above a number
            for entry in available:
                where = f"{panel.label}, {entry.row.label}, {entry.column.label}"
                yield Check(where, entry.mean > number, f"{entry.mean:.1f}")
        case {"equal": True}:  # every figure is the paper's
            for entry in (entry for entry in available if not math.isnan(entry.paper)):
                where = f"{panel.label}, {entry.row.label}, {entry.column.label}"
                figures = f"ours {entry.mean:,.0f}, the paper's {entry.paper:,.0f}"
                yield Check(where, entry.mean == entry.paper, figures)
        case _:
            raise InputError(f"the claim {claim['text']!r} has no rule; the rules are {', '.join(RULES)}")


def _rows(one: Entry, other: Entry, holds: bool, *, deviations: bool = False) -> Iterator[Check]:
    """Compare two rows in one column, if both have values."""
    if one.values and other.values:
        shown = (f"{e.row.label} " + (f"± {e.deviation:.1f}" if deviations else f"{e.mean:.1f}") for e in (one, other))
        yield Check(f"{one.panel.label}, {one.column.label}", holds, ", ".join(shown))


def _columns(one: Entry, other: Entry, holds: bool) -> Iterator[Check]:
    """Compare two columns in one row, if both have values."""
    if one.values and other.values:
        figures = f"at {one.column.label}: {one.mean:.1f}, at {other.column.label}: {other.mean:.1f}"
        yield Check(f"{one.panel.label}, {one.row.label}", holds, figures)
