"""Bad input: one line on standard error, exit code 2, nothing left behind."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import Result

from focusedcleaner.graph import Graph, Split
from focusedcleaner.io import save_graph

Command = Callable[..., Result]


def parts(graph: Graph) -> dict[str, Any]:
    """The arrays of the field's npz."""
    assert graph.attributes is not None
    found: dict[str, Any] = {}
    for prefix, matrix in (("adj", graph.adjacency()), ("attr", graph.attributes)):
        found |= {
            f"{prefix}_data": matrix.data.copy(),
            f"{prefix}_indices": matrix.indices.copy(),
            f"{prefix}_indptr": matrix.indptr.copy(),
            f"{prefix}_shape": np.array(matrix.shape),
        }
    return found | {"labels": np.array(graph.labels)}


def truncated(graph: Graph) -> None:
    save_graph(graph, "graph.npz")
    content = Path("graph.npz").read_bytes()
    Path("graph.npz").write_bytes(content[: len(content) // 2])


def damaged(graph: Graph) -> None:
    save_graph(graph, "graph.npz")
    with zipfile.ZipFile("graph.npz") as archive:
        start = archive.getinfo("adj_indices.npy").header_offset + 80
    content = bytearray(Path("graph.npz").read_bytes())
    content[start : start + 40] = bytes(40)
    Path("graph.npz").write_bytes(content)


def with_parts(**changes: Callable[[Any], Any]) -> Callable[[Graph], None]:
    """Write a graph file in which some arrays are changed."""

    def write(graph: Graph) -> None:
        arrays = parts(graph)
        np.savez("graph.npz", **(arrays | {name: change(arrays[name]) for name, change in changes.items()}))

    return write


def first(value: float) -> Callable[[Any], Any]:
    """Replace the first entry of an array."""
    return lambda array: np.concatenate([[value], array[1:]]).astype(np.result_type(array, type(value)))


def saved(change: Callable[[Graph], Graph]) -> Callable[[Graph], None]:
    return lambda graph: save_graph(change(graph), "graph.npz")


def no_training_node(graph: Graph) -> Graph:
    assert graph.split is not None
    return graph.with_split(Split(np.empty(0, int), graph.split.val, graph.split.test))


def one_class(graph: Graph) -> Graph:
    return replace(graph, labels=np.zeros(graph.num_nodes, int), class_names=None)


def unlabelled_training_node(graph: Graph) -> Graph:
    assert graph.split is not None
    assert graph.labels is not None
    labels = graph.labels.copy()
    labels[graph.split.train[0]] = -1
    return replace(graph, labels=labels)


BAD_GRAPHS: dict[str, tuple[Callable[[Graph], None], str]] = {
    "missing file": (lambda graph: None, "graph.npz: there is no such file"),
    "truncated file": (truncated, "graph.npz: is not an npz file, or a damaged one"),
    "damaged file": (damaged, "graph.npz: the array adj_indices is damaged"),
    "empty file": (lambda graph: Path("graph.npz").touch(), "graph.npz: is not an npz file"),
    "pickled arrays": (with_parts(labels=lambda a: a.astype(object)), "graph.npz: the array labels is pickled"),
    "too few labels": (with_parts(labels=lambda a: a[:-1]), "graph.npz: there are 149 labels for 150 nodes"),
    "node out of range": (with_parts(adj_indices=first(150)), "graph.npz: the adjacency names column 150"),
    "NaN attribute": (with_parts(attr_data=first(np.nan)), "graph.npz: attributes must be finite: node 0"),
    "infinite attribute": (with_parts(attr_data=first(np.inf)), "graph.npz: attributes must be finite: node 0"),
    "no training node": (saved(no_training_node), "the split has no training node"),
    "one class": (saved(one_class), "the training nodes are all of one class"),
    "one class, no split": (
        saved(lambda graph: replace(one_class(graph), split=None)),
        "the training nodes are all of one class",
    ),
    "no labels": (saved(lambda graph: replace(graph, labels=None)), "the graph has no labels"),
    "unknown labels": (saved(lambda graph: replace(graph, labels=np.full(150, -1), split=None)), "the graph has no "),
    "unlabelled training node": (saved(unlabelled_training_node), "has no label"),
    "no nodes": (
        lambda graph: np.savez(
            "graph.npz", adj_data=[], adj_indices=np.empty(0, int), adj_indptr=[0], adj_shape=[0, 0], labels=[]
        ),
        "graph.npz: the graph is empty: it has no nodes",
    ),
    "no edges": (saved(lambda graph: replace(graph, edges=np.empty((0, 2), int))), "the graph is empty"),
}


def fails(done: Any, message: str, *, left: list[str]) -> None:
    """The last line says what is wrong; nothing else than notes, nothing on standard output, nothing on disk."""
    assert done.exit_code == 2, done.output
    *notes, line = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert all(note.startswith("note: ") for note in notes)
    assert done.stdout == ""
    assert sorted(os.listdir()) == sorted(left)


@pytest.mark.parametrize("what", BAD_GRAPHS)
def test_bad_graphs(cli: Command, graph: Graph, what: str) -> None:
    write, message = BAD_GRAPHS[what]
    write(graph)
    there = os.listdir()
    fails(cli("sanitize", "graph.npz", "--json"), message, left=there)
    fails(cli("sanitize", "graph.npz", "--out", "RUN"), message, left=there)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"idx_train": [0, 1], "idx_val": [1], "idx_test": []}, "names node 1 twice: its lists must not overlap"),
        ({"idx_train": [0, 150], "idx_val": [1], "idx_test": []}, "names node 150, but nodes are numbered 0 to 149"),
        ({"idx_train": [-1], "idx_val": [1], "idx_test": []}, "names node -1: node numbers start at 0"),
        ({"idx_train": [], "idx_val": [1], "idx_test": []}, "has no training node"),
        ({"idx_train": [0.5], "idx_val": [1], "idx_test": []}, "idx_train must be a list of whole numbers"),
        ({"idx_train": [0]}, "lacks the list idx_val"),
        ("{", "split.json: is not JSON"),
    ],
)
def test_bad_splits(cli: Command, graph_file: Path, content: Any, message: str) -> None:
    Path("split.json").write_text(content if isinstance(content, str) else json.dumps(content))
    fails(
        cli("sanitize", graph_file, "--split", "split.json", "--force-split", "--out", "RUN"),
        message,
        left=["split.json"],
    )


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ("0", "budget 0 is not above 0"),
        ("-1", "budget -1 is not above 0"),
        ("300%", "budget 300% is more than all 300 edges (100%)"),
        ("abc", "budget 'abc' is neither a number of edges (500), a fraction (0.1) nor a percentage (10%)"),
        ("301", "budget 301 is more than the graph's 300 edges"),
        ("299", "can be removed without isolating a node"),
        ("100%", "can be removed without isolating a node"),
        ("0.1%", "budget 0.1% allows no edge"),
        ("1.5", "1.5"),
        ("nan", "budget"),
        ("", "budget"),
    ],
)
def test_bad_budgets(cli: Command, graph_file: Path, budget: str, message: str) -> None:
    fails(cli("sanitize", graph_file, "--budget", budget, "--out", "RUN"), message, left=[])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "clean"], "there is no method 'clean'; there are cld, lp, focused-none"),
        (["--set", "taw=1"], "cld has no setting 'taw'; its settings are "),
        (["--set", "tau"], "a setting is written key=value, not 'tau'"),
        (["--set", "tau=high"], "tau must be a number, not 'high'"),
        (["--set", "tau=2"], "tau and beta lie between 0 and 1"),
        (["--set", "edges_per_round=1", "--edges-per-round", "2"], "the setting edges_per_round is given twice"),
        (["--edges-per-round", "0"], "--edges-per-round"),
        (["--seed", "-1"], "--seed"),
        (["--seed", "x"], "--seed"),
        (["--colour", "red"], "--colour"),
        (["--adjacency", "nothing.npz"], "nothing.npz: there is no such file"),
        (["--split", "nothing.json"], "nothing.json: there is no such file"),
        (["--nodes", "nothing.csv"], "a node table goes with an edge list (.csv) only"),
    ],
)
def test_bad_options(cli: Command, graph_file: Path, words: list[str], message: str) -> None:
    fails(cli("sanitize", graph_file, "--out", "RUN", *words), message, left=[])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("coral", "there is no file and no data set 'coral'; data sets are cora, citeseer, polblogs"),
        ("some/where/graph", "some/where/graph: there is no such file"),
        ("graph.txt", "graph.txt: there is no such file"),
    ],
)
def test_unknown_graphs(cli: Command, name: str, message: str) -> None:
    fails(cli("sanitize", name), message, left=[])


def test_adjacency_of_another_size(cli: Command, graph_file: Path) -> None:
    sp.save_npz("adjacency.npz", sp.csr_array(np.ones((3, 3)) - np.eye(3)))
    done = cli("sanitize", graph_file, "--adjacency", "adjacency.npz")
    fails(done, "adjacency.npz: is an adjacency of 3 nodes, but the graph has 150", left=["adjacency.npz"])


def test_a_folder_that_exists(cli: Command, graph_file: Path) -> None:
    Path("RUN").mkdir()
    Path("RUN/thesis.txt").write_text("mine")
    fails(cli("sanitize", graph_file, "--out", "RUN"), "RUN: exists already", left=["RUN"])
    fails(cli("sanitize", graph_file, "--out", "RUN", "--resume"), "RUN: is not a run folder", left=["RUN"])
    assert os.listdir("RUN") == ["thesis.txt"]


def test_a_folder_that_cannot_be_written(cli: Command, graph_file: Path) -> None:
    Path("file").write_text("")
    fails(cli("sanitize", graph_file, "--out", "file/RUN"), "can't be written: file is not a folder", left=["file"])
    fails(cli("sanitize", graph_file, "--out", "no/RUN"), "can't be written: no does not exist", left=["file"])
    fails(cli("sanitize", graph_file, "--out", "x" * 300), "File name too long", left=["file"])


def test_a_place_for_runs_that_is_a_file(cli: Command, graph_file: Path) -> None:
    Path("runs").write_text("")
    fails(cli("sanitize", graph_file), "the folder runs can't be made", left=["runs"])


def test_the_folder_is_checked_before_the_graph_is_read(cli: Command) -> None:
    Path("RUN").mkdir()
    fails(cli("sanitize", "nothing.npz", "--out", "RUN"), "RUN: exists already", left=["RUN"])


@pytest.mark.parametrize("words", [["sanitize"], ["score", "RUN"], ["polish"], ["demo", "--seed", "-3"]])
def test_usage(cli: Command, words: list[str]) -> None:
    done = cli(*words)
    assert done.exit_code == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
