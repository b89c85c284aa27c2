"""Graph folders, read: what was written comes back, and a folder that was altered is refused in one line."""

from __future__ import annotations

import json
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.adjacency_rows import AdjacencyRows
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph
from focusedcleaner.io.folder import INDEX, folder_checksum, index_checksum, open_folder, verify_folder
from focusedcleaner.io.folder_writer import write_folder
from tests.strategies import labelled_graphs


@st.composite
def named_graphs(draw: st.DrawFn) -> Graph:
    """Graphs with ids that are numbers or texts, or without any."""
    graph = draw(labelled_graphs())
    kind = draw(st.sampled_from(["none", "numbers", "texts"]))
    order = draw(st.permutations(range(graph.num_nodes)))
    if kind == "none":
        return graph
    names = [3 * place + 5 for place in order] if kind == "numbers" else [f"é{place}" for place in order]
    parts = {part: getattr(graph, part) for part in ("attributes", "labels", "split", "class_names")}
    return Graph(graph.num_nodes, graph.edges, names=names, **parts)


def by_names(graph: Graph) -> dict[str, object]:
    """Everything about a graph by the names of its nodes."""
    name = [graph.name(node) for node in range(graph.num_nodes)]
    features = None if graph.features is None else graph.features.toarray()
    rows = {name[node]: None if features is None else features[node].tolist() for node in range(graph.num_nodes)}
    labels = {name[node]: None if graph.labels is None else int(graph.labels[node]) for node in range(graph.num_nodes)}
    parts = [] if graph.split is None else [{name[node] for node in part} for part in graph.split.parts]
    edges = {frozenset((name[u], name[v])) for u, v in graph.edges.tolist()}
    return {"edges": edges, "rows": rows, "labels": labels, "parts": parts, "classes": graph.class_names}


@settings(max_examples=30, deadline=None)
@given(named_graphs())
def test_what_was_written_comes_back(graph: Graph) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "G"
        write_folder(path, {"source": "a test"}, graph)
        verify_folder(path)
        opened = load_graph(path)
        assert by_names(opened) == by_names(graph)
        rows = AdjacencyRows.of(opened.num_nodes, np.array(opened.edges))
        for name in ("indptr", "indices", "entry_edges"):
            assert np.array_equal(getattr(opened.rows, name), getattr(rows, name))
        assert opened.in_canonical_order() is opened


def test_a_folder_is_in_the_order_in_which_methods_compute(tmp_path: Path) -> None:
    graph = synthetic(80, seed=3)
    write_folder(tmp_path / "G", {}, graph)
    seen = graph.as_seen_by_defender()
    assert np.array_equal(open_folder(tmp_path / "G").edges, seen.in_canonical_order().edges)
    assert list(open_folder(tmp_path / "G").names or ()) == seen.canonical_order.nodes.tolist()


def test_a_copy_for_another_process_is_opened_there(tmp_path: Path) -> None:
    write_folder(tmp_path / "G", {}, synthetic(60))
    graph = open_folder(tmp_path / "G")
    copied = pickle.dumps(graph.rows)
    assert len(copied) < 1000
    assert np.array_equal(pickle.loads(copied).edges, graph.edges)


def test_the_fingerprint_follows_the_content_and_the_split(tmp_path: Path) -> None:
    graph = synthetic(60)
    write_folder(tmp_path / "A", {"graph": "one.csv"}, graph)
    write_folder(tmp_path / "B", {"graph": "other.csv"}, graph)
    write_folder(tmp_path / "C", {}, graph.without_edges(graph.edges[:1]))
    a, b, c = (open_folder(tmp_path / name) for name in "ABC")
    assert a.fingerprint() == b.fingerprint() != c.fingerprint()
    assert a.fingerprint() != a.with_split(None).fingerprint()
    assert folder_checksum(tmp_path / "A") == folder_checksum(tmp_path / "B")


def test_changed_edges_are_no_longer_those_of_the_folder(tmp_path: Path) -> None:
    write_folder(tmp_path / "G", {}, synthetic(60))
    graph = open_folder(tmp_path / "G")
    assert graph.with_split(None).stored is graph.stored is not None
    assert graph.without_edges(graph.edges[:1]).stored is None


def index(**changed: object) -> Callable[[Path], None]:
    """Change fields of the index, with a checksum that fits."""

    def change(folder: Path) -> None:
        fields = json.loads((folder / INDEX).read_text()) | changed
        fields["checksum"] = index_checksum(fields)
        (folder / INDEX).write_text(json.dumps(fields))

    return change


def flip(name: str) -> Callable[[Path], None]:
    """Change the last byte of a file."""

    def change(folder: Path) -> None:
        content = bytearray((folder / name).read_bytes())
        content[-1] ^= 1
        (folder / name).write_bytes(content)

    return change


def cut(name: str) -> Callable[[Path], int]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-8])


ALTERED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a missing array": (lambda folder: (folder / "indices.npy").unlink(), "indices.npy is missing"),
    "a truncated array": (cut("x_data.npy"), "x_data.npy was altered: it has"),
    "an altered block": (flip("entry_edges.npy"), "entry_edges.npy was altered: block 1 of 1 is not as it was written"),
    "altered ids": (flip("ids.npy"), "ids.npy was altered"),
    "another version": (index(version=2), "graph.json has version 2, and this program reads version 1"),
    "another format": (index(format="a recipe"), "graph.json is not that of a graph folder"),
    "an index that was edited": (
        lambda folder: (folder / INDEX).write_text(
            (folder / INDEX).read_text().replace('"num_nodes": 60', '"num_nodes": 61')
        ),
        "graph.json was altered: its checksum is another",
    ),
    "an index that is cut off": (cut(INDEX), "graph.json is not JSON"),
    "an index without files": (index(files={}), "edges.npy is missing"),
    "an index of a wrong kind": (index(num_nodes="many"), "graph.json is damaged: num_nodes is not what it should be"),
    "more nodes than rows": (index(num_nodes=61), "indptr.npy has 61 rows where 62 are needed"),
    "a path out of the folder": (index(files={"../x": {"bytes": 1, "blocks": []}}), "graph.json is damaged: files"),
}


@pytest.mark.parametrize(("alter", "message"), ALTERED.values(), ids=ALTERED)
def test_an_altered_folder_is_refused(alter: Callable[[Path], object], message: str, tmp_path: Path) -> None:
    write_folder(tmp_path / "G", {}, synthetic(60, num_attributes=10))
    alter(tmp_path / "G")
    with pytest.raises(InputError, match="G: ") as raised:
        load_graph(tmp_path / "G")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_array_of_another_type_is_refused(tmp_path: Path) -> None:
    write_folder(tmp_path / "G", {}, synthetic(60, num_attributes=10))
    np.save(tmp_path / "G" / "labels.npy", np.zeros((60, 1)))
    about = json.loads((tmp_path / "G" / INDEX).read_text())["files"]
    about["labels.npy"]["bytes"] = (tmp_path / "G" / "labels.npy").stat().st_size
    index(files=about)(tmp_path / "G")
    with pytest.raises(InputError, match="holds float64 of 2 dimensions"):
        open_folder(tmp_path / "G")
