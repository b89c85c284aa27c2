"""Figures are the same in every run."""

from __future__ import annotations

import pytest

from focusedcleaner.experiments.figures import draw
from focusedcleaner.experiments.tables import fill_tables
from tests.experiments.example import TABLE, experiment, results


@pytest.mark.parametrize("kind", ["lines", "heatmap"])
def test_figures_are_the_same_in_every_run(kind: str) -> None:
    test = experiment(figure=kind)
    entries = fill_tables(test, results(test))
    first, second = draw(test, entries), draw(test, entries)
    assert first == second
    assert first["svg"].startswith(b"<?xml")
    assert b"<dc:date>" not in first["svg"]
    assert first["png"].startswith(b"\x89PNG")
    others = fill_tables(test, results(test, {**TABLE, ("cora", "cld", "0.05"): [0.9]}))
    assert first["svg"] != draw(test, others)["svg"]
    assert draw(test, fill_tables(test, {})) == {}
    assert draw(experiment(), entries) == {}
