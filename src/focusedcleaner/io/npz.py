"""npz files: graphs as `adj_*`, `attr_*`, `labels` and `idx_*`, and adjacency matrices of scipy."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.graph import PARTS, Graph, Split, check_range
from focusedcleaner.io.disk import Archive, npz_bytes
from focusedcleaner.io.node_text import checked_names, checked_texts, id_texts
from focusedcleaner.io.simplify import adjacency_edges, narrowed, numbered_classes, whole_labels

_CSR_PARTS = ("data", "indices", "indptr")
_SPLIT = tuple(f"idx_{part}" for part in PARTS)
_PER_NODE = {
    "labels": "labels",
    "node_names": "node names",
    "attr_matrix": "rows of attributes",
    "attr_indptr": "rows of attributes",
    "attr_matrix.indptr": "rows of attributes",
    **{name: f"nodes in {name}" for name in _SPLIT},
}
"""The arrays with at most one entry for each node, and what they list."""
_LARGEST_SIDE = 2**31 - 1
_SPARE_COLUMNS = 2**20
"""A matrix may have so many columns more than entries; scikit-learn's HashingVectorizer makes 2**20."""


def load_npz(path: Path, *, renumber: bool = True) -> Graph:
    """Read a graph; arrays that are not needed are ignored, pickled or not.

    Args:
        path: the file.
        renumber: whether class numbers are made 0 … C−1; a file of results keeps those that it was written with.
    """
    with prefix_errors(path), Archive(path) as archive:
        _check_lengths(archive)
        adjacency = _read_matrix(archive, "adj", "adjacency")
        if adjacency is None:
            raise InputError("is not a graph file: it lacks adj_data, adj_indices, adj_indptr")
        # A file of results may keep the weights and directions of the input, of which the user knows already.
        num_nodes, edges = adjacency_edges(adjacency, source=str(path) if renumber else None)
        labels, class_names = None, checked_texts(_texts(archive, "class_names"), "class name")
        if "labels" in archive:
            labels = whole_labels(archive.read("labels"))
            if renumber:
                labels, class_names = numbered_classes(labels, class_names)
        return Graph(
            num_nodes,
            edges,
            attributes=_attributes(archive),
            labels=labels,
            split=Split(*map(archive.read, _SPLIT)) if any(name in archive for name in _SPLIT) else None,
            names=checked_names(_node_names(archive)),
            class_names=class_names,
            attribute_names=checked_texts(_texts(archive, "attribute_names"), "attribute name"),
            notes=_notes(archive),
        )


def raw_adjacency(path: Path) -> sp.csr_array:
    """The adjacency of a graph file with its weights and directions."""
    with Archive(path) as archive:
        matrix = _read_matrix(archive, "adj", "adjacency")
    if matrix is None:
        raise InputError("is not a graph file: it lacks adj_data, adj_indices, adj_indptr")
    return matrix


def _check_lengths(archive: Archive) -> None:
    """Refuse arrays whose lengths do not fit the number of nodes, by their headers."""
    starts = next((name for name in ("adj_indptr", "adj_matrix.indptr") if name in archive), None)
    num_nodes = math.prod(archive.shape(starts)) - 1 if starts is not None else 0
    for name, what in _PER_NODE.items():
        if num_nodes < 1 or name not in archive or archive.is_pickled(name):
            continue
        length = math.prod(archive.shape(name)[:1]) - name.endswith("indptr")
        if length > num_nodes or (length < num_nodes and name not in _SPLIT):
            raise InputError(f"there are {length:,} {what} for {num_nodes:,} nodes")


def npz_files(graph: Graph, path: Path) -> dict[Path, bytes]:
    """The content of a graph file; the same graph gives the same bytes, and `load_npz` returns an equal graph."""
    with prefix_errors(path):
        return {path: npz_with_adjacency(graph, None)}


def npz_with_adjacency(graph: Graph, adjacency: sp.csr_array | None) -> bytes:
    """The content of a graph file, with an adjacency of other weights and directions than the graph's own, if given."""
    if adjacency is None:
        arrays = _csr_arrays(graph.adjacency().astype(np.float32), "adj")
    else:
        arrays = _csr_arrays(narrowed(adjacency), "adj")
    if graph.attributes is not None:
        arrays |= _csr_arrays(narrowed(graph.attributes), "attr")
    if graph.labels is not None:
        arrays["labels"] = graph.labels
    if graph.split is not None:
        arrays |= zip(_SPLIT, graph.split.parts, strict=True)
    if graph.names is not None:
        arrays["node_names"] = _text_array(id_texts(graph))
        arrays["node_names_whole"] = np.array([not isinstance(name, str) for name in graph.names])
    for part, names in (("class_names", graph.class_names), ("attribute_names", graph.attribute_names)):
        if names is not None:
            checked_texts(names, part.removesuffix("s").replace("_", " "))
            arrays[part] = _text_array(names)
    if graph.notes:
        arrays["notes"] = np.array(json.dumps(dict(graph.notes), sort_keys=True))
    return npz_bytes(arrays)


def load_adjacency(path: str | PathLike[str]) -> sp.csr_array:
    """Read the symmetric 0/1 adjacency (N × N) of a `scipy.sparse.save_npz` file or of a graph file.

    One `InputWarning` counts what had to be changed to make it symmetric and binary.
    """
    with prefix_errors(path), Archive(Path(path)) as archive:
        matrix = _read_scipy(archive) if "format" in archive else _read_matrix(archive, "adj", "adjacency")
        if matrix is None:
            raise InputError("is not an adjacency: it has neither a scipy.sparse matrix nor adj_data")
        num_nodes, edges = adjacency_edges(matrix, source=str(path))
        return Graph(num_nodes, edges).adjacency()


def _read_matrix(archive: Archive, prefix: str, what: str) -> sp.csr_array | None:
    """Read the CSR matrix under ``PREFIX_data`` or ``PREFIX_matrix.data`` and so on, if there is one."""
    for stem in (f"{prefix}_", f"{prefix}_matrix."):
        if any(f"{stem}{part}" in archive for part in (*_CSR_PARTS, "shape")):
            return _read_csr(archive, stem, _read_shape(archive, f"{stem}shape", what), what)
    return None


def _read_scipy(archive: Archive) -> sp.csr_array | sp.coo_array:
    name = archive.read("format")[()]
    form = name.decode("ascii", "replace") if isinstance(name, bytes) else str(name)
    shape = _read_shape(archive, "shape", "matrix")
    if form == "csr":
        return _read_csr(archive, "", shape, "matrix")
    if form == "csc":
        return _read_csr(archive, "", shape[::-1], "matrix").T
    if form != "coo":
        raise InputError(f"a scipy.sparse matrix of format {form!r} is not supported: save it as csr")
    lengths = {archive.shape(part) for part in ("data", "row", "col")}
    fits = len(lengths) == 1 and len(lengths.pop()) == 1
    data, row, col = (archive.read(part) for part in ("data", "row", "col")) if fits else [np.empty(0)] * 3
    if row.dtype.kind not in "iu" or col.dtype.kind not in "iu":
        raise InputError("the matrix's data, row and col must be flat arrays of one length")
    positions = (row.astype(np.int64), col.astype(np.int64))
    for position, size, what in zip(positions, shape, ("row", "column"), strict=True):
        _check_side(size, 3 * len(data), "matrix", what)
        check_range(position, size, "the matrix", what)
    return sp.coo_array((data, positions), shape=shape)


def _read_shape(archive: Archive, name: str, what: str) -> tuple[int, int]:
    shape = archive.read(name) if archive.shape(name) == (2,) else np.empty(0)
    if shape.dtype.kind not in "iu" or (shape < 0).any() or (shape > _LARGEST_SIDE).any():
        raise InputError(f"the {what}'s shape must be two whole numbers from 0 to {_LARGEST_SIDE:,}")
    return int(shape[0]), int(shape[1])


def _read_csr(archive: Archive, stem: str, shape: tuple[int, int], what: str) -> sp.csr_array:
    """Build a matrix from its CSR parts after checking that they fit, which scipy's compiled code does not."""
    lengths = [_flat_length(archive, f"{stem}{part}", what) for part in _CSR_PARTS]
    if lengths[0] != lengths[1] or lengths[2] != shape[0] + 1:
        raise InputError(f"the {what}'s indptr does not fit its shape and its {lengths[1]:,} indices")
    _check_side(shape[1], sum(lengths), what, "column")
    data, indices, indptr = (archive.read(f"{stem}{part}") for part in _CSR_PARTS)
    for part, name, kinds in ((data, "data", "biuf"), (indices, "indices", "iu"), (indptr, "indptr", "iu")):
        if part.dtype.kind not in kinds:
            raise InputError(f"the {what}'s {name} must be a flat array of numbers, not {part.dtype}")
    starts, columns = indptr.astype(np.int64), indices.astype(np.int64)
    if starts[0] != 0 or starts[-1] != len(columns) or (np.diff(starts) < 0).any():
        raise InputError(f"the {what}'s indptr does not fit its shape and its {len(columns):,} indices")
    check_range(columns, shape[1], f"the {what}", "column")
    return sp.csr_array((data.astype(np.float64), columns, starts), shape=shape)


def _flat_length(archive: Archive, name: str, what: str) -> int:
    shape = archive.shape(name)
    if len(shape) != 1:
        raise InputError(f"the {what}'s {name} must be a flat array of numbers, not of shape {shape}")
    return shape[0]


def _check_side(size: int, entries: int, what: str, side: str) -> None:
    """Refuse a side that only the shape tells of, and that needs more memory than all entries."""
    if size > entries + _SPARE_COLUMNS:
        raise InputError(f"the {what} claims {size:,} {side}s for {entries:,} numbers: leave out the empty ones")


def _csr_arrays(matrix: sp.csr_array, prefix: str) -> dict[str, NDArray[Any]]:
    index = np.int32 if max(*matrix.shape, matrix.nnz) < 2**31 else np.int64
    return {
        f"{prefix}_data": matrix.data,
        f"{prefix}_indices": matrix.indices.astype(index),
        f"{prefix}_indptr": matrix.indptr.astype(index),
        f"{prefix}_shape": np.array(matrix.shape, dtype=np.int64),
    }


def _attributes(archive: Archive) -> sp.csr_array | None:
    matrix = _read_matrix(archive, "attr", "attribute matrix")
    if matrix is not None or "attr_matrix" not in archive:
        return matrix
    dense = archive.read("attr_matrix")
    if dense.ndim != 2 or dense.dtype.kind not in "biuf":
        raise InputError(f"attr_matrix must be a matrix of numbers, not {dense.dtype} of shape {dense.shape}")
    return sp.csr_array(dense.astype(np.float64))


def _texts(archive: Archive, name: str) -> tuple[str, ...] | None:
    """Read an array of text; a pickled one, as other programs write it, is ignored."""
    if name not in archive or archive.is_pickled(name):
        return None
    array = archive.read(name)
    if array.dtype.kind != "U" or array.ndim != 1:
        raise InputError(f"{name} must be a flat array of text, not {array.dtype} of shape {array.shape}")
    return tuple(array.tolist())


def _node_names(archive: Archive) -> tuple[Hashable, ...] | None:
    texts = _texts(archive, "node_names")
    if texts is None or "node_names_whole" not in archive:
        return texts
    whole = archive.read("node_names_whole")
    if whole.shape != (len(texts),) or whole.dtype != np.bool_:
        raise InputError("node_names_whole must say for each of the node names whether it is a number")
    try:
        return tuple(int(text) if number else text for text, number in zip(texts, whole, strict=True))
    except ValueError:
        raise InputError("node_names_whole marks a node name as a number that is none") from None


def _notes(archive: Archive) -> dict[str, str]:
    if "notes" not in archive or archive.is_pickled("notes"):
        return {}
    try:
        notes = json.loads(str(archive.read("notes")[()]))
    except (ValueError, RecursionError):
        raise InputError("its notes are not JSON") from None
    if not isinstance(notes, dict) or not all(isinstance(note, str) for note in notes.values()):
        raise InputError("its notes must be one JSON object of texts")
    return notes


def _text_array(texts: Sequence[str]) -> NDArray[np.str_]:
    return np.array(texts, dtype=np.str_) if len(texts) else np.empty(0, dtype="<U1")
