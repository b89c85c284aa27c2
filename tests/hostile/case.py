"""A line of the table of hostile inputs, and how it is run."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from focusedcleaner.errors import InputError
from tests.hostile.child import Outcome, in_child
from tests.io.helpers import npz_arrays

WORKS = ""
"""The answer to input that is odd but usable."""

Content = str | bytes


@dataclass(frozen=True)
class Case:
    """A command with hostile input, and the expected answer: a fragment of one error line, or `WORKS`."""

    what: str
    answer: str
    words: tuple[object, ...] = ("check", "graph.npz")
    files: Mapping[str, Content] = field(default_factory=dict)
    """What is written into the current folder first."""
    point: int | None = None
    """The point of issue 15 that the case comes from."""
    megabytes: int = 512

    @property
    def id(self) -> str:
        return self.what if self.point is None else f"issue 15.{self.point}: {self.what}"

    def write(self, folder: Path) -> None:
        for name, content in self.files.items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def assert_answer(outcome: Outcome, answer: str) -> None:
    """The child worked, or refused its input in one line that holds the expected fragment."""
    assert "Traceback" not in outcome.err, outcome.err
    if answer == WORKS:
        assert outcome.code == 0, outcome
    else:
        assert outcome.refused, outcome
        assert answer in outcome.err, outcome.err


def call(function: Callable[[], Any], *, megabytes: int = 512) -> Outcome:
    """Call a function in a child; an `InputError` is reported as the command line does."""

    def run() -> None:
        try:
            function()
        except InputError as error:
            sys.stderr.write(f"error: {error}\n")
            sys.exit(2)

    return in_child(run, megabytes=megabytes)


def files_below(folder: Path) -> set[str]:
    return {os.path.relpath(Path(place) / name, folder) for place, _, names in os.walk(folder) for name in names}


def npz(**changed: Any) -> bytes:
    """The file of a path of three nodes, with some arrays changed or, if None, left out."""
    buffer = io.BytesIO()
    np.savez(buffer, **npz_arrays(**changed))
    return buffer.getvalue()


def zipped(members: Mapping[str, bytes], *, compress: bool = True) -> bytes:
    """A zip file of these members."""
    buffer = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def members(content: bytes) -> dict[str, bytes]:
    """The members of a zip file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def npy(header: str, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """An npy file with any header at all."""
    text = header.encode("latin-1") + b"\n"
    size = len(text).to_bytes(2 if version == b"\x01\x00" else 4, "little")
    return b"\x93NUMPY" + version + size + text + body


def with_member(name: str, content: bytes) -> bytes:
    """The file of a path of three nodes with one member replaced or added."""
    return zipped({**members(npz()), f"{name}.npy": content})


def claimed(descr: str, shape: tuple[int, ...], body: bytes = b"") -> bytes:
    """An npy file whose header claims a type and a shape."""
    return npy(str({"descr": descr, "fortran_order": False, "shape": shape}), body)
