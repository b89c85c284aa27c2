"""Graph folders: a graph as memory-mapped arrays, for graphs that are read block by block.

    graph.json       sizes, names of classes and attributes, and the checksums of all other files
    edges.npy        E × 2 node numbers u < v, sorted
    indptr.npy, indices.npy, entry_edges.npy      the symmetric adjacency by rows, and the edge of each entry
    x_indptr.npy, x_indices.npy, x_data.npy       the attributes on one scale (`attribute_matrix.scaled`), by rows
    labels.npy, train.npy, val.npy, test.npy      classes (−1 unknown) and the split
    ids.npy or ids.parquet                        the nodes' ids, in order: whole numbers, or texts

The nodes are in their canonical order (`Graph.canonical_order`). `folder_writer` writes a folder; nothing in one is
ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.adjacency_rows import ARRAYS, StoredNames, open_rows
from focusedcleaner.attribute_matrix import AttributeMatrix, StoredAttributes, open_attributes
from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.graph import PARTS, Graph, Split, unique_keys
from focusedcleaner.io.disk import first_words, read_text
from focusedcleaner.io.parquet_table import ParquetTable

INDEX = "graph.json"
FORMAT, VERSION = "focusedcleaner graph folder", 1
BLOCK = 16 * 2**20
"""Bytes of a file that have a checksum of their own."""
TEXT_IDS = "ids.parquet"
X = ("x_indptr", "x_indices", "x_data")
_KINDS: dict[str, tuple[str, int]] = {
    "edges": ("int64", 2),
    "indptr": ("int64", 1),
    "indices": ("int32", 1),
    "entry_edges": ("int32 int64", 1),
    "x_indptr": ("int64", 1),
    "x_indices": ("int32", 1),
    "x_data": ("float64", 1),
    "labels": ("int64", 1),
    **dict.fromkeys(PARTS, ("int64", 1)),
    "ids": ("int64", 1),
}
"""Types and dimensions of the arrays."""


def is_folder(path: Path) -> bool:
    """Whether there is a graph folder."""
    with prefix_errors(path):  # of a folder that can't be read, or a name that is too long
        return (path / INDEX).is_file()


def open_folder(path: Path, *, verify: bool = False) -> Graph:
    """Map a graph folder into memory; with ``verify``, read all of it once, and compare checksums and ranges.

    Raises:
        InputError: a file is missing, has another size or type, or was altered.
    """
    with prefix_errors(path):
        index = _checked_index(path)
        if verify:
            _verify(path, index)
        arrays = {name: _mapped(path, name) for name in _KINDS if f"{name}.npy" in index["files"]}
        _check_sizes(index, arrays)
        if verify:
            _check_numbers(index, arrays)
        rows = open_rows(str(path.resolve()), index["checksum"])
        return Graph(
            index["num_nodes"],
            rows.edges,
            attributes=_attributes(str(path.resolve()), index, arrays),
            labels=arrays.get("labels"),
            split=Split(*(arrays[part] for part in PARTS)) if "train" in arrays else None,
            names=_names(path, arrays, index),
            class_names=index["class_names"],
            attribute_names=index["attribute_names"],
            notes=index["notes"],
            stored=rows,
        )


def verify_folder(path: Path) -> None:
    """Compare every file of a graph folder with its checksums."""
    with prefix_errors(path):
        _verify(path, _checked_index(path))


def folder_checksum(path: Path) -> str:
    """The checksum of a graph folder, by its index."""
    with prefix_errors(path):
        return str(_checked_index(path)["checksum"])


def index_checksum(index: Mapping[str, Any]) -> str:
    """Of everything but the source, which is where the graph came from and not what it is."""
    parts = {key: value for key, value in index.items() if key not in ("checksum", "source")}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object."""
    try:
        value = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path.name} is not JSON") from None
    if not isinstance(value, dict):
        raise InputError(f"{path.name} is not a JSON object")
    return value


def _verify(path: Path, index: Mapping[str, Any]) -> None:
    for name, about in index["files"].items():
        with (path / name).open("rb", buffering=0) as file:
            for number, written in enumerate(about["blocks"]):
                if hashlib.sha256(file.read(BLOCK)).hexdigest() != written:
                    block = f"block {number + 1} of {len(about['blocks'])}"
                    raise InputError(f"{name} was altered: {block} is not as it was written")


def _checked_index(path: Path) -> dict[str, Any]:
    """Read graph.json; every field that is used has its type, and every file is there with its size."""
    index = read_object(path / INDEX)
    if index.get("format") != FORMAT:
        raise InputError(f"{INDEX} is not that of a graph folder")
    if index.get("version") != VERSION:
        raise InputError(f"{INDEX} has version {index.get('version')!r}, and this program reads version {VERSION}")
    if index.get("checksum") != index_checksum(index):
        raise InputError(f"{INDEX} was altered: its checksum is another")
    for field, is_right in _FIELDS.items():
        if not is_right(index.get(field)):
            raise InputError(f"{INDEX} is damaged: {field} is not what it should be")
    for name, about in index["files"].items():
        if not (path / name).is_file():
            raise InputError(f"{name} is missing")
        if (size := (path / name).stat().st_size) != about["bytes"]:
            raise InputError(f"{name} was altered: it has {size:,} bytes where {about['bytes']:,} were written")
    for name in ARRAYS:
        if f"{name}.npy" not in index["files"]:
            raise InputError(f"{name}.npy is missing")
    return index


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**31


def _are_texts(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(text, str) for text in value))


def _are_files(value: object) -> bool:
    return isinstance(value, dict) and all(
        Path(name).name == name
        and isinstance(about, dict)
        and type(about.get("bytes")) is int
        and isinstance(about.get("blocks"), list)
        and len(about["blocks"]) == -(-about["bytes"] // BLOCK)
        for name, about in value.items()
    )


def _are_notes(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


_FIELDS: dict[str, Callable[[object], bool]] = {
    "num_nodes": _is_size,
    "num_edges": lambda value: type(value) is int and 0 <= value < 2**62,
    "num_attributes": lambda value: value is None or _is_size(value),
    "class_names": _are_texts,
    "attribute_names": _are_texts,
    "notes": _are_notes,
    "files": _are_files,
}


def _mapped(path: Path, name: str) -> NDArray[Any]:
    types, dimensions = _KINDS[name]
    try:
        array: NDArray[Any] = np.load(path / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{name}.npy is damaged: {first_words(error)}") from None
    if array.dtype.name not in types.split() or array.ndim != dimensions:
        raise InputError(f"{name}.npy holds {array.dtype.name} of {array.ndim} dimensions, which is not what it should")
    return array


def _check_sizes(index: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    nodes, edges = index["num_nodes"], index["num_edges"]
    sizes = {"edges": edges, "indptr": nodes + 1, "indices": 2 * edges, "entry_edges": 2 * edges}
    sizes |= {"labels": nodes, "x_indptr": nodes + 1, "ids": nodes}
    for name, size in sizes.items():
        if name in arrays and len(arrays[name]) != size:
            raise InputError(f"{name}.npy has {len(arrays[name]):,} rows where {size:,} are needed")
    for group in (X, PARTS):
        if any(name in arrays for name in group) and not all(name in arrays for name in group):
            raise InputError(f"{next(name for name in group if name not in arrays)}.npy is missing")
    if "x_data" in arrays and not 0 < (index["num_attributes"] or 0) <= len(arrays["x_data"]):
        raise InputError(f"{INDEX} is damaged: there are more attributes than values of them")


def _check_numbers(index: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays that lead out of others, which a stranger's folder may have in spite of right checksums."""
    nodes, edges, width = index["num_nodes"], index["num_edges"], index["num_attributes"] or 0
    tops = {"indices": nodes, "entry_edges": edges, "x_indices": width}
    for name, top in tops.items():
        if name in arrays and len(array := arrays[name]) and not 0 <= array.min() <= array.max() < top:
            raise InputError(f"{name}.npy is damaged: a number is not below {top:,}")
    for name, of in (("indptr", "indices"), ("x_indptr", "x_indices")):
        if name in arrays:
            starts, size = arrays[name], len(arrays[of])
            if starts[0] != 0 or starts[-1] != size or (starts[1:] < starts[:-1]).any():
                raise InputError(f"{name}.npy is damaged: it must rise from 0 to {size:,}")
    values = arrays.get("x_data")
    if values is not None and (len(values) != len(arrays["x_indices"]) or not np.isfinite(values).all()):
        raise InputError("x_data.npy is damaged: it must hold a finite number for each entry")
    u, v = arrays["edges"].T
    keys = u * nodes + v
    if len(u) and not (u.min() >= 0 and v.max() < nodes and (u < v).all() and (keys[1:] > keys[:-1]).all()):
        raise InputError("edges.npy is damaged: it must hold sorted pairs of nodes")
    if "ids" in arrays and len(unique_keys(arrays["ids"])) < nodes:
        raise InputError("ids.npy is damaged: two nodes have the same id")


def _attributes(folder: str, index: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> AttributeMatrix | None:
    if "x_data" not in arrays:
        return None
    return open_attributes(StoredAttributes(folder, index["checksum"], index["num_attributes"]))


def _names(path: Path, arrays: Mapping[str, NDArray[Any]], index: Mapping[str, Any]) -> StoredNames | None:
    if "ids" in arrays:
        return StoredNames(arrays["ids"])
    return StoredNames(partial(_text_ids, path / TEXT_IDS, index["num_nodes"])) if TEXT_IDS in index["files"] else None


def _text_ids(path: Path, size: int) -> Any:
    import polars as pl

    with prefix_errors(path):
        table = ParquetTable.read(path)
        if table.names != ["id"] or table.rows != size:
            raise InputError(f"must have one column, id, of {size:,} rows")
        (ids,) = table.frame([0]).get_columns()
        if ids.dtype != pl.String or ids.n_unique() < size or ids.null_count():
            raise InputError("must hold different texts")
        return ids
