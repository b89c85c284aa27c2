"""What a worker of a Ray cluster does: it holds blocks of rows and computes kernels on them, with one thread."""

from __future__ import annotations

import os
import pickle
import platform
import socket
from collections.abc import Mapping
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from focusedcleaner.adjacency_rows import open_rows
from focusedcleaner.attribute_matrix import open_attributes
from focusedcleaner.engine.blocks import FeatureBlock, RowBlock
from focusedcleaner.engine.packing import pack, unpack
from focusedcleaner.errors import InputError
from focusedcleaner.io.disk import first_words
from focusedcleaner.io.folder_parts import FolderParts

VERSIONED = ("focusedcleaner", "torch", "numpy", "scipy")
"""Packages whose version decides about digits."""


def versions() -> dict[str, str]:
    """The versions of everything that decides about digits, here."""
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in VERSIONED}}


def processor() -> str:
    """What torch uses of this machine's processor."""
    return f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}"


class BlockWorker:
    """Blocks by their keys, and the kernels on them. It opens the blocks of a graph folder itself."""

    def __init__(self) -> None:
        torch.set_num_threads(1)
        threadpool_limits(1)
        self._blocks: dict[int, RowBlock | FeatureBlock] = {}

    def about(self) -> dict[str, Any]:
        """Where this worker is, and with what it computes."""
        return {"node": socket.gethostname(), "pid": os.getpid(), "versions": versions(), "processor": processor()}

    def run(
        self,
        shared: bytes,
        items: bytes,
        new: bytes,
        places: list[tuple[str, str | None]],
        dropped: list[int],
        split: int,
        *arrays: NDArray[Any],
    ) -> tuple[bytes, list[NDArray[Any]]]:
        """Compute a kernel on some items.

        Args:
            shared: the packed kernel and what all items share.
            items: the packed items, with keys instead of blocks.
            new: pickled blocks by their keys, to be held from now on.
            places: graph folders of new blocks, with their checksums.
            dropped: keys of blocks that are no longer needed.
            split: how many of the arrays belong to ``shared``.
            arrays: the large arrays of ``shared``, then those of ``items``.

        Returns:
            The packed results and None, or None and the error; and the large arrays of the results.
        """
        try:
            self._hold(new, places)
            for key in dropped:
                self._blocks.pop(key, None)
            kernel, values = unpack(shared, arrays[:split])
            chosen = unpack(items, arrays[split:], self._blocks.__getitem__)
            packed = pack(([kernel(item, *values) for item in chosen], None))
        except Exception as error:  # noqa: BLE001 raised again where the kernel was called
            packed = pack((None, _sendable(error)))
        return packed.data, packed.arrays

    def _hold(self, new: bytes, places: list[tuple[str, str | None]]) -> None:
        try:
            for folder, checksum in places:
                _parts(folder, checksum)  # before a file is mapped
            blocks: Mapping[int, RowBlock | FeatureBlock] = pickle.loads(new)
            for block in blocks.values():
                _verify(block)
        except InputError as error:
            raise InputError(f"node {socket.gethostname()}: {error}") from None
        except (OSError, ValueError) as error:  # a file that can't be mapped
            raise InputError(f"node {socket.gethostname()}: {places[0][0]}: {first_words(error)}") from None
        self._blocks |= blocks


def _sendable(error: Exception) -> Exception:
    """The error itself, if it comes out of pickling as it went in."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 whatever its class does
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


@lru_cache(maxsize=4)
def _parts(folder: str, checksum: str | None) -> FolderParts:
    return FolderParts(Path(folder), checksum)


def _verify(block: RowBlock | FeatureBlock) -> None:
    """Compare what a block reads of a graph folder with the checksums there."""
    if block.place is None:
        return
    if isinstance(block, RowBlock):
        folder, indptr, prefix = block.place, open_rows(*block.place).indptr, ""
    else:
        stored, _ = block.place
        folder, indptr, prefix = (stored.folder, stored.checksum), open_attributes(stored).indptr, "x_"
    parts = _parts(*folder)
    parts.verify(f"{prefix}indptr", block.start, block.stop + 1)
    entries = int(indptr[block.start]), int(indptr[block.stop])
    for name in ("x_indices", "x_data") if prefix else ("indices", "entry_edges"):
        parts.verify(name, *entries)
    if isinstance(block, RowBlock):
        parts.verify("edges", block.first_edge, block.first_edge + len(block.edges))
