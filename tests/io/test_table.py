"""CSV edge lists and node tables."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph, save_graph
from focusedcleaner.io.column_names import LABELS, plain_name
from focusedcleaner.io.node_table import UNKNOWN_LABELS
from focusedcleaner.io.text_table import TextTable
from tests.io.helpers import graphs, plain, relaxed, split


def edges(folder: Path, text: str, nodes: str | None = None) -> Path:
    path = folder / "edges.csv"
    path.write_text(text, encoding="utf-8")
    if nodes is not None:
        (folder / "edges.nodes.csv").write_text(nodes, encoding="utf-8")
    return path


@pytest.mark.filterwarnings("ignore::focusedcleaner.errors.InputWarning")
@relaxed
@given(graph=graphs(plain, min_attributes=1), suffix=st.sampled_from([".csv", ".tsv", ".parquet"]))
def test_tables_keep_what_a_person_sees(graph: Graph, suffix: str, tmp_path: Path) -> None:
    names = [str(graph.name(node)) for node in range(graph.num_nodes)]
    words = graph.class_names or tuple(map(str, range(graph.num_classes)))
    labels = None if graph.labels is None else [words[label] if label >= 0 else "" for label in graph.labels]
    assume(graph.attribute_names is None or not all(name.isdigit() for name in graph.attribute_names))
    assume(all(word.lower() not in UNKNOWN_LABELS and not word.endswith(".0") for word in words))
    taken = {plain_name(name) for name in graph.attribute_names or ()}
    assume(not taken & {"id", "label", "split", *LABELS} and "" not in taken)
    save_graph(graph, tmp_path / f"graph{suffix}")
    back = load_graph(tmp_path / f"graph{suffix}")
    assert [str(back.name(node)) for node in range(back.num_nodes)] == names
    seen = back.class_names or tuple(map(str, range(back.num_classes)))
    assert labels == (None if back.labels is None else [seen[label] if label >= 0 else "" for label in back.labels])
    same = {"names": None, "class_names": None, "labels": None}
    assert replace(back, **same) == replace(graph, **same)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_a_table_gives_the_same_graph_back(suffix: str, tmp_path: Path) -> None:
    graph = Graph.from_pairs(
        4,
        [[0, 1], [1, 2]],
        names=("ann", "b;b", 'c"c, d', "007"),
        labels=[1, 0, -1, 1],
        class_names=("ham", "spam"),
        split=split([0], [1], [3]),
        attributes=[[0.1, 0], [0, 0], [1, 2], [1e-300, 0]],
        attribute_names=("age; years", "few"),
    )
    save_graph(graph, tmp_path / f"graph{suffix}")
    assert load_graph(tmp_path / f"graph{suffix}") == graph
    assert load_graph(tmp_path / f"graph{suffix}", nodes=tmp_path / f"graph.nodes{suffix}") == graph
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([f"graph{suffix}", f"graph.nodes{suffix}"])


def test_a_graph_is_written_as_snap_does(tmp_path: Path) -> None:
    graph = Graph.from_pairs(3, [[0, 1], [1, 2]], names=("ann", "bob", "c"), labels=[0, 1, -1])
    save_graph(graph, tmp_path / "graph.txt")
    assert (tmp_path / "graph.txt").read_text() == "# source target\nann bob\nbob c\n"
    assert load_graph(tmp_path / "graph.txt") == graph
    for name in ("a b", "#a", "a,b"):
        with pytest.raises(InputError, match=r"write a \.csv"):
            save_graph(replace(graph, names=("x", "y", name)), tmp_path / "other.txt")


def test_numbered_nodes_and_attributes_need_no_names(tmp_path: Path) -> None:
    graph = Graph.from_pairs(2, [], attributes=[[1.0, 2.0], [0, 0]], labels=[0, -1], split=split([], [], []))
    save_graph(graph, tmp_path / "graph.csv")
    with pytest.warns(InputWarning, match="only one class is marked"):
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
    said = r"edges\.csv: weight from Weight; weights and other columns \(Id\) are kept in the output, not used"
    with pytest.warns(InputWarning, match=said):
        graph = load_graph(edges(tmp_path, "Id,Target,Weight,Source\nx,b,2,a\ny,c,1,b\n"))
    assert graph == Graph.from_pairs(3, [[0, 1], [1, 2]], names=("a", "b", "c"))


def test_columns_that_are_not_used_are_named_once(tmp_path: Path) -> None:
    with pytest.warns(InputWarning) as caught:
        load_graph(edges(tmp_path, "src,dst,date,channel,remark\na,b,2020-01-01,web,x\nb,c,2020-01-02,app,y\n"))
    assert [str(warning.message).partition(": ")[2] for warning in caught] == [
        "time from date; times and other columns (channel, remark) are kept in the output, not used to find edges",
    ]
    with pytest.warns(InputWarning, match=r": columns \(3\) are kept in the output, not used to find edges"):
        load_graph(edges(tmp_path, "a,b,x\nb,c,y\n"))


def test_edges_are_simplified_with_one_warning(tmp_path: Path) -> None:
    with pytest.warns(InputWarning) as caught:
        load_graph(edges(tmp_path, "a,b,1\nb,a,1\na,a,1\nb,c,0.5\nb,c,0.5\na,c,0\n"))
    assert [str(warning.message).partition(": ")[2] for warning in caught] == [
        "weight from column 3; weights are kept in the output, not used to find edges",
        "1 edge was given in both directions (directions are not used), "
        "1 self-loop, 1 repeated edge and 1 weight-0 edge were dropped",
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
        ("a\nb\n", None, "edges.csv: an edge table needs two columns"),
        ("a,b\n\na,b,c\n", None, "edges.csv: line 3: has 3 columns where the first row has 2"),
        ("a,b\na,\n", None, "edges.csv: line 2: a node id is empty"),
        ("source,target,weight\na,b,1\n\na,c,x\n", None, "edges.csv: line 4: the weight 'x' is not a number"),
        ("a,b,1e999\n", None, "edges.csv: line 1: the weight '1e999' is not finite"),
        ("one,two\na,b\nc,d\n", None, "edges.csv: the first row (one, two) may be a header or an edge"),
        ("one,two,n\n1,2,3\n", None, "edges.csv: which columns hold the ends of an edge?"),
        ('a,"b\n', None, "edges.csv: line 1: a quote is opened and never closed"),
        ('a,b\nc,"d\ne"\nx,5"\n', None, "edges.csv: line 4: a quote inside a cell"),
        ("a,b\n", "", "edges.nodes.csv: which column holds the nodes' ids?"),
        ("a,b\n", "id\n", "edges.nodes.csv: 2 of the 2 nodes with edges are not in it, such as node 'a' (line 1 of"),
        ("", "id\n", "edges.csv: the graph is empty"),
        ("a,b\n", "id,x,x\na,1,1\nb,1,1\n", "edges.nodes.csv: the node table has two columns called 'x'"),
        ("a,b\n", "id\na\nb\na\n", "edges.nodes.csv: line 4: node 'a' comes twice"),
        ("a,b\n", "id,x\n,1\n", "edges.nodes.csv: line 2: a node id is empty"),
        ("a,b\n", "id,x\na,1\nb,inf\n", "edges.nodes.csv: line 3: the value of 'x' 'inf' is not finite"),
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
    with pytest.raises(InputError, match=r"graph\.npz: a node table goes with an edge table"):
        load_graph(tmp_path / "graph.npz", nodes=tmp_path / "absent.csv")


def test_a_long_list_is_read_whole(tmp_path: Path) -> None:
    pairs = np.random.default_rng(0).integers(0, 20_000, size=(100_000, 2))
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    pairs = np.unique(pairs, axis=0)
    path = edges(tmp_path, "\n".join(f"n{u},n{v}" for u, v in pairs.tolist()))
    assert load_graph(path).num_edges == len(pairs)


def test_nodes_that_the_node_table_lacks_have_no_class(tmp_path: Path) -> None:
    path = edges(tmp_path, "a,b\nb,q\n", "id,age,label\na,30,x\nb,40,y\nc,50,x\n")
    with pytest.warns(InputWarning, match="1 node of the edges is not in it, so nothing is known of them"):
        graph = load_graph(path)
    assert graph.names == ("a", "b", "c", "q")
    assert graph.labels.tolist() == [0, 1, 0, -1]  # type: ignore[union-attr]
    assert graph.attributes.toarray()[:, 0].tolist() == [30, 40, 50, 40]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "names", "notes"),
    [
        ("user,item\n1,1\n1,2\n2,1\n", ("user 1", "user 2", "item 1", "item 2"), ("user", "item")),
        ("reviewer_id,product_id\nr1,p1\nr2,p1\n", ("r1", "r2", "p1"), ("reviewer", "product")),
        ("item,user\n1,7\n", (7, 1), ("user", "item")),
    ],
)
def test_two_kinds_of_things_are_two_sets_of_nodes(
    text: str, names: tuple[object, ...], notes: tuple[str, str], tmp_path: Path
) -> None:
    with pytest.warns(InputWarning, match="two kinds of nodes"):
        graph = load_graph(edges(tmp_path, text))
    assert graph.names == names
    assert (graph.notes["source_column"], graph.notes["target_column"]) == notes
    save_graph(graph, tmp_path / "graph.npz")
    assert load_graph(tmp_path / "graph.npz").notes == graph.notes


def test_bipartite_can_be_said(tmp_path: Path) -> None:
    path = edges(tmp_path, "1,1\n1,2\n")
    with pytest.warns(InputWarning, match="two kinds of nodes"):
        graph = load_graph(path, bipartite=True)
    assert graph.names == ("source 1", "target 1", "target 2")
    path = edges(tmp_path, "user,item\n1,2\n2,3\n")
    with pytest.warns(InputWarning, match="edges from columns user, item"):
        graph = load_graph(path, bipartite=False)
    assert graph.names == (1, 2, 3)
    assert not graph.notes


def test_the_node_table_of_one_kind_goes_with_its_column(tmp_path: Path) -> None:
    path = edges(tmp_path, "user,item\n1,1\n2,1\n2,2\n", "user_id,age\n2,20\n1,10\n")
    with pytest.warns(InputWarning):
        graph = load_graph(path)
    assert graph.names == ("user 2", "user 1", "item 1", "item 2")
    assert graph.attributes.toarray()[:2, 0].tolist() == [20, 10]  # type: ignore[union-attr]


def test_columns_are_chosen_by_option(tmp_path: Path) -> None:
    path = edges(tmp_path, "a,b,c,d\nx,y,5,1\ny,z,6,2\n", "k,kind,x\nx,good,1\ny,bad,2\nz,,3\n")
    with pytest.warns(InputWarning):
        graph = load_graph(path, source="b", target="A", weight="c", time="d", id="k", label="kind")
    assert graph == Graph.from_pairs(
        3, [[0, 1], [1, 2]], names=("x", "y", "z"), labels=[1, 0, -1], class_names=("bad", "good"),
        attributes=[[1], [2], [3]], attribute_names=("x",),
    )  # fmt: skip
    with pytest.raises(InputError, match="there is no column 'q'; the columns are a, b, c, d"):
        load_graph(path, source="q", target="b")
    with (
        pytest.raises(InputError, match="there is no column 'q'; the columns are k, kind, x"),
        pytest.warns(InputWarning),
    ):
        load_graph(path, source="a", target="b", id="q")
    with pytest.raises(InputError, match="must be different columns"):
        load_graph(path, source="a", target="A")
    save_graph(graph, tmp_path / "graph.npz")
    with pytest.raises(InputError, match="the option source goes with an edge table only"):
        load_graph(tmp_path / "graph.npz", source="a")


cells = st.text(alphabet='ab1, ;\n"é', max_size=4)


@relaxed
@given(
    rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=8),
    delimiter=st.sampled_from(",;\t"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_the_reader_agrees_with_the_csv_module(
    rows: list[tuple[str, str]], delimiter: str, quoting: Literal[0, 1], tmp_path: Path
) -> None:
    path = tmp_path / ("edges.tsv" if delimiter == "\t" else "edges.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        # a header fixes the delimiter, which is otherwise read off the first line
        csv.writer(file, delimiter=delimiter, quoting=quoting).writerows([("source", "target"), *rows])
    with path.open(newline="", encoding="utf-8") as file:
        _, *expected = [[cell.strip() for cell in row] for row in csv.reader(file, delimiter=delimiter)]
    # a line of nothing but blanks and tabs is a blank line
    blank = [
        delimiter == "\t" and quoting == csv.QUOTE_MINIMAL and not any(set(cell) - {" "} for cell in row)
        for row in rows
    ]
    table = TextTable.read(path)
    assert table.width == 2
    read = [column.to_list() for column in table.columns([0, 1], header=True)]
    assert [list(row) for row in zip(*read, strict=True)] == [
        row for row, skipped in zip(expected, blank, strict=True) if not skipped
    ]
