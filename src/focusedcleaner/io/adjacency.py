"""Structures and splits that travel apart from their graph."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io.archive import Archive
from focusedcleaner.io.disk import prefix_errors, read_text, write_files
from focusedcleaner.io.npz import read_matrix
from focusedcleaner.io.simplify import PARTS, adjacency_edges, checked_csr, checked_shape


def load_adjacency(path: str | PathLike[str]) -> sp.csr_array:
    """Read the symmetric 0/1 adjacency (N × N) of a `scipy.sparse.save_npz` file or of a graph file's `adj_*`.

    What had to be changed to make it symmetric and binary is counted in one `InputWarning`.
    """
    with prefix_errors(path), Archive(Path(path)) as archive:
        stored = _stored_matrix(archive) if "format" in archive else read_matrix(archive, "adj", "adjacency")
        if stored is None:
            raise InputError("is not an adjacency: it has neither a scipy.sparse matrix nor adj_data")
        num_nodes, edges = adjacency_edges(stored, source=str(path))
        return Graph(num_nodes, edges).adjacency()


def _stored_matrix(archive: Archive) -> sp.csr_array | sp.coo_array:
    name = archive.read("format")[()]
    form = name.decode("ascii", "replace") if isinstance(name, bytes) else str(name)
    shape = checked_shape(archive.read("shape"), "matrix")
    if form in ("csr", "csc"):
        data, indices, indptr = (archive.read(part) for part in ("data", "indices", "indptr"))
        if form == "csr":
            return checked_csr(data, indices, indptr, shape, "matrix")
        return checked_csr(data, indices, indptr, shape[::-1], "matrix").T
    if form == "coo":
        return _checked_coo(archive, shape)
    raise InputError(f"a scipy.sparse matrix of format {form!r} is not read: save it as csr")


def _checked_coo(archive: Archive, shape: tuple[int, int]) -> sp.coo_array:
    data, row, col = (archive.read(part) for part in ("data", "row", "col"))
    fits = data.ndim == 1 and data.shape == row.shape == col.shape
    if not fits or row.dtype.kind not in "iu" or col.dtype.kind not in "iu":
        raise InputError("the matrix's data, row and col must be flat arrays of one length")
    for place, size in ((row.astype(np.int64), shape[0]), (col.astype(np.int64), shape[1])):
        if len(place) and (place.min() < 0 or place.max() >= size):
            wrong = place.min() if place.min() < 0 else place.max()
            raise InputError(f"the matrix has an entry at {wrong}, but its places are numbered 0 to {size - 1}")
    return sp.coo_array((data, (row.astype(np.int64), col.astype(np.int64))), shape=shape)


def load_split(path: str | PathLike[str], *, num_nodes: int | None = None) -> Split:
    """Read a split from JSON with the lists `idx_train`, `idx_val` and `idx_test`.

    Args:
        path: the JSON file.
        num_nodes: N, where it is known, so that a node beyond the graph is told with the file's name.
    """
    with prefix_errors(path):
        try:
            lists = json.loads(read_text(Path(path)))
        except (ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError("is not JSON") from None
        if not isinstance(lists, dict):
            raise InputError("must be a JSON object with idx_train, idx_val and idx_test")
        split = Split(*(_node_list(lists, f"idx_{part}") for part in PARTS))
        if num_nodes is not None and split.largest >= num_nodes:
            raise InputError(f"the split names node {split.largest}, but nodes are numbered 0 to {num_nodes - 1}")
        return split


def _node_list(lists: dict[str, object], name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    nodes = lists.get(name)
    if nodes is None:
        raise InputError(f"lacks the list {name}")
    if not isinstance(nodes, list) or not all(type(node) is int and abs(node) < 2**63 for node in nodes):
        raise InputError(f"{name} must be a list of whole numbers")
    return np.array(nodes, dtype=np.int64)


def save_split(split: Split, path: str | PathLike[str]) -> None:
    """Write a split as `load_split` reads it."""
    lists = {f"idx_{part}": getattr(split, part).tolist() for part in PARTS}
    write_files({Path(path): f"{json.dumps(lists)}\n".encode()})
