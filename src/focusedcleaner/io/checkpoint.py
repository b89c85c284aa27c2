"""A checkpoint bound to one configuration."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.errors import InputError
from focusedcleaner.io.disk import Archive, npz_bytes, prefix_errors, write_files

SAVE_EVERY = 20.0
"""Seconds between two checkpoints."""


class Checkpoint:
    """Arrays by name in one npz file, written whole or not at all.

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
            arrays = {name: file.read(name) for name in file.names}
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
