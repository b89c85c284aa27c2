"""CSV tables: an edge list, and beside it a node table with ids, labels, split and attributes."""

from __future__ import annotations

import csv
import io
from array import array
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.graph import PARTS, UNKNOWN, FloatArray, Graph, IntArray
from focusedcleaner.io import node_text
from focusedcleaner.io.disk import read_text
from focusedcleaner.io.simplify import simple_edges
from focusedcleaner.io.spreadsheet import escape, unescape

NODES_SUFFIX = ".nodes.csv"
LONGEST_LINE = 2**24
"""Most characters of a line, which is held in memory cell by cell."""

_SOURCE = ("source", "src", "from", "u")
_TARGET = ("target", "dst", "to", "v")


def load_table(path: Path, nodes: Path | None = None) -> Graph:
    """Read an edge list with columns source, target and weight, and its node table if there is one.

    Without a node table the nodes are those of the edge list, in the order of their first appearance, or in numerical
    order if all ids are integers.
    """
    ids: list[str] | None = None
    parts: dict[str, Any] = {}
    with prefix_errors(path):
        if path.name.endswith(NODES_SUFFIX):
            raise InputError(f"is a node table: use the edge list {path.name.removesuffix(NODES_SUFFIX)}.csv")
        edge_list = _edge_list(_read(path))
    if nodes is None and path.with_suffix(NODES_SUFFIX).is_file():
        nodes = path.with_suffix(NODES_SUFFIX)
    if nodes is not None:
        with prefix_errors(nodes):
            ids, parts = _node_table(_read(nodes))
    with prefix_errors(path):
        ids = _ids(edge_list) if ids is None else ids
        names, pairs = node_text.parse_ids(unescape(ids)), _numbered(edge_list, ids)
        edges = simple_edges(pairs, len(ids), source=str(path), both_ways=False, weights=edge_list.weights, names=names)
        return Graph(len(ids), edges, names=names, **parts)


@dataclass(frozen=True)
class _Table:
    """The non-empty rows of a CSV file, cells stripped, and their line numbers."""

    rows: list[list[str]]
    lines: list[int]

    @property
    def header(self) -> list[str]:
        return self.rows[0] if self.rows else []

    def body(self) -> _Table:
        return _Table(self.rows[1:], self.lines[1:])

    def column(self, number: int) -> list[str]:
        return [row[number] for row in self.rows]

    def numbers(self, columns: dict[int, str]) -> sp.csr_array:
        """The numbers in some columns, each called something in messages, as a sparse matrix."""
        entries, positions, starts = array("d"), array("q"), [0]
        for row, line in zip(self.rows, self.lines, strict=True):
            for position, (column, what) in enumerate(columns.items()):
                try:
                    value = float(row[column])
                except ValueError:
                    cell = node_text.shortened(row[column])
                    raise InputError(f"line {line}: the {what} {cell} is not a number") from None
                if value:
                    entries.append(value)
                    positions.append(position)
            starts.append(len(entries))
        parts = (np.array(entries), np.array(positions, dtype=np.int64), np.array(starts))
        return sp.csr_array(parts, shape=(len(self.rows), len(columns)))


def _read(path: Path) -> _Table:
    text = read_text(path)
    if len(text) > LONGEST_LINE and max(map(len, text.splitlines())) > LONGEST_LINE:
        raise InputError(f"has a line of more than {LONGEST_LINE:,} characters: write one row a line")
    # The delimiter is the most frequent of comma, semicolon and tab in the first line, outside quotes.
    unquoted = "".join(text.lstrip().partition("\n")[0].split('"')[::2])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=unquoted.count), strict=True)
    table = _Table([], [])
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if cells and cells != [""]:
                table.rows.append(cells)
                table.lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}: {error}") from None
    width = len(table.header)
    for row, line in zip(table.rows, table.lines, strict=True):
        if len(row) != width:
            raise InputError(f"line {line}: has {len(row):,} columns where the first row has {width:,}")
    return table


@dataclass(frozen=True)
class _EdgeList:
    pairs: list[tuple[str, str]]
    weights: FloatArray | None
    lines: list[int]
    has_header: bool

    def line_of(self, name: str) -> int:
        return next(line for pair, line in zip(self.pairs, self.lines, strict=True) if name in pair)


def _edge_list(table: _Table) -> _EdgeList:
    header = [cell.lower() for cell in table.header]
    sources = [column for column, cell in enumerate(header) if cell in _SOURCE]
    targets = [column for column, cell in enumerate(header) if cell in _TARGET]
    has_header = bool(sources and targets)
    if has_header:
        columns = [sources[0], targets[0], *(column for column, cell in enumerate(header) if cell == "weight")][:3]
        table = table.body()
    else:
        columns = list(range(len(header)))
        if len(header) not in (0, 2, 3):
            raise InputError(f"line {table.lines[0]}: needs the columns source, target and perhaps weight")
    pairs = [(row[columns[0]], row[columns[1]]) for row in table.rows]
    weights = table.numbers({columns[2]: "weight"}).toarray()[:, 0] if len(columns) == 3 else None
    return _EdgeList(pairs, weights, table.lines, has_header)


def _ids(edge_list: _EdgeList) -> list[str]:
    """The distinct node ids of an edge list."""
    if not edge_list.pairs:
        raise InputError("the graph is empty: it has no edges and no node table")
    ids = list(dict.fromkeys(chain.from_iterable(edge_list.pairs)))
    for name in ids:
        if problem := _id_problem(name):
            raise InputError(f"line {edge_list.line_of(name)}: {problem}")
    if node_text.all_integers(ids):
        return sorted(ids, key=int)
    others = edge_list.pairs[1:]
    if not edge_list.has_header and others and node_text.all_integers(chain.from_iterable(others)):
        raise InputError(f"line {edge_list.lines[0]}: looks like a header: call the columns source, target and weight")
    return ids


def _id_problem(name: str) -> str:
    """Why a cell can't be a node id; empty if it can."""
    problem = node_text.name_problem(name)
    return "a node id is empty" if not name else f"node {node_text.shortened(name)}: {problem}" if problem else ""


def _numbered(edge_list: _EdgeList, ids: list[str]) -> IntArray:
    """The node numbers of the edge list, M × 2."""
    number = {name: index for index, name in enumerate(ids)}
    try:
        return np.array([(number[u], number[v]) for u, v in edge_list.pairs], dtype=np.int64)
    except KeyError as error:
        unknown = error.args[0]
        line, name = edge_list.line_of(unknown), node_text.shortened(unknown)
        raise InputError(f"line {line}: node {name} is not in the node table") from None


def _node_table(table: _Table) -> tuple[list[str], dict[str, Any]]:
    """N ids, and labels, split and attributes as `Graph` takes them."""
    header = [cell.lower() if cell.lower() in node_text.RESERVED else cell for cell in table.header]
    if "id" not in header:
        raise InputError("the node table needs a header with a column called id")
    if repeated := [cell for cell, number in Counter(header).items() if number > 1]:
        raise InputError(f"the node table has two columns called {node_text.shortened(repeated[0])}")
    body = table.body()
    ids = body.column(header.index("id"))
    seen: set[str] = set()
    for name, line in zip(ids, body.lines, strict=True):
        if problem := f"node {name!r} comes twice" if name in seen else _id_problem(name):
            raise InputError(f"line {line}: {problem}")
        seen.add(name)
    parts: dict[str, Any] = {}
    if "label" in header:
        words = unescape(body.column(header.index("label")))
        parts["labels"], parts["class_names"] = node_text.parse_labels(words)
        node_text.checked_texts(parts["class_names"], "class name")
    if "split" in header:
        words = body.column(header.index("split"))
        for word, line in zip(words, body.lines, strict=True):
            if word not in ("", *PARTS):
                raise InputError(
                    f"line {line}: the split {node_text.shortened(word)} must be train, val, test or empty"
                )
        parts["split"] = node_text.parse_split(words)
    columns = {column: cell for column, cell in enumerate(header) if cell not in node_text.RESERVED}
    if columns:
        parts["attributes"] = body.numbers({column: f"value of {cell!r}" for column, cell in columns.items()})
        keys = node_text.checked_texts(unescape(list(columns.values())), "attribute name")
        parts["attribute_names"] = node_text.names_of_keys(keys or ())
    return ids, parts


def table_files(graph: Graph, path: Path) -> dict[Path, bytes]:
    """The content of the edge list, and of the node table beside it.

    Ids and labels are written as text. The order of the class names and classes without a node are not kept, and text
    that looks like an integer is read as one.
    """
    with prefix_errors(path):
        if path.name.endswith(NODES_SUFFIX):
            raise InputError("is the name of a node table: use the edge list's")
        node_text.check_table_texts(graph)
        ids = node_text.id_texts(graph)
        sources, targets = ([ids[node] for node in nodes] for nodes in graph.edges.T.tolist())
        return {
            path.with_suffix(NODES_SUFFIX): _csv(_node_columns(graph, ids)),
            path: _csv({"source": sources, "target": targets}),
        }


def _node_columns(graph: Graph, ids: list[str]) -> dict[str, list[str]]:
    columns = {"id": ids}
    if graph.labels is not None:
        words = node_text.class_words(graph)
        columns["label"] = ["" if label == UNKNOWN else words[label] for label in graph.labels.tolist()]
    if graph.split is not None:
        columns["split"] = node_text.split_words(graph)
    if graph.attributes is not None:
        matrix = graph.attributes.tocsc()
        for column, key in enumerate(node_text.attribute_keys(graph)):
            # repr is the shortest text that is read as the same number.
            columns[key] = [repr(value).removesuffix(".0") for value in matrix[:, [column]].toarray().ravel().tolist()]
    return columns


def _csv(columns: dict[str, list[str]]) -> bytes:
    """Comma-separated rows; a header with semicolons is quoted, so that they are not taken for the delimiter."""
    text = io.StringIO(newline="")
    ambiguous = any(";" in name for name in columns)
    header = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if ambiguous else csv.QUOTE_MINIMAL)
    header.writerow(map(escape, columns))
    cells = (map(escape, column) for column in columns.values())
    csv.writer(text, lineterminator="\n").writerows(zip(*cells, strict=True))
    return text.getvalue().encode()
