"""The first table of the page: levels and leads, on the authors' poison and on ours."""

from __future__ import annotations

from typing import Any

import pytest

from focusedcleaner.experiments import catalogue, front
from focusedcleaner.experiments.catalogue import read_toml
from focusedcleaner.experiments.front import FrontLine, front_table
from focusedcleaner.experiments.tables import RULES, fill_tables
from tests.experiments.example import experiment, results

LINES = read_toml("front.toml")["lines"]


def line_of(monkeypatch: pytest.MonkeyPatch, **line: Any) -> FrontLine:
    """A line about the example, whose panel of Cora stands for the authors' poison and Polblogs' for ours."""
    spec = {"claim": "It is so", "experiment": "test", "theirs": ["cora"], "ours": ["polblogs"], **line}
    monkeypatch.setattr(front, "read_toml", lambda name: {"lines": [spec]})
    test = experiment()
    (made,) = front_table([test], {"test": fill_tables(test, results(test))})
    return made


def test_a_level_is_the_mean_beside_the_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    made = line_of(monkeypatch, reaches="cld", within=1.0)
    assert made == FrontLine("It is so", "45.6", "43.5", "–", "partly: theirs 1 of 2")
    assert line_of(monkeypatch, near="cld", within=9.0).verdict == "holds: theirs 2 of 2"


def test_a_lead_is_a_difference_to_the_best_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    made = line_of(monkeypatch, order=["cld", ["jaccard"]])
    assert (made.paper, made.theirs, made.verdict) == ("–", "+22.0", "partly: theirs 1 of 2")
    assert line_of(monkeypatch, order=["jaccard", "cld"], ours=["cora"], theirs=[]).ours == "-22.0"


def test_nothing_computed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    made = line_of(monkeypatch, reaches="cld", theirs=[])
    assert made == FrontLine("It is so", "–", "–", "–", "not computed yet")


def test_there_are_twelve_lines_about_what_is_there() -> None:
    assert len(LINES) == 12
    for line in LINES:
        assert len(set(line) & set(RULES)) == 1
        panels = {panel.id: panel for panel in catalogue.load(line["experiment"]).panels}
        order = [[row] if isinstance(row, str) else row for row in line.get("order", ())]
        mentioned = {row for rows in order for row in rows} | {
            line[rule] for rule in ("reaches", "near") if rule in line
        }
        for panel in (*line["theirs"], *line["ours"]):
            assert mentioned <= {row.id for row in panels[panel].rows}
        assert all(panels[panel].fields["attack"].startswith("authors-") for panel in line["theirs"])
