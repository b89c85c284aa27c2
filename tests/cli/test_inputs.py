"""Graphs, splits and adjacencies that a command reads: bad input costs one line and leaves nothing behind."""

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

from focusedcleaner.graph import Graph, Split
from focusedcleaner.io import TABLE_SUFFIXES, load_graph, save_graph, save_split
from tests.cli.conftest import fails
from tests.conftest import Command


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


@pytest.mark.parametrize("what", BAD_GRAPHS)
def test_bad_graphs(cli: Command, graph: Graph, what: str) -> None:
    write, message = BAD_GRAPHS[what]
    write(graph)
    there = os.listdir()
    fails(cli("sanitize", "graph.npz", "--method", "cld", "--json"), message, left=there)
    fails(cli("sanitize", "graph.npz", "--method", "cld", "--out", "RUN"), message, left=there)


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
        cli("sanitize", graph_file, "--method", "cld", "--split", "split.json", "--force-split", "--out", "RUN"),
        message,
        left=["split.json"],
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("coral", "there is no file and no data set 'coral'; data sets are cora, citeseer, polblogs"),
        ("some/where/graph", "some/where/graph: there is no such file"),
        ("graph.txt", "graph.txt: there is no such file"),
    ],
)
def test_unknown_graphs(cli: Command, name: str, message: str) -> None:
    fails(cli("sanitize", name, "--method", "cld"), message, left=[])


def test_adjacency_of_another_size(cli: Command, graph_file: Path) -> None:
    sp.save_npz("adjacency.npz", sp.csr_array(np.ones((3, 3)) - np.eye(3)))
    done = cli("sanitize", graph_file, "--method", "cld", "--adjacency", "adjacency.npz")
    fails(done, "adjacency.npz: is an adjacency of 3 nodes, but the graph has 150", left=["adjacency.npz"])


def test_a_file_wins_over_a_name(cli: Command, graph: Graph, graph_file: Path) -> None:
    os.rename(graph_file, "cora")
    done = cli("sanitize", "cora", "--method", "cld", "--budget", "2", "--out", "RUN")
    suffixes = f".npz, {', '.join(TABLE_SUFFIXES)}, .graphml"
    assert done.stderr == f"error: cora: is not a graph file by its name, which must end in {suffixes}\n"


def test_a_graph_without_split_gets_one(cli: Command, graph: Graph, folder: Path) -> None:
    save_graph(replace(graph, split=None, names=tuple(range(graph.num_nodes))), "bare.npz")
    done = cli("sanitize", "bare.npz", "--method", "cld", "--budget", "2", "--out", "RUN", "--seed", "5")
    assert done.exit_code == 0
    assert "5 classes, 150 labelled nodes" in done.stderr
    assert "split drawn: 15 train, 135 validate\n" in done.stderr
    assert load_graph("RUN/sanitized.npz").split == Split.random(graph.labels, seed=5, train=0.1, val=0.9)  # type: ignore[arg-type]


def test_what_had_to_be_changed_is_noted(cli: Command, graph: Graph, graph_file: Path) -> None:
    adjacency = sp.triu(graph.adjacency()).tocsr()
    sp.save_npz("upper.npz", adjacency)
    done = cli("sanitize", graph_file, "--method", "cld", "--adjacency", "upper.npz", "--budget", "2", "--out", "RUN")
    assert done.exit_code == 0
    assert done.stderr.startswith(
        "note: upper.npz: 300 edges were given in one direction only and were made undirected\n"
    )
    assert done.stderr.count("undirected") == 1


def test_adjacency_split_and_component(cli: Command, graph: Graph, poisoned: Graph, folder: Path) -> None:
    save_graph(replace(graph, split=None), "clean.npz")
    sp.save_npz("poisoned.npz", poisoned.adjacency())
    assert graph.split is not None
    save_split(graph.split, "split.json")
    words = ("--adjacency", "poisoned.npz", "--split", "split.json", "--largest-component")
    done = cli("sanitize", "clean.npz", "--method", "cld", *words, "--budget", "10", "--out", "RUN", "--json")
    assert done.exit_code == 0
    assert done.stderr == ""
    source = json.loads(Path("RUN/run.json").read_text())["input"]
    component = poisoned.largest_component()
    assert (source["nodes"], source["edges"]) == (component.num_nodes, component.num_edges)
    assert component.num_nodes < graph.num_nodes
    scored = cli("score", "RUN", "--truth", "clean.npz", "--largest-component", "--json")
    assert scored.exit_code == 2
