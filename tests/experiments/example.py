"""A small experiment with results, for the tests of tables, claims, figures and outputs."""

from __future__ import annotations

from typing import Any

from focusedcleaner.experiments import catalogue
from focusedcleaner.experiments.catalogue import Experiment
from focusedcleaner.experiments.cells import CellResult

Table = dict[tuple[str, str, str], list[float]]

TABLE: Table = {
    ("cora", "cld", "0.05"): [0.30, 0.32, 0.34],
    ("cora", "cld", "0.1"): [0.60, 0.50],
    ("cora", "jaccard", "0.05"): [0.33],
    ("cora", "jaccard", "0.1"): [0.1, 0.1, 0.1],
}
"""Values by panel, row and column, one per seed; some are missing."""


def experiment(**more: Any) -> Experiment:
    """Two sanitizers at two powers on two data sets, three seeds each."""
    text = {
        "title": "A test",
        "where": "Table 0",
        "says": "Nothing.",
        "x": "attack power",
        "y": "ESR (%)",
        "fixed": {"attack": "mettack", "measure": "esr", "seeds": 3},
        "panels": [
            {
                "data": ["cora", "polblogs"],
                "columns": {"power": [0.05, 0.1]},
                "rows": [{"sanitizer": "cld"}, {"sanitizer": "jaccard"}],
            }
        ],
        "paper": {"cora": {"cld": [36.0, 55.2]}},
        **more,
    }
    return catalogue.parse("test", 0, text)


def results(experiment: Experiment, table: Table = TABLE) -> dict[str, CellResult]:
    """Results by cell key."""
    return {
        cell.key: CellResult({"esr": value, "accuracy": value}, 1.0)
        for one in experiment.table_cells
        for cell, value in zip(one.cells, table.get((one.panel.id, one.row.id, one.column.id), []), strict=False)
    }
