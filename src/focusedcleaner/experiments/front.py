"""The first table of the page: the paper's main claims, on the authors' poison and on ours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from focusedcleaner.experiments.catalogue import Experiment, Panel, read_toml
from focusedcleaner.experiments.tables import Check, Entries, checks_in


@dataclass(frozen=True)
class Figures:
    """A line on one kind of poison: our figures, the paper's (NaN if it has none), and the checks."""

    ours: tuple[float, ...]
    paper: tuple[float, ...]
    checks: tuple[Check, ...]

    @property
    def held(self) -> str:
        held = sum(check.holds for check in self.checks)
        return f"{held} of {len(self.checks)}" if self.checks else ""


@dataclass(frozen=True)
class FrontLine:
    """A claim as text, with mean figures: a level in %, or for a comparison the difference in points."""

    claim: str
    paper: str
    theirs: str
    ours: str
    verdict: str


def front_table(experiments: Sequence[Experiment], entries: Mapping[str, Entries]) -> list[FrontLine]:
    """The lines whose experiment is among these, with the entries by experiment name."""
    by_name = {experiment.name: experiment for experiment in experiments}
    lines = (line for line in read_toml("front.toml")["lines"] if line["experiment"] in by_name)
    return [_line(line, by_name[line["experiment"]], entries[line["experiment"]]) for line in lines]


def _line(line: Mapping[str, Any], experiment: Experiment, entries: Entries) -> FrontLine:
    theirs, ours = (
        _figures(line, [panel for panel in experiment.panels if panel.id in line[side]], entries)
        for side in ("theirs", "ours")
    )
    sign = "+" if "order" in line else ""
    everywhere = [number for number in (ours.paper or theirs.paper) if not math.isnan(number)]
    parts = [f"{whose} {side.held}" for whose, side in (("theirs", theirs), ("ours", ours)) if side.held]
    checks = (*theirs.checks, *ours.checks)
    held = sum(check.holds for check in checks)
    verdict = f"{'holds' if held == len(checks) else 'partly' if held else 'no'}: {', '.join(parts)}"
    return FrontLine(
        line["claim"],
        f"{mean(everywhere):{sign}.1f}" if everywhere else "–",
        _text(theirs, sign, everywhere),
        _text(ours, sign, everywhere),
        verdict if checks else "not computed yet",
    )


def _text(figures: Figures, sign: str, everywhere: Sequence[float]) -> str:
    """Our mean and, if the paper's is of other table cells, the paper's on the same ones."""
    if not figures.ours:
        return "–"
    same = [number for number in figures.paper if not math.isnan(number)]
    beside = f" ({mean(same):{sign}.1f} there)" if same and sorted(same) != sorted(everywhere) else ""
    return f"{mean(figures.ours):{sign}.1f}{beside}"


def _figures(line: Mapping[str, Any], panels: Sequence[Panel], entries: Entries) -> Figures:
    pairs = [pair for panel in panels for pair in _pairs(line, panel, entries)]
    checks = itertools.chain.from_iterable(checks_in(line, panel, entries) for panel in panels)
    return Figures(tuple(ours for ours, _ in pairs), tuple(paper for _, paper in pairs), tuple(checks))


def _pairs(line: Mapping[str, Any], panel: Panel, entries: Entries) -> Iterator[tuple[float, float]]:
    """Our figure and the paper's wherever we have one: of one row, or the lead of a row over its best rival."""
    row, rivals = line.get("reaches") or line.get("near") or line["order"][0], line.get("order", [()])[-1]
    for column in panel.columns:
        one = entries[panel.id, row, column.id]
        others = [entries[panel.id, rival, column.id] for rival in ([rivals] if isinstance(rivals, str) else rivals)]
        available = [other for other in others if other.values]
        if not one.values or (others and not available):
            continue
        published = [other.paper for other in others if not math.isnan(other.paper)]
        lead = max((other.mean for other in available), default=0.0)
        paper = math.nan if others and not published else one.paper - max(published, default=0.0)
        yield one.mean - lead, paper
