"""Adjacencies and splits in files of their own, and the public graphs themselves."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_adjacency, load_graph, load_split, save_graph, save_split
from tests.io.test_round_trips import split

PATH = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float32))
DATA = Path(os.environ.get("FOCUSEDCLEANER_DATA") or "absent")
needs_data = pytest.mark.skipif(
    not (DATA / "cora.npz").is_file(), reason="FOCUSEDCLEANER_DATA names no folder with cora.npz"
)


# Adjacencies


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_scipy_files_are_read(form: str, kind: Any, tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "adjacency.npz", kind(PATH).asformat(form))
    read = load_adjacency(tmp_path / "adjacency.npz")
    assert read.toarray().tolist() == PATH.toarray().tolist()


def test_the_adjacency_of_a_graph_file_is_read(tmp_path: Path) -> None:
    save_graph(Graph.from_pairs(3, [[0, 1], [1, 2]]), tmp_path / "graph.npz")
    assert load_adjacency(tmp_path / "graph.npz").toarray().tolist() == PATH.toarray().tolist()


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_directed_structures_are_made_undirected_with_a_warning(form: str, tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "adjacency.npz", sp.triu(PATH).asformat(form))
    with pytest.warns(InputWarning, match=r"adjacency\.npz: 2 edges were given in one direction only"):
        assert load_adjacency(tmp_path / "adjacency.npz").toarray().tolist() == PATH.toarray().tolist()


def coo(**changed: Any) -> dict[str, Any]:
    whole = {"format": b"coo", "shape": [2, 2], "data": [1.0, 1.0], "row": [0, 1], "col": [1, 0]}
    return {name: np.array(value) for name, value in (whole | changed).items()}


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"x": np.ones(2)}, "is not an adjacency"),
        (coo(format=b"dia"), "format 'dia' is not read: save it as csr"),
        (coo(format=b"csr"), "lacks the array indices"),
        (coo(format=b"csr", indices=[1, 0], indptr=[0, 2, 1]), "indptr does not fit"),
        (coo(format=b"csc", indices=[1, 5], indptr=[0, 1, 2]), "names column 5"),
        (coo(row=[0, 2]), "entry at 2"),
        (coo(col=[-1, 0]), "entry at -1"),
        (coo(row=[0]), "flat arrays of one length"),
        (coo(row=[0.0, 1.0]), "flat arrays of one length"),
        (coo(shape=[2, 3]), "must be square, not 2 × 3"),
        (coo(shape=[0, 0], data=[], row=np.array([], int), col=np.array([], int)), "the graph is empty"),
        (coo(data=[1.0, -1.0]), "weight -1"),
        (coo(data=np.array([1, 1], dtype=object)), "data is pickled"),
    ],
)
def test_files_that_are_no_adjacency_are_refused(arrays: dict[str, Any], told: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "adjacency.npz", **arrays)
    with pytest.raises(InputError) as error:
        load_adjacency(tmp_path / "adjacency.npz")
    assert str(error.value).startswith(f"{tmp_path}/adjacency.npz: ")
    assert told in str(error.value)


def test_a_missing_adjacency_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.npz: there is no such file"):
        load_adjacency(tmp_path / "absent.npz")


# Splits


def test_splits_come_back(tmp_path: Path) -> None:
    given = split([4, 0], [], [2])
    save_split(given, tmp_path / "split.json")
    assert load_split(tmp_path / "split.json", num_nodes=5) == given
    assert json.loads((tmp_path / "split.json").read_text()) == {"idx_train": [0, 4], "idx_val": [], "idx_test": [2]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("idx_train", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1, 2]", "must be a JSON object"),
        ('{"idx_train": [0], "idx_test": [1]}', "lacks the list idx_val"),
        ('{"idx_train": [0.5], "idx_val": [], "idx_test": [1]}', "idx_train must be a list of whole numbers"),
        ('{"idx_train": [true], "idx_val": [], "idx_test": [1]}', "idx_train must be a list of whole numbers"),
        ('{"idx_train": [[0]], "idx_val": [], "idx_test": [1]}', "idx_train must be a list of whole numbers"),
        ('{"idx_train": 0, "idx_val": [], "idx_test": [1]}', "idx_train must be a list of whole numbers"),
        (f'{{"idx_train": [{2**70}], "idx_val": [], "idx_test": [1]}}', "idx_train must be a list of whole numbers"),
        ('{"idx_train": [-1], "idx_val": [], "idx_test": [1]}', "node -1: node numbers start at 0"),
        ('{"idx_train": [1], "idx_val": [], "idx_test": [1]}', "names node 1 twice"),
        ('{"idx_train": [0, 0], "idx_val": [], "idx_test": [1]}', "names node 0 twice"),
        ('{"idx_train": [0], "idx_val": [], "idx_test": [5]}', "names node 5, but nodes are numbered 0 to 4"),
    ],
)
def test_files_that_are_no_split_are_refused(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "split.json").write_text(text)
    with pytest.raises(InputError) as error:
        load_split(tmp_path / "split.json", num_nodes=5)
    assert str(error.value).startswith(f"{tmp_path}/split.json: ")
    assert told in str(error.value)


def test_a_split_that_can_not_be_read_or_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "split.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        load_split(tmp_path / "split.json")
    with pytest.raises(InputError, match="there is no such file"):
        load_split(tmp_path / "absent.json")
    with pytest.raises(InputError, match="there is no folder"):
        save_split(split([0], [], []), tmp_path / "absent" / "split.json")


# The public graphs


@needs_data
@pytest.mark.parametrize(
    ("name", "nodes", "edges", "classes", "attributes"),
    [("cora", 2485, 5069, 7, 1433), ("citeseer", 2110, 3668, 6, 3703), ("polblogs", 1222, 16714, 2, 0)],
)
def test_public_graphs_have_their_known_sizes(
    name: str, nodes: int, edges: int, classes: int, attributes: int, tmp_path: Path
) -> None:
    with pytest.warns(InputWarning, match=r"\.npz: [\d,]+ edges were given in one direction only") as told:
        whole = load_graph(DATA / f"{name}.npz")
    assert len(told) == 1
    graph = whole.largest_component()
    assert (graph.num_nodes, graph.num_edges, graph.num_classes, graph.num_attributes) == (
        nodes,
        edges,
        classes,
        attributes,
    )
    save_graph(graph, tmp_path / "graph.npz")
    assert load_graph(tmp_path / "graph.npz") == graph


@needs_data
@pytest.mark.parametrize(
    ("name", "power", "added", "removed"),
    [("cora", "0.05", 253, 0), ("citeseer", "0.25", 899, 18), ("polblogs", "0.1", 1385, 286)],
)
def test_public_poison_adds_and_removes_what_is_known(name: str, power: str, added: int, removed: int) -> None:
    with pytest.warns(InputWarning):
        clean = load_graph(DATA / f"{name}.npz").largest_component()
    poisoned = load_adjacency(DATA / "prognn" / f"{name}_meta_adj_{power}.npz") - clean.adjacency()
    assert ((poisoned > 0).sum() // 2, (poisoned < 0).sum() // 2) == (added, removed)
    assert load_split(DATA / "prognn" / f"{name}_prognn_splits.json", num_nodes=clean.num_nodes).largest > 0
