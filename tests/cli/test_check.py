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


def test_a_page_of_text(cli: Command, graph_file: Path) -> None:
    done = cli("check", graph_file)
    assert (done.exit_code, done.stderr) == (0, "")
    headings = [line for line in done.stdout.splitlines() if line and not line.startswith(" ")]
    last = "What no result can promise"
    assert headings == ["Graph", "Labels", "Classes", "Attributes", "Method", "Assumed", "Warnings", last]
    assert "150 nodes, 300 edges; 4.0 edges per node on average" in done.stdout
    assert "15 train, 15 validate, 120 test" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 90


def test_json_has_every_field(cli: Command, graph_file: Path) -> None:
    findings = json.loads(cli("check", graph_file, "--json").stdout)
    assert list(findings) == [field.name for field in fields(Check)]
    assert (findings["method"], findings["chooses_budget"]) == ("self-attack", True)
    assert findings["split"] == {"train": 15, "val": 15, "test": 120}


def test_an_edge_list_with_its_node_table(cli: Command, graph: Graph) -> None:
    save_graph(graph, "graph.csv")
    expected = cli("check", "graph.csv").stdout
    Path("graph.nodes.csv").rename("people.csv")
    assert "no node has a class" in cli("check", "graph.csv").stdout
    renamed = cli("check", "graph.csv", "--nodes", "people.csv").stdout
    assert renamed.replace("people.csv", "graph.nodes.csv").split() == expected.split()
    assert "5 classes" in expected


@pytest.mark.parametrize("labels", [None, np.full(150, -1)], ids=["none", "all unknown"])
def test_a_graph_without_labels(cli: Command, graph: Graph, labels: np.ndarray | None) -> None:
    save_graph(replace(graph, labels=labels, split=None, class_names=None), "graph.npz")
    done = cli("check", "graph.npz")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "none: no node has a class" in done.stdout
    findings = json.loads(cli("check", "graph.npz", "--json").stdout)
    assert (findings["coverage"], findings["homophily"], findings["split"]) == ("none", None, None)


def test_what_was_changed_while_reading_is_told_once(cli: Command, graph: Graph) -> None:
    save_graph(graph, "graph.csv")
    with open("graph.csv", "a") as file:
        file.write(f"{graph.edges[0, 0]},{graph.edges[0, 1]}\n")
    done = cli("check", "graph.csv")
    assert done.stderr == ""
    assert "\n  - graph.csv: 1 repeated edge was dropped" in done.stdout
    read = json.loads(cli("check", "graph.csv", "--json").stdout)["read"]
    assert sum("graph.csv: 1 repeated edge" in line for line in read) == 1


def test_names_can_not_command_the_terminal(cli: Command, graph: Graph) -> None:
    save_graph(replace(graph, class_names=("[bold]a", "b\u202ec", "<i>", "d", "e")), "graph.npz")
    shown = cli("check", "graph.npz").stdout
    assert "[bold]a" in shown
    assert "b�c" in shown
    assert "\u202e" not in shown


def test_a_graph_without_edges(cli: Command, graph: Graph) -> None:
    save_graph(replace(graph, edges=np.empty((0, 2), int)), "graph.npz")
    findings = json.loads(cli("check", "graph.npz", "--json").stdout)
    assert findings["method"] is None
    assert "the graph is empty: it has no edges" in findings["warnings"]


def test_a_split_that_would_be_drawn(cli: Command, graph: Graph) -> None:
    save_graph(replace(graph, split=None), "graph.npz")
    assert "one would be drawn: 15 train, 135 validate" in cli("check", "graph.npz").stdout


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
