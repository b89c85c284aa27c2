"""npz files: graphs and adjacency matrices."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_adjacency, load_graph, load_split, save_graph
from tests.io.helpers import graphs, npz_arrays, relaxed, split, stored

DATA = Path(os.environ.get("FOCUSEDCLEANER_DATA") or "absent")
PATH = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float32))


@relaxed
@given(graph=graphs())
def test_npz_loses_nothing_and_is_the_same_every_time(graph: Graph, tmp_path: Path) -> None:
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    save_graph(graph, first)
    back = load_graph(first)
    save_graph(back, second)
    assert back == graph
    assert [type(name) for name in back.names or ()] == [type(name) for name in graph.names or ()]
    assert first.read_bytes() == second.read_bytes()


def test_notes_survive(tmp_path: Path) -> None:
    graph = Graph.from_pairs(1, [], notes={"source": "made up – by hand", "a": ""})
    save_graph(graph, tmp_path / "graph.npz")
    assert load_graph(tmp_path / "graph.npz").notes == graph.notes


def test_others_can_read_what_we_write(tmp_path: Path) -> None:
    graph = Graph.from_pairs(3, [[0, 1], [1, 2]], attributes=np.eye(3), labels=[0, 1, 1], names=("a", 7, "c"))
    save_graph(graph, tmp_path / "graph.npz")
    with np.load(tmp_path / "graph.npz", allow_pickle=False) as file:
        adjacency = sp.csr_matrix((file["adj_data"], file["adj_indices"], file["adj_indptr"]), file["adj_shape"])
        assert adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
        assert file["attr_data"].tolist() == [1, 1, 1]
        assert file["labels"].tolist() == [0, 1, 1]
        assert file["node_names"].tolist() == ["a", "7", "c"]
        assert all(file[name].dtype != object for name in file.files)


def test_the_fields_npz_is_read(tmp_path: Path) -> None:
    listed = {"idx_train": np.array([2]), "idx_val": np.array([0]), "idx_test": np.array([1])}
    graph = load_graph(stored(tmp_path, **listed))
    expected = Graph.from_pairs(
        3, [[0, 1], [1, 2]], attributes=[[1, 0], [0, 0], [0, 5]], labels=[0, 1, 1], split=split([2], [0], [1])
    )
    assert graph == expected


def test_the_other_spelling_and_dense_attributes_are_read(tmp_path: Path) -> None:
    plain = load_graph(stored(tmp_path))
    renamed = {
        name.replace("_", "_matrix.", 1) if name != "labels" else name: part for name, part in npz_arrays().items()
    }
    np.savez(tmp_path / "other.npz", **renamed)
    assert load_graph(tmp_path / "other.npz") == plain
    gone = {f"attr_{part}": None for part in ("data", "indices", "indptr", "shape")}
    assert load_graph(stored(tmp_path, **gone, attr_matrix=np.array([[1.0, 0], [0, 0], [0, 5]]))) == plain


def test_a_graph_may_lack_attributes_and_labels(tmp_path: Path) -> None:
    gone = {f"attr_{part}": None for part in ("data", "indices", "indptr", "shape")}
    assert load_graph(stored(tmp_path, **gone, labels=None)) == Graph.from_pairs(3, [[0, 1], [1, 2]])


def test_pickled_arrays_that_are_not_needed_are_ignored(tmp_path: Path) -> None:
    pickled = np.array([{"a": 1}], dtype=object)
    path = stored(tmp_path, idx_to_node=pickled, node_names=pickled, class_names=pickled, notes=pickled)
    assert load_graph(path) == load_graph(stored(tmp_path))


def test_edges_are_simplified_with_one_warning(tmp_path: Path) -> None:
    path = stored(
        tmp_path,
        adj_data=np.array([1.0, 2.0, 1.0, 0.0, 1.0]),
        adj_indices=np.array([1, 2, 2, 0, 2]),
        adj_indptr=np.array([0, 1, 3, 5]),
    )
    with pytest.warns(InputWarning) as caught:
        graph = load_graph(path)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert [str(warning.message) for warning in caught] == [
        f"{path}: 2 edges were given in one direction only and were made undirected, "
        "1 self-loop, 1 repeated edge and 1 weight-0 edge were dropped, 1 weight other than 1 was not used"
    ]


PICKLED = np.array([None, 1, 1, 1], dtype=object)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"adj_data": None}, "lacks the array adj_data"),
        ({"adj_data": PICKLED}, "the array adj_data is pickled"),
        ({"labels": PICKLED}, "the array labels is pickled"),
        ({"adj_data": np.array([1, 1, -2.0, 1])}, "edge 1–2 has weight -2"),
        ({"adj_data": np.array([1, 1, np.nan, 1])}, "edge 1–2 has weight nan"),
        ({"adj_data": np.array(list("abcd"))}, "flat array of numbers"),
        ({"adj_shape": np.array([3, 4])}, "must be square, not 3 × 4"),
        ({"adj_shape": np.array([3])}, "shape must be two whole numbers"),
        ({"adj_shape": np.array([3, -3])}, "shape must be two whole numbers"),
        ({"adj_shape": np.array([2**40, 2**40])}, "shape must be two whole numbers"),
        ({"adj_shape": np.array([4, 4])}, "indptr does not fit"),
        ({"adj_indptr": np.array([0, 3, 1, 4])}, "indptr does not fit"),
        ({"adj_indptr": np.array([1, 1, 3, 4])}, "indptr does not fit"),
        ({"adj_indptr": np.array([0, 1, 3, 400])}, "indptr does not fit"),
        ({"adj_indices": np.array([1, 0, 3, 1])}, "names column 3, but columns are numbered 0 to 2"),
        ({"adj_indices": np.array([1, 0, -1, 1])}, "names column -1"),
        ({"adj_indices": np.array([1.0, 0, 2, 1])}, "flat array of numbers"),
        ({"attr_indices": np.array([0, 10**9])}, "attribute matrix names column 1000000000"),
        (
            {"attr_indptr": np.array([0, 1, 2]), "attr_shape": np.array([2, 2])},
            "there are 2 rows of attributes for 3 nodes",
        ),
        ({"attr_data": np.array([1, np.inf])}, "finite: node 2"),
        ({"labels": np.array([0, 1])}, "2 labels for 3 nodes"),
        ({"labels": np.array([0, 1, 0.5])}, "label 0.5 is not a whole number"),
        ({"labels": np.array([0, 1, -2])}, "label -2 is negative"),
        ({"labels": np.full((3, 2), 2)}, "must be one-hot"),
        ({"labels": np.zeros((3, 1, 1))}, "one class number per node"),
        ({"idx_train": np.array([0])}, "lacks the array idx_val"),
        ({"idx_train": [0], "idx_val": [0], "idx_test": [1]}, "node 0 twice"),
        ({"idx_train": [0], "idx_val": [1], "idx_test": [3]}, "names node 3"),
        ({"idx_train": [0.5], "idx_val": [1], "idx_test": [2]}, "whole numbers"),
        ({"node_names": np.array(["a", "b"])}, "there are 2 node names for 3 nodes"),
        ({"node_names": np.array(["a", "b", "b"])}, "two nodes are called 'b'"),
        ({"node_names": np.array(["a", "b", "c"]), "node_names_whole": np.ones(3, bool)}, "a number that is none"),
        ({"node_names": np.array(["a", "b", "c"]), "node_names_whole": np.ones(2, bool)}, "for each of the node names"),
        ({"class_names": np.array([1, 2])}, "flat array of text"),
        ({"class_names": np.full(2, 2**31, np.uint32).view("U1")}, "invalid characters"),
        ({"notes": np.array("{")}, "notes are not JSON"),
        ({"notes": np.array("[]")}, "one JSON object"),
        (dict.fromkeys(("adj_data", "adj_indices", "adj_indptr", "adj_shape")), "is not a graph file"),
        (
            {"adj_data": [], "adj_indices": np.array([], int), "adj_indptr": np.array([0]), "adj_shape": [0, 0]},
            "the graph is empty",
        ),
    ],
)
def test_an_invalid_npz_is_refused_in_one_line(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = stored(tmp_path, **changed)
    with pytest.raises(InputError) as error:
        load_graph(path)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


@relaxed
@given(data=st.data())
def test_a_damaged_npz_is_an_input_error_or_still_a_graph(data: st.DataObject, tmp_path: Path) -> None:
    path = stored(tmp_path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.sampled_from([len(content), len(content) - 30, len(content) // 2]))])
    with contextlib.suppress(InputError):
        assert load_graph(path).num_nodes == 3


def test_text_that_numpy_would_cut_is_refused(tmp_path: Path) -> None:
    for about in ({"names": ("a\0",)}, {"class_names": ("a\0",)}):
        with pytest.raises(InputError, match="control characters"):
            save_graph(Graph.from_pairs(1, [], **about), tmp_path / "graph.npz")


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
    ("arrays", "message"),
    [
        ({"x": np.ones(2)}, "is not an adjacency"),
        (coo(format=b"dia"), "format 'dia' is not supported: save it as csr"),
        (coo(format=b"csr"), "lacks the array indices"),
        (coo(format=b"csr", indices=[1, 0], indptr=[0, 2, 1]), "indptr does not fit"),
        (coo(format=b"csc", indices=[1, 5], indptr=[0, 1, 2]), "names column 5"),
        (coo(row=[0, 2]), "names row 2, but rows are numbered 0 to 1"),
        (coo(col=[-1, 0]), "names column -1"),
        (coo(row=[0]), "flat arrays of one length"),
        (coo(row=[0.0, 1.0]), "flat arrays of one length"),
        (coo(shape=[2, 3]), "must be square, not 2 × 3"),
        (coo(shape=[0, 0], data=[], row=np.array([], int), col=np.array([], int)), "the graph is empty"),
        (coo(data=[1.0, -1.0]), "weight -1"),
        (coo(data=np.array([1, 1], dtype=object)), "data is pickled"),
    ],
)
def test_invalid_adjacency_files_are_refused(arrays: dict[str, Any], message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "adjacency.npz", **arrays)
    with pytest.raises(InputError) as error:
        load_adjacency(tmp_path / "adjacency.npz")
    assert str(error.value).startswith(f"{tmp_path}/adjacency.npz: ")
    assert message in str(error.value)


def test_a_missing_adjacency_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.npz: there is no such file"):
        load_adjacency(tmp_path / "absent.npz")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "nodes", "edges", "classes", "attributes"),
    [("cora", 2485, 5069, 7, 1433), ("citeseer", 2110, 3668, 6, 3703), ("polblogs", 1222, 16714, 2, 0)],
)
def test_public_graphs_have_their_known_sizes(
    name: str, nodes: int, edges: int, classes: int, attributes: int, tmp_path: Path
) -> None:
    with pytest.warns(InputWarning, match=r"\.npz: [\d,]+ edges were given in one direction only") as caught:
        whole = load_graph(DATA / f"{name}.npz")
    assert len(caught) == 1
    graph = whole.largest_component()
    assert (graph.num_nodes, graph.num_edges, graph.num_classes, graph.num_attributes) == (
        nodes,
        edges,
        classes,
        attributes,
    )
    save_graph(graph, tmp_path / "graph.npz")
    assert load_graph(tmp_path / "graph.npz") == graph


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "power", "added", "removed"),
    [("cora", "0.05", 253, 0), ("citeseer", "0.25", 899, 18), ("polblogs", "0.1", 1385, 286)],
)
def test_public_poison_adds_and_removes_what_is_known(name: str, power: str, added: int, removed: int) -> None:
    with pytest.warns(InputWarning):
        clean = load_graph(DATA / f"{name}.npz").largest_component()
    poisoned = load_adjacency(DATA / "prognn" / f"{name}_meta_adj_{power}.npz") - clean.adjacency()
    assert ((poisoned > 0).sum() // 2, (poisoned < 0).sum() // 2) == (added, removed)
    assert len(load_split(DATA / "prognn" / f"{name}_prognn_splits.json", num_nodes=clean.num_nodes).test)
