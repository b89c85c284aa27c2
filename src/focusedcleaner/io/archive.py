"""npz archives: arrays out of files that nobody vouches for, and into files that are the same every time."""

from __future__ import annotations

import io
import math
import struct
import sys
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from focusedcleaner.errors import InputError
from focusedcleaner.io.disk import checked_file

LARGEST = 16 * 2**30
"""Bytes that the arrays of one file may take."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    tokenize.TokenError,
    EOFError,
    KeyError,
    RuntimeError,  # an encrypted or recursive file; NotImplementedError is one too
    SyntaxError,
    TypeError,
    ValueError,
    OverflowError,
)


class Archive:
    """An npz file opened for reading: arrays by name, never unpickled and never larger than the file admits."""

    def __init__(self, path: Path) -> None:
        checked_file(path)
        try:
            self._zip = zipfile.ZipFile(path)
        except _BROKEN as error:
            raise InputError(f"is not an npz file, or a damaged one: {_line(error)}") from None
        self._members = {
            info.filename.removesuffix(".npy"): info for info in self._zip.infolist() if info.filename.endswith(".npy")
        }
        self._room = LARGEST

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._zip.close()

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that the file holds."""
        return tuple(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def is_pickled(self, name: str) -> bool:
        """Whether a member holds Python objects, which only unpickling could give."""
        return self._header(name)[1].hasobject

    def read(self, name: str) -> NDArray[Any]:
        """Read the array of that name."""
        if name not in self._members:
            raise InputError(f"lacks the array {name}")
        shape, dtype = self._header(name)
        if dtype.hasobject:
            raise InputError(f"the array {name} is pickled: it could run code when loaded, so it is not")
        info = self._members[name]
        if math.prod(shape) * dtype.itemsize > info.file_size:
            raise InputError(f"the array {name} is damaged: it is shorter than it says")
        self._room -= info.file_size
        if self._room < 0:
            raise InputError(f"its arrays take more than {LARGEST // 2**30} GB")
        try:
            with self._zip.open(info) as stream, _quiet():
                array = npy.read_array(stream, allow_pickle=False)
        except _BROKEN as error:
            raise InputError(f"the array {name} is damaged: {_line(error)}") from None
        if not _is_text(array):
            raise InputError(f"the array {name} is damaged: it holds characters that do not exist")
        return array

    def _header(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        try:
            with self._zip.open(self._members[name]) as stream, _quiet():
                shape, _, dtype = _read_header(stream)  # type: ignore[arg-type]
        except _BROKEN as error:
            raise InputError(f"the array {name} is damaged: {_line(error)}") from None
        if min(shape, default=0) < 0:
            raise InputError(f"the array {name} is damaged: its shape is {shape}")
        return shape, dtype


def _is_text(array: NDArray[Any]) -> bool:
    """Whether each code point of a text array exists: Python would stumble over others much later."""
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return True
    codes = np.ascontiguousarray(array).reshape(-1).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    return bool(codes.max() <= sys.maxunicode)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep numpy from telling the user about files of Python 2, which are read all the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def _read_header(stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy.read_magic(stream)
    if version == (1, 0):
        return npy.read_array_header_1_0(stream)
    if version == (2, 0):
        return npy.read_array_header_2_0(stream)
    raise ValueError(f"version {version[0]}.{version[1]} of the npy format is not known")


def _line(error: BaseException) -> str:
    """The beginning of what another library says, which may go on to quote the file."""
    line = " ".join(str(error).split()).strip("'\"")
    return (line if len(line) <= 100 else f"{line[:100]} …") or type(error).__name__


def packed(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Write arrays as the bytes of an npz file: the same arrays give the same bytes."""
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
