"""Graph files written again without some edges."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, no_pairs
from focusedcleaner.io import TableOptions, load_graph
from focusedcleaner.io.disk import checksum
from focusedcleaner.io.npz import raw_adjacency
from focusedcleaner.io.original import Original, open_original
from tests.io.helpers import relaxed

pytestmark = pytest.mark.filterwarnings("ignore::focusedcleaner.errors.InputWarning")


def opened(path: Path, content: str | bytes) -> tuple[Graph, Original]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load_graph(path), open_original(path, TableOptions(), sha256=checksum(path))


def pair(graph: Graph, *names: object) -> np.ndarray:
    numbers = {graph.name(node): node for node in range(graph.num_nodes)}
    return np.array([[numbers[name] for name in names]]).reshape(-1, 2)


def test_all_rows_of_an_edge_go_and_everything_else_stays(tmp_path: Path) -> None:
    text = '\ufeffFrom;To;note;date\r\na;b;"x;\r\ny";1\r\n\r\nb;c;"";2\r\nb;a;;3\r\n a ;b;z;4\r\nc;c;q;5'
    graph, original = opened(tmp_path / "e.csv", text)
    content = original.content(graph, pair(graph, "a", "b"), no_pairs()).decode()
    assert content == '\ufeffFrom;To;note;date\r\n\r\nb;c;"";2\r\nc;c;q;5'
    assert original.details(graph, pair(graph, "a", "b")) == {"rows": ["1;3;4"], "time": ["1;3;4"]}
    added = original.content(graph, no_pairs(), pair(graph, "a", "c")).decode()
    assert added == text + "\na;c;;\r\n"


def test_comments_of_snap_stay(tmp_path: Path) -> None:
    graph, original = opened(tmp_path / "e.txt", "# Nodes: 3\n0 1\n1\t2  \n# more\n2   1\n0 2\n")
    content = original.content(graph, pair(graph, 1, 2), pair(graph, 0, 1)[:0]).decode()
    assert content == "# Nodes: 3\n0 1\n# more\n0 2\n"


def test_parquet_keeps_its_columns_and_their_types(tmp_path: Path) -> None:
    table = pl.DataFrame({"u": [1, 2, 2], "v": [2, 1, 3], "at": [0.5, None, 1.5], "tags": [["x"], [], None]})
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    graph, original = opened(tmp_path / "e.parquet", buffer.getvalue())
    content = original.content(graph, pair(graph, 1, 2), pair(graph, 1, 3))
    back = pl.read_parquet(io.BytesIO(content))
    assert back.schema == table.schema
    assert back.rows() == [(2, 3, 1.5, None), (1, 3, None, None)]


def test_an_id_of_two_kinds_is_two_nodes(tmp_path: Path) -> None:
    graph, original = opened(tmp_path / "e.csv", "user,item,stars\n1,1,5\n1,2,3\n2,1,4\n")
    content = original.content(graph, pair(graph, "user 1", "item 2"), pair(graph, "user 2", "item 2")).decode()
    assert content == "user,item,stars\n1,1,5\n2,1,4\n2,2,\n"


def test_graphml_keeps_the_data_of_edges(tmp_path: Path) -> None:
    network = nx.DiGraph()
    network.add_edge("a", "b", weight=2.5, since="may")
    network.add_edge("b", "a", weight=1.0)
    network.add_edge("b", "c", since="june")
    buffer = io.BytesIO()
    nx.write_graphml_xml(network, buffer)
    graph, original = opened(tmp_path / "e.graphml", buffer.getvalue())
    back = nx.read_graphml(io.BytesIO(original.content(graph, pair(graph, "b", "c"), no_pairs())))
    assert list(back) == ["a", "b", "c"]
    assert list(back.edges(data=True)) == [("a", "b", {"weight": 2.5, "since": "may"}), ("b", "a", {"weight": 1.0})]


def test_npz_keeps_weights_and_directions(tmp_path: Path) -> None:
    matrix = {"adj_data": [2.0, 3.0, 4.0], "adj_indices": [1, 2, 0], "adj_indptr": [0, 2, 3, 3], "adj_shape": [3, 3]}
    buffer = io.BytesIO()
    np.savez(buffer, **{name: np.array(values) for name, values in matrix.items()})  # type: ignore[arg-type]
    graph, original = opened(tmp_path / "e.npz", buffer.getvalue())
    (tmp_path / "back.npz").write_bytes(original.content(graph, pair(graph, 0, 2), no_pairs()))
    assert raw_adjacency(tmp_path / "back.npz").toarray().tolist() == [[0, 2, 0], [4, 0, 0], [0, 0, 0]]


def test_formulas_are_escaped_once(tmp_path: Path) -> None:
    text = "source,target,=note\n=x,a,+1\n'=x,b,-1+1\na,b,@q\na,c,'ok\n"
    graph, original = opened(tmp_path / "e.csv", text)
    content = original.content(graph, pair(graph, "a", "b"), no_pairs())
    assert content.decode() == "source,target,'=note\n'=x,a,+1\n''=x,b,'-1+1\na,c,'ok\n"
    again, second = opened(tmp_path / "again.csv", content)
    assert set(again.names or ()) == {"=x", "'=x", "a", "b", "c"}
    assert second.content(again, no_pairs(), no_pairs()) == content


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("a,b\n")
    with pytest.raises(InputError, match="has changed since the graph was read"):
        open_original(path, TableOptions(), sha256="0")
    with pytest.raises(InputError, match="there is no such file"):
        open_original(tmp_path / "absent.csv", TableOptions(), sha256="0")


names = st.sampled_from(["a", "b", "c", "=d", "e,e", "'f", "1", 'g"g'])


@relaxed
@given(
    rows=st.lists(st.tuples(names, names, st.sampled_from(["", "x", "7", '"'])), min_size=1, max_size=12),
    data=st.data(),
)
def test_the_kept_and_the_removed_rows_are_all_rows(
    rows: list[tuple[str, ...]], data: st.DataObject, tmp_path: Path
) -> None:
    path = tmp_path / "e.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([("source", "target", "what"), *rows])
    graph = load_graph(path)
    original = open_original(path, TableOptions())
    chosen = data.draw(
        st.lists(st.sampled_from(graph.edges.tolist()), unique_by=tuple) if graph.num_edges else st.just([])
    )
    removed = np.array(chosen, dtype=np.int64).reshape(-1, 2)
    content = original.content(graph, removed, no_pairs())
    (tmp_path / "kept.csv").write_bytes(content)
    gone = sorted(int(row) for cell in original.details(graph, removed)["rows"] for row in cell.split(";"))
    kept = [row for number, row in enumerate(rows, 1) if number not in gone]
    ends = {frozenset((str(graph.name(u)), str(graph.name(v)))) for u, v in chosen}
    assert all((frozenset(row[:2]) in ends) == (number in gone) for number, row in enumerate(rows, 1))
    read = list(csv.reader(io.StringIO(content.decode(), newline="")))[1:]
    assert [[cell.removeprefix("'") for cell in row] for row in read] == [
        [cell.removeprefix("'") for cell in row] for row in kept
    ]
    if len(chosen) < graph.num_edges:
        left = load_graph(tmp_path / "kept.csv")
        pairs = [
            frozenset((str(one.name(u)), str(one.name(v))))
            for one in (left, graph.without_edges(removed))
            for u, v in one.edges.tolist()
        ]
        assert set(pairs[: left.num_edges]) == set(pairs[left.num_edges :])
