"""Hostile names, class numbers and sizes in graphs of other libraries, and what becomes of them in results."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from focusedcleaner.graph import Graph
from focusedcleaner.io import SUFFIXES, load_graph, save_graph
from focusedcleaner.io.convert import as_graph
from focusedcleaner.io.spreadsheet import is_formula
from focusedcleaner.runs import read_run, write_run
from focusedcleaner.sanitizers import Jaccard
from tests.hostile.case import WORKS, assert_answer, call
from tests.hostile.child import command

LONG = "x" * 1001
NAMES = {
    "1 and '1'": ((1, "1", 2), "two nodes are called '1' when written as text"),
    "a carriage return": (("a", "b\rc", "d"), "control characters"),
    "a line feed": (("a", "b\nc", "d"), "control characters"),
    "NUL": (("a", "b\0", "d"), "control characters"),
    "an escape sequence": (("a", "\x1b[31m", "d"), "control characters"),
    "a lone surrogate": (("a", "\ud800", "d"), "control characters"),
    "1,001 characters": (("a", LONG, "d"), "at most 1,000 characters"),
    "formulas": (("=1", "'=1", "@x"), WORKS),
    "other letters": (("é", "\u202e", "日本"), WORKS),
}
LABELS: dict[str, tuple[list[Any], str]] = {
    "gaps": ([0, 7, 7], WORKS),
    "100,000": ([0, 1, 100_000], WORKS),
    "a billion": ([0, 1, 10**9], WORKS),
    "2**63 - 1": ([0, 1, 2**63 - 1], WORKS),
    "-2": ([0, 1, -2], "label -2 is negative"),
    "NaN": ([0, 1, float("nan")], WORKS),
    "1.5": ([0, 1, 1.5], "label 1.5 is not a whole number"),
    "true": ([True, False, True], WORKS),
}


def path(kind: str, names: tuple[Any, ...] | None = None, labels: list[Any] | None = None) -> Any:
    """A path of three nodes as an object of another library."""
    if kind == "networkx":
        own = nx.path_graph(3)
        nx.set_node_attributes(own, dict(enumerate(labels or ())), "label")
        return own if names is None else nx.relabel_nodes(own, dict(enumerate(names)))
    if kind == "pyg":
        data = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        if labels is not None:
            data.y = torch.tensor(labels)
        if names is not None:
            data.node_names = list(names)
        return data
    return {"adjacency": sp.csr_array(nx.to_numpy_array(nx.path_graph(3))), "names": names, "labels": labels}


@pytest.mark.parametrize("kind", ["networkx", "pyg", "scipy"])
@pytest.mark.parametrize("what", NAMES)
def test_names(what: str, kind: str) -> None:
    names, answer = NAMES[what]
    data = path(kind, names=names)
    assert_answer(call(lambda: as_graph(data)), answer)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("what", NAMES)
def test_names_of_a_graph_when_it_is_written(what: str, suffix: str, tmp_path: Path) -> None:
    names, answer = NAMES[what]
    graph = Graph(3, [[0, 1], [1, 2]], names=names)
    assert_answer(call(lambda: save_graph(graph, tmp_path / f"graph{suffix}")), answer)
    if answer == WORKS:
        assert load_graph(tmp_path / f"graph{suffix}") == graph
    else:
        assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["networkx", "pyg", "scipy"])
@pytest.mark.parametrize("what", LABELS)
def test_class_numbers(what: str, kind: str) -> None:
    labels, answer = LABELS[what]
    if kind == "networkx" and what in ("-2", "1.5"):
        answer = WORKS  # data of any kind may name a class
    data = path(kind, labels=labels)
    assert_answer(call(lambda: as_graph(data)), answer)
    if answer == WORKS:
        assert as_graph(data).num_classes <= 3


def test_old_class_numbers_stay_visible(tmp_path: Path) -> None:
    graph = as_graph(path("scipy", labels=[5, 10**9, 5]))
    assert graph.labels is not None
    assert (graph.labels.tolist(), graph.class_names) == ([0, 1, 0], ("5", "1000000000"))
    save_graph(graph, tmp_path / "graph.csv")
    rows = (tmp_path / "graph.nodes.csv").read_text().splitlines()
    assert rows == ["id,label", "0,5", "1,1000000000", "2,5"]


@pytest.mark.parametrize("labels", [[0, 1, 100_000], [0, 1, 2**62]])
def test_a_graph_refuses_huge_class_numbers(labels: list[int]) -> None:
    assert_answer(call(lambda: Graph(3, [[0, 1]], labels=labels)), "number the classes 0, 1, 2")


def test_results_hold_no_formulas_and_come_back(small: Graph, tmp_path: Path) -> None:
    names = tuple(
        f"{sign}n{node}" for node, sign in enumerate(("=", "'=", "+", "-", "@", "", "=cmd|' /C calc'!A0", '"=') * 2)
    )
    graph = Graph(16, small.edges, small.attributes, small.labels, small.split, names=names)
    done = Jaccard().sanitize(graph, 20)
    write_run(done, tmp_path / "RUN")
    save_graph(graph, tmp_path / "graph.npz")
    assert command("restore", "RUN", "--limit", "5", cwd=tmp_path).code == 0
    assert command("review", "RUN", "--export", "export.csv", cwd=tmp_path).code == 0
    assert command("apply", "RUN", "--undecided-above", "-9", "--out", "applied.csv", cwd=tmp_path).code == 0
    assert command("attack", "graph.npz", "--method", "random", "--out", "new.csv", cwd=tmp_path).code == 0
    files = [
        "RUN/removed.csv",
        "RUN/missing.csv",
        "export.csv",
        *(f"{name}{end}" for name in ("applied", "new") for end in (".csv", ".nodes.csv")),
    ]
    for file in files:
        with (tmp_path / file).open(encoding="utf-8", newline="") as content:
            cells = [cell for row in csv.reader(content) for cell in row]
        assert not [cell for cell in cells if is_formula(cell) and not cell.startswith("'")], file
    assert read_run(tmp_path / "RUN").removed.tolist() == done.removed.tolist()
    assert load_graph(tmp_path / "applied.csv").names == names


def test_old_runs_with_plain_names_still_open(small: Graph, tmp_path: Path) -> None:
    graph = Graph(16, small.edges, small.attributes, small.labels, small.split, names=("=x", "'=y", *range(14)))
    done = Jaccard().sanitize(graph, 40)
    write_run(done, tmp_path / "RUN")
    file = tmp_path / "RUN" / "removed.csv"
    plain = file.read_text().replace("''=y", "'=y").replace("'=x", "=x")
    assert plain != file.read_text()
    file.write_text(plain)
    assert read_run(tmp_path / "RUN").removed.tolist() == done.removed.tolist()


def test_a_run_keeps_the_class_numbers_that_it_was_written_with(small: Graph, tmp_path: Path) -> None:
    graph = Graph(16, small.edges, small.attributes, 2 * np.asarray(small.labels), small.split)
    write_run(Jaccard().sanitize(graph, 4), tmp_path / "RUN")
    assert read_run(tmp_path / "RUN").poisoned == graph
