"""CSV edge lists and node tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph, save_graph
from tests.io.helpers import graphs, plain, relaxed, split


def edges(folder: Path, text: str, nodes: str | None = None) -> Path:
    path = folder / "edges.csv"
    path.write_text(text, encoding="utf-8")
    if nodes is not None:
        (folder / "edges.nodes.csv").write_text(nodes, encoding="utf-8")
    return path


@relaxed
@given(graph=graphs(plain, min_attributes=1))
def test_tables_keep_what_a_person_sees(graph: Graph, tmp_path: Path) -> None:
    names = [str(graph.name(node)) for node in range(graph.num_nodes)]
    words = graph.class_names or tuple(map(str, range(graph.num_classes)))
    labels = None if graph.labels is None else [words[label] if label >= 0 else "" for label in graph.labels]
    assume(graph.attribute_names is None or not all(name.isdigit() for name in graph.attribute_names))
    save_graph(graph, tmp_path / "graph.csv")
    back = load_graph(tmp_path / "graph.csv")
    assert [str(back.name(node)) for node in range(back.num_nodes)] == names
    seen = back.class_names or tuple(map(str, range(back.num_classes)))
    assert labels == (None if back.labels is None else [seen[label] if label >= 0 else "" for label in back.labels])
    same = {"names": None, "class_names": None, "labels": None}
    assert replace(back, **same) == replace(graph, **same)  # type: ignore[arg-type]


def test_a_table_gives_the_same_graph_back(tmp_path: Path) -> None:
    graph = Graph.from_pairs(
        4,
        [[0, 1], [1, 2]],
        names=("ann", "b;b", 'c"c, d', "007"),
        labels=[1, 0, -1, 1],
        class_names=("ham", "spam"),
        split=split([0], [1], [3]),
        attributes=[[0.1, 0], [0, 0], [1, 0], [1e-300, 0]],
        attribute_names=("age; years", "zero"),
    )
    save_graph(graph, tmp_path / "graph.csv")
    assert load_graph(tmp_path / "graph.csv") == graph
    assert load_graph(tmp_path / "graph.csv", nodes=tmp_path / "graph.nodes.csv") == graph
    assert sorted(file.name for file in tmp_path.iterdir()) == ["graph.csv", "graph.nodes.csv"]


def test_numbered_nodes_and_attributes_need_no_names(tmp_path: Path) -> None:
    graph = Graph.from_pairs(2, [], attributes=[[1.0, 2.0], [0, 0]], labels=[0, -1], split=split([], [], []))
    save_graph(graph, tmp_path / "graph.csv")
    assert load_graph(tmp_path / "graph.csv") == graph


@pytest.mark.parametrize(
    "text",
    ["b,a\nb,c\n", "source,target\nb,a\nb,c", "Source;Target\nb;a\n\nb;c\n", "b\ta\r\nb\tc\r\n", "\ufeffb, a\n b ,c\n"],
)
def test_edge_lists_of_any_style_are_read_without_a_warning(text: str, tmp_path: Path) -> None:
    graph = load_graph(edges(tmp_path, text))
    assert graph.names == ("b", "a", "c")
    assert graph.edges.tolist() == [[0, 1], [0, 2]]


def test_numbers_are_put_in_order(tmp_path: Path) -> None:
    assert load_graph(edges(tmp_path, "10,2\n2,7\n")).names == (2, 7, 10)
    assert load_graph(edges(tmp_path, "2,1\n0,1\n")).names is None
    assert load_graph(edges(tmp_path, "10,02\n")).names == ("10", "02")


def test_columns_are_found_by_name_and_others_passed_over(tmp_path: Path) -> None:
    with pytest.warns(InputWarning, match=r"edges\.csv: 1 weight was set to 1"):
        graph = load_graph(edges(tmp_path, "Id,Target,Weight,Source\nx,b,2,a\ny,c,1,b\n"))
    assert graph == Graph.from_pairs(3, [[0, 1], [1, 2]], names=("a", "b", "c"))


def test_edges_are_simplified_with_one_warning(tmp_path: Path) -> None:
    with pytest.warns(InputWarning) as caught:
        load_graph(edges(tmp_path, "a,b,1\nb,a,1\na,a,1\nb,c,0.5\na,c,0\n"))
    assert [str(warning.message).partition(": ")[2] for warning in caught] == [
        "1 self-loop, 1 repeated edge and 1 weight-0 edge were dropped, 1 weight was set to 1"
    ]


def test_the_node_table_is_read(tmp_path: Path) -> None:
    nodes = "ID;age;Label;split\nz;30;spam;train\ny;2.5;;\nx;0;ham;test\n"
    graph = load_graph(edges(tmp_path, "x,z\n", nodes))
    assert graph == Graph.from_pairs(
        3,
        [[0, 2]],
        names=("z", "y", "x"),
        attributes=[[30], [2.5], [0]],
        attribute_names=("age",),
        labels=[1, -1, 0],
        class_names=("ham", "spam"),
        split=split([0], [], [2]),
    )


def test_labels_that_can_not_be_class_numbers_name_classes(tmp_path: Path) -> None:
    graph = load_graph(edges(tmp_path, "0,1\n", "id,label\n0,2019\n1,2008\n"))
    assert graph.class_names == ("2008", "2019")
    assert graph.labels.tolist() == [1, 0]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "nodes", "message"),
    [
        ("", None, "edges.csv: the graph is empty"),
        ("source,target\n", None, "edges.csv: the graph is empty"),
        ("a\nb\n", None, "edges.csv: line 1: needs the columns source, target"),
        ("a,b,1,x\n", None, "edges.csv: line 1: needs the columns source, target"),
        ("a,b\n\na,b,c\n", None, "edges.csv: line 3: has 3 columns where the first row has 2"),
        ("a,b\na,\n", None, "edges.csv: line 2: a node id is empty"),
        ("a,b,x\n", None, "edges.csv: line 1: the weight 'x' is not a number"),
        ("a,b,nan\n", None, "edges.csv: edge a–b has weight nan"),
        ("a,b,-1\n", None, "edges.csv: edge a–b has weight -1"),
        ("one,two\n1,2\n", None, "edges.csv: line 1: looks like a header"),
        ('a,"b\n', None, "edges.csv: line 1: unexpected end of data"),
        ("a,b\nb,q\n", "id\na\nb\n", "edges.csv: line 2: node 'q' is not in the node table"),
        ("a,b\n", "", "edges.nodes.csv: the node table needs a header with a column called id"),
        ("a,b\n", "id\n", "edges.csv: line 1: node 'a' is not in the node table"),
        ("", "id\n", "edges.csv: the graph is empty"),
        ("a,b\n", "id,x,x\na,1,1\n", "edges.nodes.csv: the node table has two columns called 'x'"),
        ("a,b\n", "id\na\nb\na\n", "edges.nodes.csv: line 4: node 'a' comes twice"),
        ("a,b\n", "id,x\n,1\n", "edges.nodes.csv: line 2: a node id is empty"),
        ("a,b\n", "id,x\na,1\nb,red\n", "edges.nodes.csv: line 3: the value of 'x' 'red' is not a number"),
        ("a,b\n", "id,x\na,1\nb,\n", "edges.nodes.csv: line 3: the value of 'x' '' is not a number"),
        ("a,b\n", "id,x\na,1\nb,inf\n", "edges.csv: attributes must be finite: node 1"),
        ("a,b\n", "id,split\na,dev\nb,\n", "edges.nodes.csv: line 2: the split 'dev' must be train"),
        ("a,b\n", "id,x\na\n", "edges.nodes.csv: line 2: has 1 columns"),
    ],
)
def test_invalid_tables_are_refused(text: str, nodes: str | None, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        load_graph(edges(tmp_path, text, nodes))
    assert str(error.value).startswith(f"{tmp_path}/{message}")
    assert "\n" not in str(error.value)


def test_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_bytes("é,b\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"edges\.csv: is not UTF-8 text"):
        load_graph(tmp_path / "edges.csv")


def test_a_node_table_is_not_an_edge_list(tmp_path: Path) -> None:
    for attempt in (lambda path: load_graph(path), lambda path: save_graph(Graph.from_pairs(1, []), path)):
        with pytest.raises(InputError, match="node table"):
            attempt(edges(tmp_path, "", "id\n").with_name("edges.nodes.csv"))


def test_a_named_node_table_must_be_there_and_be_asked_for_an_edge_list(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.csv: there is no such file"):
        load_graph(edges(tmp_path, "a,b\n"), nodes=tmp_path / "absent.csv")
    with pytest.raises(InputError, match=r"graph\.npz: a node table goes with an edge list"):
        load_graph(tmp_path / "graph.npz", nodes=tmp_path / "absent.csv")


def test_a_long_list_is_read_whole(tmp_path: Path) -> None:
    pairs = np.random.default_rng(0).integers(0, 20_000, size=(100_000, 2))
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    pairs = np.unique(pairs, axis=0)
    path = edges(tmp_path, "\n".join(f"n{u},n{v}" for u, v in pairs.tolist()))
    assert load_graph(path).num_edges == len(pairs)
