"""Parts of a graph folder, for a machine that reads only some of its rows: what it reads is compared with the
checksums."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.io.folder import BLOCK, INDEX, folder_checksum


class FolderParts:
    """The files of a graph folder, each part of which is read and checked at most once.

    Args:
        path: the folder.
        checksum: that of the graph which it must hold.

    Raises:
        InputError: the folder is missing or damaged, or holds another graph.
    """

    def __init__(self, path: Path, checksum: str | None) -> None:
        self.path = path
        found = folder_checksum(path)
        with prefix_errors(path):
            if found != checksum:
                raise InputError("holds another graph than the one that is computed: the checksums differ")
            self._files = json.loads((path / INDEX).read_text())["files"]
        self._checked: set[tuple[str, int]] = set()

    def verify(self, name: str, start: int, stop: int) -> None:
        """Compare the parts of NAME.npy that hold the rows from ``start`` to ``stop`` with their checksums."""
        file = f"{name}.npy"
        with prefix_errors(self.path):
            if file not in self._files:
                raise InputError(f"{file} is missing")
            self._verify(file, 0)  # which says where the rows are
            array = np.load(self.path / file, mmap_mode="r", allow_pickle=False)
            first, last = (array.offset + row * array.strides[0] for row in (start, stop))
            for number in range(first // BLOCK, -(-last // BLOCK)):
                self._verify(file, number)

    def _verify(self, file: str, number: int) -> None:
        if (file, number) in self._checked:
            return
        written = self._files[file]["blocks"]
        with (self.path / file).open("rb", buffering=0) as opened:
            opened.seek(number * BLOCK)
            if hashlib.sha256(opened.read(BLOCK)).hexdigest() != written[number]:
                raise InputError(f"{file} was altered: block {number + 1} of {len(written)} is not as it was written")
        self._checked.add((file, number))
