"""What the paper claims of its figures, checked against ours place by place."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from focusedcleaner.errors import InputError
from focusedcleaner.experiments.catalogue import Experiment, Panel
from focusedcleaner.experiments.store import CellResult
from focusedcleaner.experiments.summary import Entry, by_panel

Places = Mapping[tuple[str, str], Entry]
Claim = Mapping[str, Any]


@dataclass(frozen=True)
class Check:
    """A claim at one place: whether it holds there, and with which figures."""

    panel: str
    where: str
    holds: bool
    figures: str


@dataclass(frozen=True)
class Verdict:
    """A claim and all its checks."""

    text: str
    checks: tuple[Check, ...]
    why: str = ""
    """Why it does not hold everywhere, in the words of who looked into it."""

    @property
    def broken(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.holds)

    @property
    def summary(self) -> str:
        """Holds, holds in so many places of so many, or not known yet."""
        if not self.checks:
            return "not known yet"
        held = len(self.checks) - len(self.broken)
        return "holds" if not self.broken else f"holds in {held} of {len(self.checks)} places"


def verdicts(experiment: Experiment, known: Mapping[str, CellResult]) -> list[Verdict]:
    """Every claim of an experiment, checked wherever both figures are there."""
    found = by_panel(experiment, known)
    return [
        Verdict(
            claim["text"],
            tuple(
                check
                for panel in experiment.panels
                if panel.id in claim.get("panels", (panel.id,))
                for check in _rule(claim)(claim, panel, found[panel.id])
            ),
            claim.get("why", ""),
        )
        for claim in experiment.claims
    ]


def _rule(claim: Claim) -> Callable[[Claim, Panel, Places], Iterator[Check]]:
    for name, rule in RULES.items():
        if name in claim:
            return rule
    raise InputError(f"the claim {claim['text']!r} has no rule; rules are {', '.join(RULES)}")


def _columns(claim: Claim, panel: Panel) -> list[str]:
    return [column.id for column in panel.columns if column.id in claim.get("at", (column.id,))]


def _there(*entries: Entry) -> bool:
    return all(entry.values for entry in entries)


def _pair(panel: Panel, one: Entry, other: Entry, holds: bool) -> Check:
    figures = f"{one.row.label} {one.mean:.1f}, {other.row.label} {other.mean:.1f}"
    return Check(panel.label, one.column.label, holds, figures)


def _order(claim: Claim, panel: Panel, found: Places) -> Iterator[Check]:
    """Each row is above the next."""
    for column in _columns(claim, panel):
        for better, worse in itertools.pairwise(claim["order"]):
            one, other = found[better, column], found[worse, column]
            if _there(one, other):
                yield _pair(panel, one, other, one.mean > other.mean)


def _best(claim: Claim, panel: Panel, found: Places) -> Iterator[Check]:
    """A row is above the best of others."""
    for column in _columns(claim, panel):
        others = [found[row, column] for row in claim["among"] if _there(found[row, column])]
        mine = found[claim["best"], column]
        if others and _there(mine):
            rival = max(others, key=lambda entry: entry.mean)
            yield _pair(panel, mine, rival, mine.mean >= rival.mean)


def _near(claim: Claim, panel: Panel, found: Places) -> Iterator[Check]:
    """One row is at most so far below another."""
    for column in _columns(claim, panel):
        one, other = (found[row, column] for row in claim["near"])
        if _there(one, other):
            yield _pair(panel, one, other, one.mean >= other.mean - claim["within"])


def _reaches(claim: Claim, panel: Panel, found: Places) -> Iterator[Check]:
    """A row is at most so far below the paper's figures."""
    for column in _columns(claim, panel):
        entry = found[claim["reaches"], column]
        if _there(entry) and not math.isnan(entry.paper):
            holds = entry.mean >= entry.paper - claim["within"]
            figures = f"ours {entry.mean:.1f}, the paper's {entry.paper:.1f}"
            yield Check(panel.label, entry.column.label, holds, figures)


def _rises(claim: Claim, panel: Panel, found: Places) -> Iterator[Check]:
    """The last column is above the first."""
    rows = claim["rises"] if isinstance(claim["rises"], list) else [claim["rises"]]
    for row in rows:
        first, last = found[row, panel.columns[0].id], found[row, panel.columns[-1].id]
        if _there(first, last):
            figures = f"{first.column.label}: {first.mean:.1f}, {last.column.label}: {last.mean:.1f}"
            yield Check(panel.label, first.row.label, last.mean > first.mean, figures)


def _peaks(claim: Claim, panel: Panel, found: Places) -> Iterator[Check]:
    """Each row is largest at its column, up to one standard deviation."""
    for row, column in claim["peaks"].items():
        places = [found[row, line.id] for line in panel.columns]
        if _there(*places):
            best, mine = max(places, key=lambda entry: entry.mean), found[row, column]
            figures = f"best at {best.column.label}: {best.mean:.1f}, at {mine.column.label}: {mine.mean:.1f}"
            yield Check(panel.label, mine.row.label, best.mean - mine.mean <= mine.deviation, figures)


def _higher(claim: Claim, panel: Panel, found: Places) -> Iterator[Check]:
    """In each row, one column is above another."""
    for row in panel.rows:
        one, other = (found[row.id, column] for column in claim["higher"])
        if _there(one, other):
            figures = f"at {one.column.label}: {one.mean:.1f}, at {other.column.label}: {other.mean:.1f}"
            yield Check(panel.label, row.label, one.mean > other.mean, figures)


def _above(claim: Claim, panel: Panel, found: Places) -> Iterator[Check]:
    """Every place is above a number."""
    for row, column in itertools.product(panel.rows, _columns(claim, panel)):
        entry = found[row.id, column]
        if _there(entry):
            holds = entry.mean > claim["above"]
            yield Check(panel.label, f"{row.label}, {entry.column.label}", holds, f"{entry.mean:.1f}")


def _equal(claim: Claim, panel: Panel, found: Places) -> Iterator[Check]:
    """Every place is what the paper says."""
    for entry in found.values():
        if _there(entry) and not math.isnan(entry.paper):
            figures = f"ours {entry.mean:,.0f}, the paper's {entry.paper:,.0f}"
            yield Check(panel.label, f"{entry.row.label}, {entry.column.label}", entry.mean == entry.paper, figures)


def _spreads(claim: Claim, panel: Panel, found: Places) -> Iterator[Check]:
    """One row has the larger standard deviation."""
    for column in _columns(claim, panel):
        one, other = (found[row, column] for row in claim["spreads"])
        if _there(one, other):
            figures = f"{one.row.label} ± {one.deviation:.1f}, {other.row.label} ± {other.deviation:.1f}"
            yield Check(panel.label, one.column.label, one.deviation > other.deviation, figures)


RULES: dict[str, Callable[[Claim, Panel, Places], Iterator[Check]]] = {
    "order": _order,
    "best": _best,
    "near": _near,
    "reaches": _reaches,
    "rises": _rises,
    "peaks": _peaks,
    "higher": _higher,
    "above": _above,
    "equal": _equal,
    "spreads": _spreads,
}
"""By the field that a claim has, what it says."""
