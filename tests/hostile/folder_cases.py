"""Tampered graph folders: a change to the arrays of a folder, by name, whose checksums are made to fit again."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from focusedcleaner.io.folder import INDEX, index_checksum
from tests.hostile.case import claimed

Tamper = Callable[[Path], object]


def fitted(folder: Path) -> None:
    """Write checksums that fit the files, as a stranger can."""
    fields = json.loads((folder / INDEX).read_text())
    for name in fields["files"]:
        if (folder / name).is_file():
            content = (folder / name).read_bytes()
            fields["files"][name] = {"bytes": len(content), "blocks": [hashlib.sha256(content).hexdigest()]}
    fields["checksum"] = index_checksum(fields)
    (folder / INDEX).write_text(json.dumps(fields))


def _array(name: str, change: Callable[[Any], Any]) -> Tamper:
    def tamper(folder: Path) -> None:
        buffer = io.BytesIO()
        np.save(buffer, change(np.load(folder / f"{name}.npy")))
        (folder / f"{name}.npy").write_bytes(buffer.getvalue())
        fitted(folder)

    return tamper


def _bytes(name: str, content: bytes) -> Tamper:
    def tamper(folder: Path) -> None:
        (folder / name).write_bytes(content)
        fitted(folder)

    return tamper


def _index(**changed: Any) -> Tamper:
    def tamper(folder: Path) -> None:
        fields = json.loads((folder / INDEX).read_text()) | changed
        (folder / INDEX).write_text(json.dumps(fields))
        fitted(folder)

    return tamper


def _ids(column: pl.Series) -> Tamper:
    buffer = io.BytesIO()
    pl.DataFrame({"id": column}).write_parquet(buffer)
    return _bytes("ids.parquet", buffer.getvalue())


def _other(make: Callable[[Path], None]) -> Tamper:
    """Put something else in the place of the edges."""

    def tamper(folder: Path) -> None:
        (folder / "edges.npy").unlink()
        make(folder / "edges.npy")

    return tamper


def _plus(number: int) -> Callable[[Any], Any]:
    return lambda array: array + number


CASES: dict[str, Tamper] = {
    "edges beyond the nodes": _array("edges", _plus(10**9)),
    "negative edges": _array("edges", _plus(-5)),
    "edges that are not sorted": _array("edges", lambda array: array[::-1].copy()),
    "neighbours beyond the nodes": _array("indices", _plus(2**30)),
    "negative neighbours": _array("indices", _plus(-(2**30))),
    "entries of edges that are not there": _array("entry_edges", _plus(2**30)),
    "rows that begin beyond the end": _array("indptr", _plus(2**40)),
    "rows that go back": _array("indptr", lambda array: array[::-1].copy()),
    "attributes in columns that are not there": _array("x_indices", _plus(2**30)),
    "attributes of NaN": _array("x_data", lambda array: array * np.nan),
    "fewer attributes than entries": _array("x_data", lambda array: array[:3]),
    "attributes as text": _array("x_data", lambda array: array.astype("<U8")),
    "a class of 10**9": _array("labels", _plus(10**9)),
    "negative classes": _array("labels", _plus(-5)),
    "a split beyond the nodes": _array("test", _plus(10**9)),
    "a split that overlaps": _array("test", lambda array: np.array([0, 1, 2])),
    "pickled labels": _bytes("labels.npy", claimed("|O", (16,), b"\x80\x04N.")),
    "a header that claims 10**15 labels": _bytes("labels.npy", claimed("<i8", (10**15,))),
    "a header that ends early": _bytes("edges.npy", b"\x93NUMPY\x01\x00"),
    "an empty array file": _bytes("indices.npy", b""),
    "ids of junk": _bytes("ids.parquet", b"PAR1 and nothing else"),
    "ids that come twice": _ids(pl.Series(["n1"] * 16)),
    "ids of another number": _ids(pl.Series(["a", "b"])),
    "ids that are dates": _ids(pl.Series(range(16)).cast(pl.Date)),
    "10**9 nodes": _index(num_nodes=10**9),
    "no nodes": _index(num_nodes=0),
    "a negative number of edges": _index(num_edges=-1),
    "10**9 attributes": _index(num_attributes=10**9),
    "class names that are numbers": _index(class_names=[1, 2]),
    "too few class names": _index(class_names=["one"]),
    "too many attribute names": _index(attribute_names=[f"a{number}" for number in range(99)]),
    "notes that are a list": _index(notes=["a"]),
    "files that are a list": _index(files=[]),
    "an index that is a list": lambda folder: (folder / INDEX).write_text("[]"),
    "an index that is empty": lambda folder: (folder / INDEX).write_text(""),
    "an index that is not text": lambda folder: (folder / INDEX).write_bytes(b"\xff\xfe"),
    "an index that is nested deeply": lambda folder: (folder / INDEX).write_text("[" * 100_000),
    "an array that is a folder": _other(Path.mkdir),
    "an array that is a pipe": _other(os.mkfifo),
    "another version": _index(version="1"),
}
