"""CSV: an edge list, and beside it a table of what is known about the nodes."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from focusedcleaner.errors import InputError
from focusedcleaner.graph import UNKNOWN, FloatArray, Graph, IntArray
from focusedcleaner.io.disk import prefix_errors, read_text, write_files
from focusedcleaner.io.simplify import (
    PARTS,
    RESERVED,
    attribute_keys,
    class_words,
    ids_as_text,
    ids_from_text,
    labels_from_words,
    names_of_keys,
    plain_texts,
    simple_edges,
    split_from_words,
    split_words,
)

NODES_SUFFIX = ".nodes.csv"

_SOURCE = ("source", "src", "from", "u")
_TARGET = ("target", "dst", "to", "v")
_DELIMITERS = ",;\t"


@dataclass(frozen=True)
class _Table:
    """The rows of a CSV file, without spaces around cells and without empty rows, and the lines they stand on."""

    rows: list[list[str]]
    lines: list[int]

    def column(self, number: int) -> list[str]:
        return [row[number] for row in self.rows]

    def without_header(self) -> _Table:
        return _Table(self.rows[1:], self.lines[1:])


@dataclass(frozen=True)
class _EdgeList:
    sources: list[str]
    targets: list[str]
    weights: FloatArray | None
    lines: list[int]
    has_header: bool


def nodes_path(path: Path) -> Path:
    """Where the node table of an edge list is looked for.

    >>> nodes_path(Path("mail.csv")).name
    'mail.nodes.csv'
    """
    return path.with_suffix(NODES_SUFFIX)


def load_table(path: Path, nodes: Path | None = None) -> Graph:
    """Read an edge list with columns source, target and weight, and its node table if there is one.

    Without a node table the nodes are those of the edge list, in the order of their first appearance, or in numerical
    order where all ids are whole numbers.
    """
    with prefix_errors(path):
        if path.name.endswith(NODES_SUFFIX):
            raise InputError(f"is a node table: give the edge list {path.name.removesuffix(NODES_SUFFIX)}.csv")
        listed = _edge_list(_read(path))
    if nodes is None and nodes_path(path).is_file():
        nodes = nodes_path(path)
    if nodes is None:
        with prefix_errors(path):
            ids = _ids_of_edges(listed)
            about: dict[str, Any] = {}
    else:
        with prefix_errors(nodes):
            ids, about = _node_table(_read(nodes))
    with prefix_errors(path):
        names = ids_from_text(ids)
        pairs = _numbered_pairs(listed, ids)
        edges = simple_edges(pairs, len(ids), source=str(path), both_ways=False, weights=listed.weights, names=names)
        return Graph(len(ids), edges, names=names, **about)


def _read(path: Path) -> _Table:
    text = read_text(path)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    rows, lines = [], []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if cells and cells != [""]:
                rows.append(cells)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}: {error}") from None
    width = len(rows[0]) if rows else 0
    for row, line in zip(rows, lines, strict=True):
        if len(row) != width:
            raise InputError(f"line {line}: has {len(row)} columns where the first row has {width}")
    return _Table(rows, lines)


def _delimiter(text: str) -> str:
    """Find what parts the cells of the first line, outside quotes: the most frequent of comma, semicolon and tab."""
    first = text.lstrip().partition("\n")[0]
    bare = "".join(first.split('"')[::2])
    return max(_DELIMITERS, key=bare.count)


# The edge list -------------------------------------------------------------------------------------------------------


def _edge_list(table: _Table) -> _EdgeList:
    if not table.rows:
        return _EdgeList([], [], None, [], has_header=False)
    header = [cell.lower() for cell in table.rows[0]]
    sources = [place for place, cell in enumerate(header) if cell in _SOURCE]
    targets = [place for place, cell in enumerate(header) if cell in _TARGET]
    has_header = bool(sources and targets)
    if has_header:
        places = [sources[0], targets[0], *(place for place, cell in enumerate(header) if cell == "weight")][:3]
        table = table.without_header()
    else:
        places = list(range(len(header)))
        if len(header) not in (2, 3):
            raise InputError(f"line {table.lines[0]}: needs the columns source, target and perhaps weight")
    weights = _numbers(table, places[2], "weight") if len(places) == 3 else None
    return _EdgeList(table.column(places[0]), table.column(places[1]), weights, table.lines, has_header)


def _numbers(table: _Table, place: int, what: str) -> FloatArray:
    cells = table.column(place)
    try:
        return np.array(list(map(float, cells)), dtype=np.float64)
    except ValueError:
        line, cell = next((n, c) for n, c in zip(table.lines, cells, strict=True) if not _is_number(c))
        raise InputError(f"line {line}: the {what} {cell!r} is not a number") from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _ids_of_edges(listed: _EdgeList) -> list[str]:
    if not listed.sources:
        raise InputError("the graph is empty: it has no edges and no node table")
    ids = list(dict.fromkeys(chain.from_iterable(zip(listed.sources, listed.targets, strict=True))))
    if "" in ids:
        places = zip(listed.sources, listed.targets, listed.lines, strict=True)
        raise InputError(f"line {next(line for u, v, line in places if '' in (u, v))}: a node id is empty")
    if _all_whole(ids):
        return sorted(ids, key=int)
    first = {listed.sources[0], listed.targets[0]}
    others = {*listed.sources[1:], *listed.targets[1:]}
    if not listed.has_header and others and not _all_whole(first) and _all_whole(others):
        raise InputError(f"line {listed.lines[0]}: looks like a header: call the columns source, target and weight")
    return ids


def _all_whole(ids: Iterable[str]) -> bool:
    names = ids_from_text(list(ids))
    return names is None or isinstance(names[0], int)


def _numbered_pairs(listed: _EdgeList, ids: Sequence[str]) -> IntArray:
    """Look up the M × 2 node numbers of the edge list."""
    number = {name: index for index, name in enumerate(ids)}
    try:
        ends = [[number[name] for name in names] for names in (listed.sources, listed.targets)]
    except KeyError:
        places = zip(listed.sources, listed.targets, listed.lines, strict=True)
        line, name = next((line, end) for u, v, line in places for end in (u, v) if end not in number)
        raise InputError(f"line {line}: node {name!r} is not in the node table") from None
    return np.array(ends, dtype=np.int64).T


# The node table ------------------------------------------------------------------------------------------------------


def _node_table(table: _Table) -> tuple[list[str], dict[str, Any]]:
    """Read N ids, and labels, split and attributes as `Graph` takes them."""
    header = [cell.lower() if cell.lower() in RESERVED else cell for cell in (table.rows[0] if table.rows else [])]
    if "id" not in header:
        raise InputError("the node table needs a header with a column called id")
    if len(set(header)) < len(header):
        twice = next(cell for cell in header if header.count(cell) > 1)
        raise InputError(f"the node table has two columns called {twice!r}")
    body = table.without_header()
    ids = body.column(header.index("id"))
    _check_ids(ids, body.lines)
    about: dict[str, Any] = {}
    if "label" in header:
        about["labels"], about["class_names"] = labels_from_words(body.column(header.index("label")))
    if "split" in header:
        words = body.column(header.index("split"))
        wrong = next((place for place, word in enumerate(words) if word not in ("", *PARTS)), None)
        if wrong is not None:
            raise InputError(f"line {body.lines[wrong]}: the split {words[wrong]!r} must be train, val, test or empty")
        about["split"] = split_from_words(words)
    keys = [cell for cell in header if cell not in RESERVED]
    if keys:
        about["attributes"] = _attributes(body, header, keys)
        about["attribute_names"] = names_of_keys(keys)
    return ids, about


def _check_ids(ids: list[str], lines: list[int]) -> None:
    seen: set[Hashable] = set()
    for name, line in zip(ids, lines, strict=True):
        if not name or name in seen:
            raise InputError(f"line {line}: {'a node id is empty' if not name else f'node {name!r} comes twice'}")
        seen.add(name)


def _attributes(body: _Table, header: list[str], keys: list[str]) -> sp.csr_array:
    columns = [sp.csc_array(_numbers(body, header.index(key), f"value of {key!r}")[:, None]) for key in keys]
    return sp.hstack(columns, format="csr")


# Writing -------------------------------------------------------------------------------------------------------------


def save_table(graph: Graph, path: Path) -> None:
    """Write the edge list, and the node table beside it.

    A table holds what a person reads: ids and labels as text. The order of class names, and classes that no node has,
    are not kept, and text that looks like a whole number is read as one.
    """
    with prefix_errors(path):
        if path.name.endswith(NODES_SUFFIX):
            raise InputError("is the name of a node table: give the edge list's")
        ids = ids_as_text(graph)
        edges = [[ids[u], ids[v]] for u, v in graph.edges.tolist()]
        contents = {
            nodes_path(path): _csv(*_node_columns(graph, ids)),
            path: _csv(["source", "target"], edges),
        }
    write_files(contents)


def _node_columns(graph: Graph, ids: list[str]) -> tuple[list[str], list[list[str]]]:
    header, rows = ["id"], [[name] for name in ids]
    if graph.labels is not None:
        header.append("label")
        words = plain_texts(class_words(graph), "class name")
        for row, label in zip(rows, graph.labels.tolist(), strict=True):
            row.append("" if label == UNKNOWN else words[label])
    if graph.split is not None:
        header.append("split")
        for row, word in zip(rows, split_words(graph), strict=True):
            row.append(word)
    if graph.attributes is not None:
        header += plain_texts(attribute_keys(graph), "attribute name")
        for node, row in enumerate(rows):
            row += map(_shortest, graph.attributes[[node]].toarray()[0].tolist())
    return header, rows


def _shortest(value: float) -> str:
    """The shortest text that is read as the same number."""
    return repr(value).removesuffix(".0")


def _csv(header: list[str], rows: list[list[str]]) -> bytes:
    """Write rows with commas; a header with other delimiters in it is quoted, so that they are not mistaken."""
    text = io.StringIO(newline="")
    mistakable = any(";" in cell for cell in header)
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if mistakable else csv.QUOTE_MINIMAL).writerow(header)
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
