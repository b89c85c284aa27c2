"""Graph files: npz, CSV tables and GraphML; splits as JSON; conversions in `focusedcleaner.io.convert`."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io.networkx import load_graphml, save_graphml
from focusedcleaner.io.npz import load_adjacency, load_npz, save_npz
from focusedcleaner.io.split import load_split, save_split
from focusedcleaner.io.table import load_table, save_table

__all__ = ["SUFFIXES", "checked_suffix", "load_adjacency", "load_graph", "load_split", "save_graph", "save_split"]

_LOADERS = {".npz": load_npz, ".csv": load_table, ".graphml": load_graphml}
_SAVERS = {".npz": save_npz, ".csv": save_table, ".graphml": save_graphml}

SUFFIXES = tuple(_LOADERS)
"""The suffixes of graph files."""


def load_graph(path: str | PathLike[str], *, nodes: str | PathLike[str] | None = None) -> Graph:
    """Read a graph file: `.npz`, `.csv` (an edge list) or `.graphml`.

    Args:
        path: the graph file.
        nodes: the node table of an edge list; by default ``NAME.nodes.csv`` beside ``NAME.csv``, if there is one.

    Directed, weighted, repeated and self-looping edges are made undirected, binary and simple, and one `InputWarning`
    counts the changes. Anything else that is wrong with a file is an `InputError` of one line.
    """
    file = Path(path)
    suffix = checked_suffix(file)
    if nodes is None:
        return _LOADERS[suffix](file)
    if suffix != ".csv":
        raise InputError(f"{file}: a node table goes with an edge list (.csv) only")
    return load_table(file, Path(nodes))


def save_graph(graph: Graph, path: str | PathLike[str]) -> None:
    """Write a graph file of the format that the suffix names; an existing file is replaced whole or not at all.

    >>> import tempfile
    >>> path = Graph(3, [[0, 1], [1, 2]], names=("ann", "bob", "cyd"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_graph(path, f"{folder}/path.csv")
    ...     load_graph(f"{folder}/path.csv") == path
    True
    """
    file = Path(path)
    _SAVERS[checked_suffix(file)](graph, file)


def checked_suffix(path: Path) -> str:
    """The suffix of a graph file in lower case; other suffixes are refused."""
    suffix = path.suffix.lower()
    if suffix not in _LOADERS:
        raise InputError(f"{path}: is not a graph file by its name, which must end in {', '.join(SUFFIXES)}")
    return suffix
