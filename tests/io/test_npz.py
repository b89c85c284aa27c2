"""The field's npz, and what all graph files have in common."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph
from focusedcleaner.io import SUFFIXES, disk, load_graph, save_graph
from tests.io.test_round_trips import graphs, relaxed, split


def parts(**changed: Any) -> dict[str, Any]:
    """A path of three nodes as the field stores it, with some arrays changed or, by None, left out."""
    whole: dict[str, Any] = {
        "adj_data": np.ones(4, dtype=np.float32),
        "adj_indices": np.array([1, 0, 2, 1], dtype=np.int32),
        "adj_indptr": np.array([0, 1, 3, 4], dtype=np.int32),
        "adj_shape": np.array([3, 3]),
        "attr_data": np.array([1, 5]),
        "attr_indices": np.array([0, 1]),
        "attr_indptr": np.array([0, 1, 1, 2]),
        "attr_shape": np.array([3, 2]),
        "labels": np.array([0, 1, 1], dtype=np.int8),
    }
    return {name: array for name, array in (whole | changed).items() if array is not None}


def stored(folder: Path, **changed: Any) -> Path:
    path = folder / "graph.npz"
    np.savez(path, **parts(**changed))
    return path


# npz


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
    renamed = {name.replace("_", "_matrix.", 1) if name != "labels" else name: part for name, part in parts().items()}
    np.savez(tmp_path / "other.npz", **renamed)
    assert load_graph(tmp_path / "other.npz") == plain
    gone = {f"attr_{part}": None for part in ("data", "indices", "indptr", "shape")}
    assert load_graph(stored(tmp_path, **gone, attr_matrix=np.array([[1.0, 0], [0, 0], [0, 5]]))) == plain


def test_a_graph_may_lack_attributes_and_labels(tmp_path: Path) -> None:
    gone = {f"attr_{part}": None for part in ("data", "indices", "indptr", "shape")}
    assert load_graph(stored(tmp_path, **gone, labels=None)) == Graph.from_pairs(3, [[0, 1], [1, 2]])


def test_pickled_members_that_are_not_needed_are_left_alone(tmp_path: Path) -> None:
    pickled = np.array([{"a": 1}], dtype=object)
    path = stored(tmp_path, idx_to_node=pickled, node_names=pickled, class_names=pickled, notes=pickled)
    assert load_graph(path) == load_graph(stored(tmp_path))


def test_what_is_not_simple_is_made_so_with_one_line(tmp_path: Path) -> None:
    path = stored(
        tmp_path,
        adj_data=np.array([1.0, 2.0, 1.0, 0.0, 1.0]),
        adj_indices=np.array([1, 2, 2, 0, 2]),
        adj_indptr=np.array([0, 1, 3, 5]),
    )
    with pytest.warns(InputWarning) as told:
        graph = load_graph(path)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert [str(warning.message) for warning in told] == [
        f"{path}: 2 edges were given in one direction only and were made undirected, "
        "1 self-loop, 1 repeated edge and 1 weight-0 edge were dropped, 1 weight was set to 1"
    ]


PICKLED = np.array([None, 1, 1, 1], dtype=object)


@pytest.mark.parametrize(
    ("changed", "told"),
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
        ({"attr_indptr": np.array([0, 1, 2]), "attr_shape": np.array([2, 2])}, "attributes for 2 nodes"),
        ({"attr_data": np.array([1, np.inf])}, "finite: node 2"),
        ({"labels": np.array([0, 1])}, "2 labels for 3 nodes"),
        ({"labels": np.array([0, 1, 0.5])}, "label 0.5 is not a whole number"),
        ({"labels": np.array([0, 1, -2])}, "label -2 is negative"),
        ({"labels": np.eye(3)}, "one class number a node"),
        ({"idx_train": np.array([0])}, "lacks the array idx_val"),
        ({"idx_train": [0], "idx_val": [0], "idx_test": [1]}, "node 0 twice"),
        ({"idx_train": [0], "idx_val": [1], "idx_test": [3]}, "names node 3"),
        ({"idx_train": [0.5], "idx_val": [1], "idx_test": [2]}, "whole numbers"),
        ({"node_names": np.array(["a", "b"])}, "2 names where 3 are needed"),
        ({"node_names": np.array(["a", "b", "b"])}, "same name"),
        ({"node_names": np.array(["a", "b", "c"]), "node_names_whole": np.ones(3, bool)}, "a number that is none"),
        ({"node_names": np.array(["a", "b", "c"]), "node_names_whole": np.ones(2, bool)}, "for each of the node names"),
        ({"class_names": np.array([1, 2])}, "flat array of text"),
        ({"class_names": np.full(2, 2**31, np.uint32).view("U1")}, "characters that do not exist"),
        ({"notes": np.array("{")}, "notes are not JSON"),
        ({"notes": np.array("[]")}, "one JSON object"),
        (dict.fromkeys(("adj_data", "adj_indices", "adj_indptr", "adj_shape")), "is not a graph file"),
        (
            {"adj_data": [], "adj_indices": np.array([], int), "adj_indptr": np.array([0]), "adj_shape": [0, 0]},
            "the graph is empty",
        ),
    ],
)
def test_an_npz_that_makes_no_graph_is_refused_in_one_line(changed: dict[str, Any], told: str, tmp_path: Path) -> None:
    path = stored(tmp_path, **changed)
    with pytest.raises(InputError) as error:
        load_graph(path)
    assert told in str(error.value)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_loading_never_unpickles(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (os.mkdir, (str(tmp_path / "sprung"),))

    trap = np.array([Trap()], dtype=object)
    load_graph(stored(tmp_path, idx_to_node=trap))
    with pytest.raises(InputError, match="pickled"):
        load_graph(stored(tmp_path, adj_data=trap))
    assert not (tmp_path / "sprung").exists()


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


@pytest.mark.parametrize("content", [b"", b"not a zip file", b"PK\x03\x04 cut short"])
def test_what_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "graph.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"graph\.npz: is not an npz file, or a damaged one"):
        load_graph(tmp_path / "graph.npz")


def test_an_array_that_claims_more_than_is_there_is_not_allocated(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**14,)})
    path = stored(tmp_path, adj_data=None)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("adj_data.npy", header.getvalue() + b"12345678")
    with pytest.raises(InputError, match="shorter than it says"):
        load_graph(path)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "SIZE_LIMIT", 200)
    with pytest.raises(InputError, match="its arrays take more than"):
        load_graph(stored(tmp_path))


# All kinds


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_files_and_folders_are_told(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"absent{suffix}: there is no such file"):
        load_graph(tmp_path / f"absent{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(InputError, match=f"folder{suffix}: is a folder"):
        load_graph(tmp_path / f"folder{suffix}")
    with pytest.raises(InputError, match=f"folder{suffix}: is a folder"):
        save_graph(Graph.from_pairs(1, []), tmp_path / f"folder{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_that_is_not_there_is_told_on_saving(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        save_graph(Graph.from_pairs(1, []), tmp_path / "absent" / f"graph{suffix}")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="there is no folder"):
        save_graph(Graph.from_pairs(1, []), tmp_path / "file" / f"graph{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"graph{suffix}"
    save_graph(Graph.from_pairs(2, [[0, 1]]), path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def fail(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match="Permission denied"):
        save_graph(Graph.from_pairs(3, [[0, 2]]), path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["graph.txt", "graph", "graph.npz.bak"])
def test_an_unknown_suffix_is_told_with_the_known_ones(name: str, tmp_path: Path) -> None:
    for attempt in (lambda: load_graph(tmp_path / name), lambda: save_graph(Graph.from_pairs(1, []), tmp_path / name)):
        with pytest.raises(InputError, match=r"must end in \.npz, \.csv, \.graphml"):
            attempt()


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", [(1, 2), 1.5, None, True])
def test_names_that_are_neither_text_nor_number_are_refused(suffix: str, name: object, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="names must be text or whole numbers"):
        save_graph(Graph.from_pairs(2, [], names=(name, "b")), tmp_path / f"graph{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_text_that_numpy_would_cut_is_refused(tmp_path: Path) -> None:
    for about in ({"names": ("a\0",)}, {"class_names": ("a\0",)}):
        with pytest.raises(InputError, match="can't be written"):
            save_graph(Graph.from_pairs(1, [], **about), tmp_path / "graph.npz")


def test_a_written_file_has_the_rights_that_any_new_file_has(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    save_graph(Graph.from_pairs(1, []), tmp_path / "graph.npz")
    assert (tmp_path / "graph.npz").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_reading_files_needs_neither_torch_nor_networkx() -> None:
    loaded = "import sys, focusedcleaner.io; print('torch' in sys.modules, 'networkx' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "False"]
