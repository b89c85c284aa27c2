"""Graph files: npz, tables and GraphML; splits as JSON files; conversions in `focusedcleaner.io.convert`."""

from __future__ import annotations

import json
from collections.abc import Callable
from os import PathLike
from pathlib import Path

import numpy as np

from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.graph import PARTS, Graph, Split, check_range
from focusedcleaner.io.columns import TableOptions
from focusedcleaner.io.disk import read_text
from focusedcleaner.io.folder import is_folder, open_folder
from focusedcleaner.io.networkx import graphml_files, load_graphml
from focusedcleaner.io.node_text import check_table_texts, id_texts
from focusedcleaner.io.npz import load_adjacency, load_npz, npz_files
from focusedcleaner.io.table import TABLE_SUFFIXES, load_table, table_files
from focusedcleaner.io.transaction import recover, write_files

__all__ = [
    "SUFFIXES",
    "TABLE_SUFFIXES",
    "TableOptions",
    "check_savable",
    "checked_suffix",
    "graph_files",
    "load_adjacency",
    "load_graph",
    "load_npz",
    "load_split",
    "read_graph_file",
    "save_graph",
    "save_split",
]

_LOADERS: dict[str, Callable[[Path], Graph]] = {
    ".npz": load_npz,
    **dict.fromkeys(TABLE_SUFFIXES, load_table),
    ".graphml": load_graphml,
}
_WRITERS = {".npz": npz_files, **dict.fromkeys(TABLE_SUFFIXES, table_files), ".graphml": graphml_files}

SUFFIXES = tuple(_LOADERS)
"""The suffixes of graph files."""


def load_graph(
    path: str | PathLike[str],
    *,
    nodes: str | PathLike[str] | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    time: str | None = None,
    id: str | None = None,
    label: str | None = None,
    header: bool | None = None,
    bipartite: bool | None = None,
) -> Graph:
    """Read a graph file: `.npz`, `.graphml`, or an edge table (`.csv`, `.tsv`, `.txt`, `.edges`, `.parquet`).

    A graph folder, which ``focusedcleaner ingest`` writes, is mapped into memory and read block by block.

    Args:
        path: the graph file, or a graph folder.
        nodes: the node table of an edge table; by default ``NAME.nodes.csv`` beside ``NAME.csv``, if there is one.
        source: the edge table's column with one end of each edge; by default recognized by its name.
        target: its column with the other end.
        weight: its column of weights, which are not used.
        time: its column of times, which are not used.
        id: the node table's column of ids.
        label: the node table's column of classes.
        header: whether the first row of the edge table holds the names of its columns; by default found out.
        bipartite: whether source and target are two kinds of nodes; by default recognized by the columns' names.

    Directed, weighted, repeated and self-looping edges are made undirected, binary and simple, and one `InputWarning`
    counts the changes. Where class numbers are left out, those in use become class names. Anything else that is wrong
    with a file is an `InputError` of one line.

    >>> import tempfile
    >>> from focusedcleaner.datasets import synthetic
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_graph(synthetic(num_nodes=50), f"{folder}/graph.npz")
    ...     load_graph(f"{folder}/graph.npz")
    Graph(50 nodes, 100 edges, 5 classes, 200 attributes)
    """
    file = Path(path)
    options = TableOptions(
        source=source, target=target, weight=weight, time=time, id=id, label=label, header=header, bipartite=bipartite
    )
    return read_graph_file(file, None if nodes is None else Path(nodes), options)


def read_graph_file(path: Path, nodes: Path | None, options: TableOptions) -> Graph:
    """Read a graph file or a graph folder; a node table and options on columns go with an edge table only."""
    suffix = "" if is_folder(path) else checked_suffix(path)
    recover(path.parent, only=path.name)
    if suffix in TABLE_SUFFIXES:
        return load_table(path, nodes, options)
    if nodes is not None:
        raise InputError(f"{path}: a node table goes with an edge table ({', '.join(TABLE_SUFFIXES)}) only")
    if options.strict and (given := options.given()):
        raise InputError(f"{path}: the option {next(iter(given))} goes with an edge table only")
    return _LOADERS[suffix](path) if suffix else open_folder(path, verify=True)


def save_graph(graph: Graph, path: str | PathLike[str]) -> None:
    """Write a graph file of the format that the suffix names; an existing file is replaced whole or not at all.

    >>> import tempfile
    >>> path = Graph(3, [[0, 1], [1, 2]], names=("ann", "bob", "cyd"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_graph(path, f"{folder}/path.csv")
    ...     load_graph(f"{folder}/path.csv") == path
    True
    """
    write_files(graph_files(graph, path))


def graph_files(graph: Graph, path: str | PathLike[str]) -> dict[Path, bytes]:
    """The files that `save_graph` would write, with their contents: one, or two for an edge list."""
    file = Path(path)
    return _WRITERS[checked_suffix(file)](graph, file)


def check_savable(graph: Graph, path: Path) -> None:
    """Refuse a graph whose names `save_graph` could not write to this file; for use before a long computation."""
    check = id_texts if checked_suffix(path) == ".npz" else check_table_texts
    with prefix_errors(path):
        check(graph)


def checked_suffix(path: Path) -> str:
    """The suffix of a graph file in lower case; other suffixes are refused."""
    suffix = path.suffix.lower()
    if suffix not in _LOADERS:
        raise InputError(f"{path}: is not a graph file by its name, which must end in {', '.join(SUFFIXES)}")
    return suffix


def load_split(path: str | PathLike[str], *, num_nodes: int | None = None) -> Split:
    """Read a split from a JSON file with the lists `idx_train`, `idx_val` and `idx_test`.

    Args:
        path: the JSON file.
        num_nodes: N, if known; larger node numbers are then refused in an error that names the file.
    """
    with prefix_errors(path):
        text = read_text(Path(path))
        try:
            lists = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError("is not JSON") from None
        if not isinstance(lists, dict):
            raise InputError("must be a JSON object with idx_train, idx_val and idx_test")
        for name in (f"idx_{part}" for part in PARTS):
            nodes = lists.get(name)
            if nodes is None:
                raise InputError(f"lacks the list {name}")
            if not isinstance(nodes, list) or not all(type(node) is int and abs(node) < 2**63 for node in nodes):
                raise InputError(f"{name} must be a list of whole numbers")
        split = Split(*(lists[f"idx_{part}"] for part in PARTS))
        if num_nodes is not None:
            check_range(np.concatenate(split.parts), num_nodes, "the split")
        return split


def save_split(split: Split, path: str | PathLike[str]) -> None:
    """Write a split as `load_split` reads it."""
    lists = {f"idx_{part}": getattr(split, part).tolist() for part in PARTS}
    write_files({Path(path): f"{json.dumps(lists)}\n".encode()})
