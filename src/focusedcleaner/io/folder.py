"""Graph folders: a graph as memory-mapped arrays, for graphs that are read block by block.

    graph.json       sizes, names of classes and attributes, and the checksums of all other files
    edges.npy        E × 2 node numbers u < v, sorted
    indptr.npy, indices.npy, entry_edges.npy      the symmetric adjacency by rows, and the edge of each entry
    x_indptr.npy, x_indices.npy, x_data.npy       the attributes on one scale (`attribute_matrix.scaled`), by rows
    labels.npy, train.npy, val.npy, test.npy      classes (−1 unknown) and the split
    ids.npy or ids.parquet                        the nodes' ids, in order: whole numbers, or texts

A folder is written beside its place (``.NAME.part``), and each array that is finished is noted at once, so that
`focusedcleaner ingest --resume` goes on after it. Nothing in a folder is ever unpickled.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from focusedcleaner.adjacency_rows import ARRAYS, AdjacencyRows, StoredNames, open_rows
from focusedcleaner.attribute_matrix import AttributeMatrix, StoredAttributes, open_attributes
from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.graph import PARTS, Graph, Split
from focusedcleaner.io import node_text
from focusedcleaner.io.disk import first_words, read_text
from focusedcleaner.io.transaction import lock_file, sync_folder, write_files

INDEX = "graph.json"
FORMAT, VERSION = "focusedcleaner graph folder", 1
BLOCK = 64 * 2**20
"""Bytes of a file that have a checksum of their own."""
IDS, TEXT_IDS = "ids.npy", "ids.parquet"
_KINDS: dict[str, tuple[str, int]] = {
    "edges": ("int64", 2),
    "indptr": ("int64", 1),
    "indices": ("int32", 1),
    "entry_edges": ("int32 int64", 1),
    "x_indptr": ("int64", 1),
    "x_indices": ("int32", 1),
    "x_data": ("float32", 1),
    "labels": ("int64", 1),
    **dict.fromkeys(PARTS, ("int64", 1)),
    "ids": ("int64", 1),
}
"""Types and dimensions of the arrays."""


def is_folder(path: Path) -> bool:
    """Whether there is a graph folder."""
    return (path / INDEX).is_file()


class FolderWriter:
    """Writes the files of a graph folder, each once, into a hidden folder beside its place.

    Args:
        path: the folder's place.
        source: what the graph is made of; a part of another source is not continued.
    """

    def __init__(self, path: Path, source: Mapping[str, Any]) -> None:
        self.path, self.part = path, path.with_name(f".{path.name}.part")
        self.source = dict(source)
        self.files: dict[str, dict[str, Any]] = {}

    @property
    def _journal(self) -> Path:
        return self.part / "journal.json"

    def begin(self, *, resume: bool) -> None:
        """Take over the finished files of an earlier try, or start afresh.

        Raises:
            InputError: an earlier try is there and ``resume`` is not set, or it was made from another source.
        """
        if self.part.exists() and not resume and self._journal.exists():
            raise InputError(f"an ingest was cut off here: continue it with --resume, or remove {self.part}")
        if resume and self._journal.exists():
            journal = _json(self._journal)
            if journal.get("source") != self.source:
                raise InputError(f"{self.part} was begun from another file or with other options: remove it")
            self.files = {name: about for name, about in journal["files"].items() if (self.part / name).is_file()}
        else:
            shutil.rmtree(self.part, ignore_errors=True)
            self.part.mkdir()

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Write an array as NAME.npy, unless an earlier try has."""
        if f"{name}.npy" in self.files:
            return
        path = self.part / f"{name}.npy"
        with path.open("wb") as file:
            npy.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
            _sync(file.fileno())
        self._finished(path)

    def add_file(self, name: str, content: bytes) -> None:
        """Write another file, unless an earlier try has."""
        if name in self.files:
            return
        (self.part / name).write_bytes(content)
        self._finished(self.part / name)

    def _finished(self, path: Path) -> None:
        self.files[path.name] = {"bytes": path.stat().st_size, "blocks": _block_checksums(path)}
        write_files({self._journal: json.dumps({"source": self.source, "files": self.files}).encode()})

    def read(self, name: str) -> NDArray[Any]:
        """Map an array that is finished."""
        loaded: NDArray[Any] = np.load(self.part / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        return loaded

    def finish(self, about: Mapping[str, Any]) -> None:
        """Write the index, and give the folder its name."""
        index = {"format": FORMAT, "version": VERSION, **about, "source": self.source, "files": self.files}
        index["checksum"] = _checksum(index)
        write_files({self.part / INDEX: f"{json.dumps(index, indent=1)}\n".encode()})
        self._journal.unlink()
        self.part.rename(self.path)
        sync_folder(self.path.parent)


def _sync(file: int) -> None:
    os.fsync(file)


def write_folder(
    path: Path, source: Mapping[str, Any], read: Callable[[], Graph] | Graph, *, resume: bool = False
) -> None:
    """Write a graph as a graph folder, which must not exist.

    Args:
        path: the folder's place.
        source: what the graph is made of, for the index, as JSON values.
        read: the graph, or what reads it: not called if an earlier try has stored all that was read.
        resume: whether to go on after an earlier try.

    Raises:
        InputError: the folder exists, or another process is writing it, or the disk is full.
    """
    with prefix_errors(path):
        if path.exists():
            raise InputError("exists already: choose another folder for the graph")
        if not path.parent.is_dir():
            raise InputError(f"there is no folder {path.parent}")
        writer = FolderWriter(path, source)
    with lock_file(path):
        with prefix_errors(path):
            writer.begin(resume=resume)
        if "read.json" not in writer.files:
            _write_parts(writer, read() if callable(read) else read)
        with prefix_errors(path):
            about = _json(writer.part / "read.json")
            if not all(f"{name}.npy" in writer.files for name in ARRAYS):
                rows = AdjacencyRows.of(about["num_nodes"], writer.read("edges"))
                for name in ARRAYS:
                    writer.add(name, getattr(rows, name))
            writer.finish(about)


def _write_parts(writer: FolderWriter, graph: Graph) -> None:
    """Write what a graph was read as; the rows of the adjacency are made of it."""
    with prefix_errors(writer.path):
        graph = graph.in_canonical_order()
        writer.add("edges", graph.edges)
        if (x := graph.features) is not None:
            writer.add("x_indptr", x.indptr.astype(np.int64))
            writer.add("x_indices", x.indices.astype(np.int32))
            writer.add("x_data", x.data.astype(np.float32))
        if graph.labels is not None:
            writer.add("labels", graph.labels)
        if graph.split is not None:
            for part in PARTS:
                writer.add(part, getattr(graph.split, part))
        _write_ids(writer, graph.names)
        about = {
            "num_nodes": graph.num_nodes,
            "num_edges": graph.num_edges,
            "num_attributes": None if graph.features is None else int(graph.features.shape[1]),
            "class_names": graph.class_names,
            "notes": dict(graph.notes),
        }
        writer.add_file("read.json", json.dumps(about).encode())


def _write_ids(writer: FolderWriter, names: Sequence[Any] | None) -> None:
    if names is None:
        return
    if all(type(name) is int and abs(name) < 2**63 for name in names):
        writer.add("ids", np.array(names, dtype=np.int64))
        return
    import polars as pl

    texts = node_text.checked_texts([str(name) for name in names], "id")
    buffer = io.BytesIO()
    pl.DataFrame({"id": pl.Series(texts, dtype=pl.String)}).write_parquet(buffer)
    writer.add_file(TEXT_IDS, buffer.getvalue())


def open_folder(path: Path, *, verify: bool = False) -> Graph:
    """Map a graph folder into memory; with ``verify``, read all of it once and compare the checksums.

    Raises:
        InputError: a file is missing, has another size or type, or was altered.
    """
    with prefix_errors(path):
        index = _checked_index(path)
        if verify:
            verify_folder(path)
        arrays = {name: _mapped(path, name) for name in _KINDS if f"{name}.npy" in index["files"]}
        sizes = {"edges": index["num_edges"], "indptr": index["num_nodes"] + 1, "labels": index["num_nodes"]}
        sizes |= {"indices": 2 * index["num_edges"], "entry_edges": 2 * index["num_edges"]}
        sizes |= {"x_indptr": index["num_nodes"] + 1, "ids": index["num_nodes"]}
        for name, size in sizes.items():
            if name in arrays and len(arrays[name]) != size:
                raise InputError(f"{name}.npy has {len(arrays[name]):,} rows where {size:,} are needed")
        rows = open_rows(str(path.resolve()), index["checksum"])
        return Graph(
            index["num_nodes"],
            rows.edges,
            attributes=_attributes(str(path.resolve()), index, arrays),
            labels=arrays.get("labels"),
            split=Split(*(arrays[part] for part in PARTS)) if "train" in arrays else None,
            names=_names(path, arrays, index),
            class_names=index["class_names"],
            notes=index["notes"],
            stored=rows,
        )


def verify_folder(path: Path) -> None:
    """Compare every file of a graph folder with its checksums."""
    with prefix_errors(path):
        for name, about in _checked_index(path)["files"].items():
            for number, (is_now, was) in enumerate(zip(_block_checksums(path / name), about["blocks"], strict=True)):
                if is_now != was:
                    raise InputError(
                        f"{name} was altered: block {number + 1} of {len(about['blocks'])} is not as written"
                    )


def folder_checksum(path: Path) -> str:
    """The checksum of a graph folder, by its index."""
    with prefix_errors(path):
        return str(_checked_index(path)["checksum"])


def _checked_index(path: Path) -> dict[str, Any]:
    """Read graph.json; every field that is used has its type, and every file is there with its size."""
    index = _json(path / INDEX)
    if index.get("format") != FORMAT:
        raise InputError(f"{INDEX} is not that of a graph folder")
    if index.get("version") != VERSION:
        raise InputError(f"{INDEX} has version {index.get('version')!r}, and this program reads version {VERSION}")
    if index.get("checksum") != _checksum(index):
        raise InputError(f"{INDEX} was altered: its checksum is another")
    for name, about in index["files"].items():
        if Path(name).name != name or not (path / name).is_file():
            raise InputError(f"{name} is missing")
        if (size := (path / name).stat().st_size) != about["bytes"]:
            raise InputError(f"{name} was altered: it has {size:,} bytes where {about['bytes']:,} were written")
    for name in ARRAYS:
        if f"{name}.npy" not in index["files"]:
            raise InputError(f"{name}.npy is missing")
    return index


def _checksum(index: Mapping[str, Any]) -> str:
    """Of everything but the source, which is where the graph came from and not what it is."""
    parts = {key: value for key, value in index.items() if key not in ("checksum", "source")}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path.name} is not JSON") from None
    if not isinstance(value, dict):
        raise InputError(f"{path.name} is not a JSON object")
    return value


def _block_checksums(path: Path) -> list[str]:
    with path.open("rb", buffering=0) as file:
        return [hashlib.sha256(block).hexdigest() for block in iter(lambda: file.read(BLOCK), b"")]


def _mapped(path: Path, name: str) -> NDArray[Any]:
    types, dimensions = _KINDS[name]
    try:
        array: NDArray[Any] = np.load(path / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{name}.npy is damaged: {first_words(error)}") from None
    if array.dtype.name not in types.split() or array.ndim != dimensions:
        raise InputError(f"{name}.npy holds {array.dtype.name} of {array.ndim} dimensions, which is not what it should")
    return array


def _attributes(folder: str, index: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> AttributeMatrix | None:
    if "x_data" not in arrays:
        return None
    return open_attributes(StoredAttributes(folder, index["checksum"], index["num_attributes"]))


def _names(path: Path, arrays: Mapping[str, NDArray[Any]], index: Mapping[str, Any]) -> StoredNames | None:
    if "ids" in arrays:
        return StoredNames(arrays["ids"])
    if TEXT_IDS not in index["files"]:
        return None

    def read() -> Sequence[str]:
        import polars as pl

        ids: Sequence[str] = pl.read_parquet(path / TEXT_IDS)["id"].to_list()
        return ids

    return StoredNames(read)
