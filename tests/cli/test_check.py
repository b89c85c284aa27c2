"""``focusedcleaner check``."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.api import Check
from focusedcleaner.graph import Graph
from focusedcleaner.io import save_graph
from tests.cli.conftest import fails
from tests.conftest import Command

NO_LABELS = "the graph has no labels: a sanitizer needs the classes of a few nodes"


def test_a_graph_that_can_be_sanitized(cli: Command, graph_file: Path) -> None:
    done = cli("check", graph_file)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("150 nodes, 300 edges, 6 components\n5 classes, 150 labelled nodes; 80.0 % of the ")
    assert "split: 15 train, 15 val, 120 test\nmethod: self-attack, which chooses its budget\nAssumed:\n" in done.stdout


def test_json_has_every_field(cli: Command, graph_file: Path) -> None:
    findings = json.loads(cli("check", graph_file, "--json").stdout)
    assert list(findings) == [field.name for field in fields(Check)]
    assert (findings["method"], findings["chooses_budget"]) == ("self-attack", True)
    assert findings["split"] == {"train": 15, "val": 15, "test": 120}


def test_an_edge_list_with_its_node_table(cli: Command, graph: Graph) -> None:
    save_graph(graph, "graph.csv")
    expected = cli("check", "graph.csv").stdout
    Path("graph.nodes.csv").rename("people.csv")
    assert "no labels" in cli("check", "graph.csv").stdout
    assert cli("check", "graph.csv", "--nodes", "people.csv").stdout == expected
    assert "5 classes" in expected


@pytest.mark.parametrize("labels", [None, np.full(150, -1)], ids=["none", "all unknown"])
def test_a_graph_without_labels(cli: Command, graph: Graph, labels: np.ndarray | None) -> None:
    save_graph(replace(graph, labels=labels, split=None, class_names=None), "graph.npz")
    done = cli("check", "graph.npz")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "\nno labels\n" in done.stdout
    assert f"Warnings:\n  - {NO_LABELS}\n" in done.stdout
    assert "method:" not in done.stdout
    assert "split" not in done.stdout
    findings = json.loads(cli("check", "graph.npz", "--json").stdout)
    assert (findings["method"], findings["homophily"], findings["split"]) == (None, None, None)


def test_a_graph_without_edges(cli: Command, graph: Graph) -> None:
    save_graph(replace(graph, edges=np.empty((0, 2), int)), "graph.npz")
    findings = json.loads(cli("check", "graph.npz", "--json").stdout)
    assert findings["method"] is None
    assert "the graph is empty: it has no edges" in findings["warnings"]


def test_a_split_that_would_be_drawn(cli: Command, graph: Graph) -> None:
    save_graph(replace(graph, split=None), "graph.npz")
    drawn = "a random split is drawn: 10 % of the nodes train, 10 % validate; the labels of the other 80 % are hidden"
    assert drawn in cli("check", "graph.npz").stdout


def test_names_and_options_reach_the_graph(cli: Command, graph_file: Path) -> None:
    whole = json.loads(cli("check", graph_file, "--json").stdout)
    largest = json.loads(cli("check", graph_file, "--largest-component", "--json").stdout)
    assert (largest["components"], whole["components"]) == (1, 6)
    assert largest["nodes"] < whole["nodes"]


@pytest.mark.data
def test_a_data_set_by_name(cli: Command) -> None:
    findings = json.loads(cli("check", "cora", "--json").stdout)
    assert (findings["nodes"], findings["edges"], findings["attributes"]) == (2485, 5069, 1433)
    assert (findings["method"], findings["chooses_budget"]) == ("self-attack", True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("graph.npz",), "graph.npz: there is no such file"),
        (("coral",), "there is no file and no data set 'coral'"),
    ],
)
def test_a_graph_that_is_missing(cli: Command, words: tuple[str, ...], message: str) -> None:
    fails(cli("check", *words), message, left=[])
    fails(cli("check", *words, "--json"), message, left=[])
