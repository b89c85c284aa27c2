"""Formulas in CSV files."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph, save_graph
from focusedcleaner.io.spreadsheet import escape, is_formula, unescape

FORMULAS = [
    "=1",
    "+cmd",
    "-x",
    "@sum",
    "\t=1",
    "\r=1",
    " =1",
    "\n=1",
    "'=1",
    '"=1',
    "＝1",
    "--1",
    "-inf",
    "+1_0",
    "'-5",
]
suspicious = st.text("='\"+-@ \t5ax", max_size=6)


@pytest.mark.parametrize("cell", FORMULAS)
def test_no_cell_is_a_formula(cell: str) -> None:
    assert escape(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "a=1", "-5", "+1.5e3", "-.5", "node", "'", "'quoted'", "''"])
def test_other_cells_stay(cell: str) -> None:
    assert escape(cell) == cell


@given(st.lists(suspicious | st.text(max_size=5)))
def test_what_was_escaped_comes_back(texts: list[str]) -> None:
    assert unescape([escape(text) for text in texts]) == texts


@given(st.lists(suspicious, unique=True))
def test_texts_of_others_are_never_merged(texts: list[str]) -> None:
    assert len(set(unescape(texts))) == len(texts)


def test_a_table_holds_no_formula_and_comes_back(tmp_path: Path) -> None:
    graph = Graph(
        3,
        [[0, 1], [1, 2]],
        names=("=cmd|' /C calc'!A0", "'=x", "=x"),
        labels=[0, 1, 1],
        class_names=("-ham", "@spam"),
        attributes=np.diag([-1.0, 2.0, 3.0]),
        attribute_names=("+a", "'+a", "b"),
    )
    save_graph(graph, tmp_path / "graph.csv")
    for name in ("graph.csv", "graph.nodes.csv"):
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not any(is_formula(cell) and not cell.startswith("'") for cell in cells)
    assert load_graph(tmp_path / "graph.csv") == graph


def test_a_users_own_apostrophes_stay_where_formulas_have_none(tmp_path: Path) -> None:
    (tmp_path / "graph.csv").write_text("=x,'=x\n'=x,y\n")
    assert load_graph(tmp_path / "graph.csv").names == ("=x", "'=x", "y")
