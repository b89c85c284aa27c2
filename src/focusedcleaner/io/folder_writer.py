"""Graph folders written, whole or not at all, and resumed after an interruption.

A folder is written beside its place (``.NAME.part``). Each file that is finished is noted at once in a journal, with
the checksums of its blocks, so that `focusedcleaner ingest --resume` goes on after it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from focusedcleaner.adjacency_rows import ARRAYS, AdjacencyRows, StoredNames
from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.graph import PARTS, Graph
from focusedcleaner.io import node_text
from focusedcleaner.io.folder import BLOCK, FORMAT, INDEX, TEXT_IDS, VERSION, index_checksum, read_object
from focusedcleaner.io.transaction import lock_file, recover, remove_litter, sync_folder, write_files

_JOURNAL = "journal.json"
_CREATE = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | getattr(os, "O_BINARY", 0)


class FolderWriter:
    """Writes the files of a graph folder, each once, into a hidden folder beside its place.

    Args:
        path: the folder's place.
        source: what the graph is made of; a part of another source is not continued.
    """

    def __init__(self, path: Path, source: Mapping[str, Any]) -> None:
        self.path, self.part = path, path.with_name(f".{path.name}.part")
        self.source = json.loads(json.dumps(dict(source)))
        self.files: dict[str, dict[str, Any]] = {}
        self.about: dict[str, Any] | None = None
        """What was read beside arrays; once it is known, the graph's file need not be read again."""
        self.written = False
        """Whether the folder lacks nothing but its name."""

    @property
    def _journal(self) -> Path:
        return self.part / _JOURNAL

    def begin(self, *, resume: bool) -> None:
        """Take over the finished files of an earlier try, or start afresh.

        Raises:
            InputError: an earlier try is there and ``resume`` is not set, or it was made from another source.
        """
        if self.part.is_dir():
            recover(self.part)
            remove_litter(self.part)
        self.written = (self.part / INDEX).is_file()
        earlier = self.part / INDEX if self.written else self._journal
        if not earlier.is_file():
            shutil.rmtree(self.part, ignore_errors=True)
            self.part.mkdir()
            return
        if not resume:
            raise InputError(f"an ingest was cut off here: continue it with --resume, or remove {self.part}")
        journal = read_object(earlier)
        if journal.get("source") != self.source:
            raise InputError(f"{self.part} was begun from another file or with other options: remove it")
        self.about = journal.get("about")
        for name, about in journal["files"].items():
            if (self.part / name).is_file() and (self.part / name).stat().st_size == about["bytes"]:
                self.files[name] = about

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Write an array as NAME.npy, unless an earlier try has."""
        header = io.BytesIO()
        array = np.ascontiguousarray(array)
        npy.write_array_header_1_0(header, npy.header_data_from_array_1_0(array))
        self._add(f"{name}.npy", header.getvalue(), array.reshape(-1).view(np.uint8).data)

    def add_file(self, name: str, content: bytes) -> None:
        """Write another file, unless an earlier try has."""
        self._add(name, b"", content)

    def _add(self, name: str, head: bytes, body: bytes | memoryview) -> None:
        """Write a file and note it; its blocks are hashed in another thread meanwhile."""
        if name in self.files:
            return
        file = os.open(self.part / name, _CREATE, 0o666)
        try:
            with ThreadPoolExecutor(1) as hashing:
                sums = []
                for block in _blocks(head, body):
                    sums.append(hashing.submit(_sha256, block))
                    for part in block:
                        _write_all(file, part)
                os.fsync(file)
        finally:
            os.close(file)
        self.files[name] = {"bytes": len(head) + len(body), "blocks": [one.result() for one in sums]}
        self.note()

    def note(self, about: Mapping[str, Any] | None = None) -> None:
        """Note what is finished."""
        self.about = self.about if about is None else dict(about)
        journal = {"source": self.source, "about": self.about, "files": self.files}
        write_files({self._journal: json.dumps(journal).encode()})

    def read(self, name: str) -> NDArray[Any]:
        """Map an array that is finished."""
        loaded: NDArray[Any] = np.load(self.part / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        return loaded

    def finish(self) -> None:
        """Write the index, and give the folder its name."""
        if not self.written:
            assert self.about is not None
            files = dict(sorted(self.files.items()))
            index = {"format": FORMAT, "version": VERSION, **self.about, "source": self.source, "files": files}
            index["checksum"] = index_checksum(json.loads(json.dumps(index)))
            write_files({self.part / INDEX: f"{json.dumps(index, indent=1)}\n".encode()}, remove=[self._journal])
        os.rename(self.part, self.path)
        sync_folder(self.path.parent)


def _blocks(head: bytes, body: bytes | memoryview) -> Iterator[tuple[bytes | memoryview, ...]]:
    """A file of two parts in blocks of `BLOCK` bytes, each of one piece or two."""
    first = BLOCK - len(head)
    view = memoryview(body)
    yield head, view[:first]
    for start in range(first, len(view), BLOCK):
        yield (view[start : start + BLOCK],)


def _sha256(pieces: tuple[bytes | memoryview, ...]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _write_all(file: int, content: bytes | memoryview) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]


def check_free(path: Path) -> None:
    """Refuse a place where no graph folder can be written."""
    with prefix_errors(path):
        if path.exists():
            raise InputError("exists already: choose another folder for the graph")
        if not path.parent.is_dir():
            raise InputError(f"there is no folder {path.parent}")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise InputError(f"can't be written: {path.parent} is not writable")


@contextmanager
def opened_writer(path: Path, source: Mapping[str, Any], *, resume: bool = False) -> Iterator[FolderWriter]:
    """Check and lock the place of a graph folder; an earlier try is taken over if ``resume``.

    Raises:
        InputError: the folder exists, or another process is writing it, or it can't be written.
    """
    check_free(path)
    with lock_file(path):
        check_free(path)  # another process may have written it meanwhile
        writer = FolderWriter(path, source)
        with prefix_errors(path):
            writer.begin(resume=resume)
        try:
            yield writer
        finally:
            if not writer.files:
                shutil.rmtree(writer.part, ignore_errors=True)


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
    with opened_writer(path, source, resume=resume) as writer:
        if writer.about is None and not writer.written:
            graph = read() if callable(read) else read
            with prefix_errors(path):
                _write_parts(writer, graph)
            del graph
        with prefix_errors(path):
            if not writer.written:
                _write_rows(writer)
            writer.finish()


def _write_rows(writer: FolderWriter) -> None:
    """Write the adjacency by rows, made of the edges."""
    assert writer.about is not None
    if not all(f"{name}.npy" in writer.files for name in ARRAYS):
        rows = AdjacencyRows.of(writer.about["num_nodes"], writer.read("edges"))
        for name in ARRAYS:
            writer.add(name, getattr(rows, name))


def _write_parts(writer: FolderWriter, graph: Graph) -> None:
    """Write what a graph was read as, its nodes in canonical order; the rows of the adjacency are made of it."""
    # The order in which a method computes: it does not see the labels of test nodes.
    order = (graph if graph.split is None else graph.as_seen_by_defender()).canonical_order
    moved = not np.array_equal(order.nodes, np.arange(graph.num_nodes))
    features = graph.features
    writer.add("edges", order.pairs_to(graph.edges) if moved else graph.edges)
    if features is not None:
        rows = features[order.nodes] if moved else features
        writer.add("x_indptr", rows.indptr.astype(np.int64))
        writer.add("x_indices", rows.indices.astype(np.int32, copy=False))
        writer.add("x_data", rows.data.astype(np.float64, copy=False))
        del rows
    if graph.labels is not None:
        writer.add("labels", graph.labels[order.nodes])
    for part in PARTS if graph.split is not None else ():
        writer.add(part, np.sort(order.places(getattr(graph.split, part))))
    _write_ids(writer, graph.names_of(order.nodes))
    kept = features is not None and features.shape[1] == graph.num_attributes
    about = {
        "num_nodes": graph.num_nodes,
        "num_edges": graph.num_edges,
        "num_attributes": None if features is None else int(features.shape[1]),
        "class_names": graph.class_names,
        "attribute_names": graph.attribute_names if kept else None,
        "notes": dict(graph.notes),
    }
    writer.note(about)


def _write_ids(writer: FolderWriter, names: Any) -> None:
    if isinstance(names, StoredNames) and names.numbers is not None:
        writer.add("ids", names.numbers)
        return
    if all(type(name) is int and abs(name) < 2**63 for name in names):
        writer.add("ids", np.array(names, dtype=np.int64))
        return
    import polars as pl

    texts = node_text.checked_texts([str(name) for name in names], "id")
    buffer = io.BytesIO()
    pl.DataFrame({"id": pl.Series(texts, dtype=pl.String)}).write_parquet(buffer)
    writer.add_file(TEXT_IDS, buffer.getvalue())
