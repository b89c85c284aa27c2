"""Files on disk: read without unpickling, with errors that name the file; checkpoints."""

from __future__ import annotations

import hashlib
import io
import json
import math
import struct
import sys
import time
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.io.transaction import write_files

SIZE_LIMIT = 16 * 2**30
"""Most bytes that the arrays of one npz file may take."""
UNSUSPICIOUS = 256 * 2**20
"""Bytes that the arrays of an npz file of any size may take."""
EXPANSION = 200
"""Arrays beyond `UNSUSPICIOUS` may take this many times the size of their file; 42 real graphs take 1 to 18."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
_BAD_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError)  # the last if encrypted or recursive
_DAMAGED = (*_BAD_ZIP, struct.error, tokenize.TokenError, SyntaxError, TypeError, ValueError, OverflowError)
"""What zipfile and numpy raise on a damaged npz file."""

SAVE_EVERY = 20.0
"""Seconds between two checkpoints."""


def checked_file(path: Path) -> Path:
    """The path itself, if it is a file."""
    if path.is_dir():
        raise InputError("is a folder, not a file")
    if not path.is_file():
        raise InputError("there is no such file")
    return path


def checksum(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_text(path: Path) -> str:
    """Read a UTF-8 file, with or without a byte-order mark."""
    try:
        return checked_file(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text (byte {error.start:,})") from None


class Archive:
    """An npz file opened for reading: arrays by name, never unpickled, never larger than the file can justify.

    Opening reads the headers of all arrays and nothing else.
    """

    def __init__(self, path: Path) -> None:
        checked_file(path)
        try:
            self._zip = zipfile.ZipFile(path)
        except _DAMAGED as error:
            raise InputError(f"is not an npz file, or a damaged one: {first_words(error)}") from None
        infos = [info for info in self._zip.infolist() if info.filename.endswith(".npy")]
        self._members = {info.filename.removesuffix(".npy"): info for info in infos}
        if len(self._members) < len(infos):
            raise InputError("is damaged: two of its arrays have the same name")
        if not all(name.isprintable() for name in self._members):
            raise InputError("is damaged: the name of an array holds control characters")
        self._headers = {name: self._header(name) for name in self._members}
        self._check_size(path.stat().st_size)

    def _check_size(self, file_size: int) -> None:
        """Refuse a small file of huge arrays; every number counts as eight bytes, as in the matrices made of it."""
        plain = (header for header in self._headers.values() if not header[1].hasobject)
        size = sum(math.prod(shape) * max(dtype.itemsize, 8) for shape, dtype in plain)
        if size > SIZE_LIMIT:
            raise InputError(f"its arrays take more than {SIZE_LIMIT // 2**30} GB")
        if size > max(UNSUSPICIOUS, EXPANSION * file_size):
            expanded = f"its {file_size:,} bytes would expand to {size:,}"
            raise InputError(f"{expanded}, which no graph does: if it is one, save it uncompressed (numpy.savez)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the arrays."""
        return iter(self._members)

    def is_pickled(self, name: str) -> bool:
        """Whether an array holds Python objects, which only unpickling could read."""
        return self._headers[name][1].hasobject

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array, by its header."""
        if name not in self._members:
            raise InputError(f"lacks the array {name}")
        if self.is_pickled(name):
            raise InputError(f"the array {name} is pickled and is not loaded: unpickling could run code")
        return self._headers[name][0]

    def read(self, name: str) -> NDArray[Any]:
        """Read an array."""
        self.shape(name)  # refuses what can't be read
        with self._opened(name) as stream:
            array = npy.read_array(stream, allow_pickle=False)
        if not _is_valid_text(array):
            raise InputError(f"the array {name} is damaged: it holds invalid characters")
        return array

    def _header(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        with self._opened(name) as stream:
            version = npy.read_magic(stream)
            if version not in ((1, 0), (2, 0)):
                raise ValueError(f"version {version[0]}.{version[1]} of the npy format is not known")
            read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, dtype = read_header(stream)
        if min(shape, default=0) < 0:
            raise InputError(f"the array {name} is damaged: its shape is {shape}")
        if not dtype.hasobject and math.prod(shape) * dtype.itemsize > self._members[name].file_size:
            raise InputError(f"the array {name} is damaged: it is shorter than it says")
        return shape, dtype

    @contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO]:
        try:
            with self._zip.open(self._members[name]) as stream, warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # numpy's, about files of Python 2
                yield stream  # type: ignore[misc]
        except _DAMAGED as error:
            raise InputError(f"the array {name} is damaged: {first_words(error)}") from None


def _is_valid_text(array: NDArray[Any]) -> bool:
    """Whether every code point of a text array exists; Python would fail on others much later."""
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return True
    codes = np.ascontiguousarray(array).reshape(-1).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    return bool(codes.max() <= sys.maxunicode)


def first_words(error: BaseException) -> str:
    """The beginning of a library's message, on one line: the rest may quote the file."""
    line = " ".join(str(error).split()).strip("'\"")
    return (line if len(line) <= 100 else f"{line[:100]} …") or type(error).__name__


def npz_bytes(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The bytes of an npz file of these arrays; the same arrays give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy", date_time=_EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o644 << 16
            with archive.open(info, "w", force_zip64=True) as stream:
                npy.write_array(stream, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


class Checkpoint:
    """Arrays by name in one npz file that is bound to one configuration.

    Args:
        path: the file; None saves nothing.
        run: everything that determines the computation, as JSON values; a checkpoint of another run is refused.
    """

    def __init__(self, path: Path | None, **run: Any) -> None:
        self.path = path
        self.key = hashlib.sha256(json.dumps(run, sort_keys=True).encode()).hexdigest()
        self.saved = time.monotonic()

    def load(self) -> dict[str, NDArray[Any]]:
        """The arrays in the file; none if there is no file."""
        if self.path is None or not self.path.exists():
            return {}
        with prefix_errors(self.path), Archive(self.path) as file:
            arrays = {name: file.read(name) for name in file}
        if str(arrays.pop("key", "")) != self.key:
            raise InputError(f"{self.path} belongs to another graph, method, budget or seed: resume with the same")
        return arrays

    def save(self, arrays: Mapping[str, Any]) -> None:
        self.saved = time.monotonic()
        if self.path is not None:
            write_files({self.path: npz_bytes({"key": np.asarray(self.key), **arrays})})

    @property
    def due(self) -> bool:
        """Whether it is time to save again."""
        return self.path is not None and time.monotonic() - self.saved > SAVE_EVERY
