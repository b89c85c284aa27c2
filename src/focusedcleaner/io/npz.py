"""The field's npz: `adj_*`, `attr_*`, `labels`, `idx_*`, and beside them the names that we keep."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io.archive import Archive, packed
from focusedcleaner.io.disk import prefix_errors, write_files
from focusedcleaner.io.simplify import (
    PARTS,
    adjacency_edges,
    checked_csr,
    checked_shape,
    narrowed,
    plain_id,
    whole_labels,
)


def load_npz(path: Path) -> Graph:
    """Read a graph from the field's npz; members that are not needed are left alone, pickled or not."""
    with prefix_errors(path), Archive(path) as archive:
        num_nodes, edges = adjacency_edges(_needed_matrix(archive, "adj", "adjacency"), source=str(path))
        return Graph(
            num_nodes,
            edges,
            attributes=_attributes(archive),
            labels=whole_labels(archive.read("labels")) if "labels" in archive else None,
            split=_split(archive),
            names=_node_names(archive),
            class_names=_texts(archive, "class_names"),
            attribute_names=_texts(archive, "attribute_names"),
            notes=_notes(archive),
        )


def save_npz(graph: Graph, path: Path) -> None:
    """Write a graph so that the same graph gives the same bytes and `load_npz` gives the same graph."""
    with prefix_errors(path):
        arrays = _csr_arrays(graph.adjacency().astype(np.float32), "adj")
        if graph.attributes is not None:
            arrays |= _csr_arrays(narrowed(graph.attributes), "attr")
        if graph.labels is not None:
            arrays["labels"] = graph.labels
        if graph.split is not None:
            arrays |= {f"idx_{part}": getattr(graph.split, part) for part in PARTS}
        if graph.names is not None:
            arrays["node_names"] = _text_array([plain_id(name) for name in graph.names], "node name")
            arrays["node_names_whole"] = np.array([not isinstance(name, str) for name in graph.names])
        if graph.class_names is not None:
            arrays["class_names"] = _text_array(graph.class_names, "class name")
        if graph.attribute_names is not None:
            arrays["attribute_names"] = _text_array(graph.attribute_names, "attribute name")
        if graph.notes:
            arrays["notes"] = np.array(json.dumps(dict(graph.notes), sort_keys=True))
        content = packed(arrays)
    write_files({path: content})


# Reading -------------------------------------------------------------------------------------------------------------


def read_matrix(archive: Archive, prefix: str, what: str) -> sp.csr_array | None:
    """Read the CSR matrix stored under ``PREFIX_data`` or ``PREFIX_matrix.data`` and so on, if there is one."""
    for stem in (f"{prefix}_", f"{prefix}_matrix."):
        if any(f"{stem}{part}" in archive for part in ("data", "indices", "indptr", "shape")):
            shape = checked_shape(archive.read(f"{stem}shape"), what)
            data, indices, indptr = (archive.read(f"{stem}{part}") for part in ("data", "indices", "indptr"))
            return checked_csr(data, indices, indptr, shape, what)
    return None


def _needed_matrix(archive: Archive, prefix: str, what: str) -> sp.csr_array:
    matrix = read_matrix(archive, prefix, what)
    if matrix is None:
        raise InputError(f"is not a graph file: it lacks {prefix}_data, {prefix}_indices, {prefix}_indptr")
    return matrix


def _attributes(archive: Archive) -> sp.csr_array | None:
    matrix = read_matrix(archive, "attr", "attribute matrix")
    if matrix is not None or "attr_matrix" not in archive:
        return matrix
    dense = archive.read("attr_matrix")
    if dense.ndim != 2 or dense.dtype.kind not in "biuf":
        raise InputError(f"attr_matrix must be a matrix of numbers, not {dense.dtype} of shape {dense.shape}")
    return sp.csr_array(dense.astype(np.float64))


def _split(archive: Archive) -> Split | None:
    names = [f"idx_{part}" for part in PARTS]
    if not any(name in archive for name in names):
        return None
    return Split(*(archive.read(name) for name in names))


def _texts(archive: Archive, name: str) -> tuple[str, ...] | None:
    """Read text that is good to have: other programs pickle it, and then it is left alone."""
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
        raise InputError("node_names_whole calls a node name a number that is none") from None


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


# Writing -------------------------------------------------------------------------------------------------------------


def _csr_arrays(matrix: sp.csr_array, prefix: str) -> dict[str, NDArray[Any]]:
    index = np.int32 if max(*matrix.shape, matrix.nnz) < 2**31 else np.int64
    return {
        f"{prefix}_data": matrix.data,
        f"{prefix}_indices": matrix.indices.astype(index),
        f"{prefix}_indptr": matrix.indptr.astype(index),
        f"{prefix}_shape": np.array(matrix.shape, dtype=np.int64),
    }


def _text_array(texts: Sequence[str], what: str) -> NDArray[np.str_]:
    for text in texts:
        if not isinstance(text, str) or text.endswith("\0"):  # numpy pads text with NULs and would strip them
            raise InputError(f"the {what} {text!r} can't be written")
    return np.array(texts, dtype=np.str_) if len(texts) else np.empty(0, dtype="<U1")
