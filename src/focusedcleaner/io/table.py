"""Graphs as tables: an edge table, and beside it a node table with ids, labels, split and attributes."""

from __future__ import annotations

import csv
import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from focusedcleaner.errors import InputError, InputWarning, prefix_errors
from focusedcleaner.formatting import count
from focusedcleaner.graph import UNKNOWN, Graph, IntArray
from focusedcleaner.io import node_text
from focusedcleaner.io.column_names import stem
from focusedcleaner.io.columns import TableOptions, listed
from focusedcleaner.io.edge_table import EdgeTable, open_table
from focusedcleaner.io.node_ids import NodeIds
from focusedcleaner.io.node_table import NodeTable, sibling
from focusedcleaner.io.parquet_table import PARQUET
from focusedcleaner.io.simplify import listed_edges
from focusedcleaner.io.spreadsheet import escape
from focusedcleaner.io.text_table import TEXT_SUFFIXES, WHITESPACE

TABLE_SUFFIXES = (*TEXT_SUFFIXES, PARQUET)
"""The suffixes of edge tables."""
NODES_SUFFIX = ".nodes.csv"
UNUSED = "kept in the output, not used to find edges"


def load_table(path: Path, nodes: Path | None = None, options: TableOptions | None = None) -> Graph:
    """Read an edge table, and its node table if there is one.

    Without a node table the nodes are those of the edge table, in the order of their first appearance, or in numerical
    order if all ids are integers. `InputWarning`s say which columns were recognized and what is not used.
    """
    options = options or TableOptions()
    nodes = sibling(path) if nodes is None else nodes
    with prefix_errors(path):
        _refuse_node_table(path, f"use the edge table {path.name.replace('.nodes.', '.')}")
        edges = EdgeTable.read(open_table(path), options)
        if nodes is None and not len(edges.codes):
            raise InputError("the graph is empty: it has no edges and no node table")
        _note(path, _told(edges))
    ids, columns = edges.ids, edges.columns
    parts: dict[str, Any] = {}
    if nodes is not None:
        with prefix_errors(nodes):
            ends = (columns.names[columns.source], columns.names[columns.target]) if columns.header else ()
            node_table = NodeTable.read(open_table(nodes), options, ends)
            ids, missing = _joined(edges, node_table)
            parts, notes = node_table.parts(len(ids) - len(node_table.ids))
        _note(nodes, "; ".join([*notes, *missing]))
    with prefix_errors(path):
        pairs = node_numbers(edges, ids)
        pairs = pairs[~edges.absent] if edges.absent.any() else pairs
        if columns.bipartite:
            parts["notes"] = dict(zip(("source_column", "target_column"), columns.kinds(), strict=True))
            if len(pairs):
                parts["notes"]["a_source"] = ids[pairs[0, 0]]  # which of two kinds the nodes are
        simple = listed_edges(pairs, len(ids), source=str(path), absent=int(edges.absent.sum()))
        return Graph(len(ids), simple, names=ids.names(), **parts)


def node_numbers(edges: EdgeTable, ids: NodeIds) -> IntArray:
    """The node numbers of each row, M × 2, numbered as in ``ids``; −1 where a node is not among them."""
    if ids is edges.ids:
        return edges.codes
    places = ids.places(edges.ids)
    return places[edges.codes] if len(places) else edges.codes


def _joined(edges: EdgeTable, nodes: NodeTable) -> tuple[NodeIds, list[str]]:
    """The ids of the node table, then those that only edges have, with a note; refused if these are most."""
    ids = nodes.ids
    if edges.prefixed:
        kinds = [kind for kind in edges.columns.kinds() if stem(kind) == stem(nodes.id_name)]
        ids = NodeIds([f"{kinds[0]} {name}" for name in ids]) if kinds else ids
    absent = np.flatnonzero(ids.places(edges.ids) < 0)
    if not len(absent):
        return ids, []
    if 2 * len(absent) > len(edges.ids):
        first = f"node {node_text.shortened(edges.ids[absent[0]])} ({edges.place_of(absent[0])} of the edges)"
        problem = f"{len(absent):,} of the {len(edges.ids):,} nodes with edges are not in it, such as {first}"
        raise InputError(f"{problem}: is {nodes.id_name!r} its column of ids? --id names another")
    are = "is" if len(absent) == 1 else "are"
    told = f"{count(len(absent), 'node')} of the edges {are} not in it, so nothing is known of them"
    return ids.followed_by(edges.ids, absent), [told]


def _told(edges: EdgeTable) -> str:
    """What was recognized, and what of it is not used; empty where it goes without saying."""
    unused = [
        what
        for what, column, says in (
            ("weights", edges.columns.weight, edges.weighted),
            ("times", edges.columns.time, True),
        )
        if column is not None and says
    ]
    told = edges.columns.told(weighted=edges.weighted)
    if others := edges.columns.others:
        unused.append(f"{'other ' if told else ''}columns ({listed(others)})")
    if not unused:
        return told
    words = " and ".join(filter(None, [", ".join(unused[:-1]), unused[-1]]))
    return "; ".join(filter(None, [told, f"{words} are {UNUSED}"]))


def _note(path: Path, text: str) -> None:
    if text:
        warnings.warn(f"{path}: {text}", InputWarning, stacklevel=3)


def _refuse_node_table(path: Path, instead: str) -> None:
    if path.stem.lower().endswith(".nodes"):
        raise InputError(f"is a node table: {instead}")


def table_files(graph: Graph, path: Path) -> dict[Path, bytes]:
    """The content of the edge table, and of the node table beside it.

    Ids and labels are written as text. The order of the class names and classes without a node are not kept, and text
    that looks like an integer is read as one.
    """
    with prefix_errors(path):
        _refuse_node_table(path, "give the edge table's name")
        node_text.check_table_texts(graph)
        ids = node_text.id_texts(graph)
        sources, targets = ([ids[node] for node in nodes] for nodes in graph.edges.T.tolist())
        edges = {"source": sources, "target": targets}
        if path.suffix.lower() in WHITESPACE:
            if any(len(name.split()) != 1 or name[0] in "#%" or "," in name or ";" in name for name in ids):
                raise InputError("a node's name has blanks, commas, semicolons or a comment sign: write a .csv")
            nodes = path.with_suffix(NODES_SUFFIX)
            return {nodes: _csv(_node_columns(graph, ids), ","), path: _plain_lines(edges)}
        nodes = path.with_suffix(f".nodes{path.suffix}")
        if path.suffix.lower() == PARQUET:
            return {nodes: _parquet(_node_columns(graph, ids)), path: _parquet(edges)}
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        return {nodes: _csv(_node_columns(graph, ids), delimiter), path: _csv(edges, delimiter)}


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


def _csv(columns: dict[str, list[str]], delimiter: str) -> bytes:
    """Rows as text; a header that holds another delimiter is quoted, so that it is not taken for one."""
    text = io.StringIO(newline="")
    ambiguous = any(other in name for name in columns for other in ",;\t" if other != delimiter)
    header = csv.writer(
        text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL if ambiguous else csv.QUOTE_MINIMAL
    )
    header.writerow(map(escape, columns))
    cells = (map(escape, column) for column in columns.values())
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(zip(*cells, strict=True))
    return text.getvalue().encode()


def _plain_lines(edges: dict[str, list[str]]) -> bytes:
    """Rows as SNAP writes them."""
    rows = zip(edges["source"], edges["target"], strict=True)
    return "".join(["# source target\n", *(f"{escape(u)} {escape(v)}\n" for u, v in rows)]).encode()


def _parquet(columns: dict[str, Any]) -> bytes:
    import polars as pl

    buffer = io.BytesIO()
    pl.DataFrame({name: pl.Series(name, values, dtype=pl.String) for name, values in columns.items()}).write_parquet(
        buffer
    )
    return buffer.getvalue()
