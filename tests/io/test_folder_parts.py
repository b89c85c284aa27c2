"""A machine that reads some rows of a graph folder checks just these."""

from __future__ import annotations

from pathlib import Path

import pytest

from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.io import folder, folder_parts, folder_writer
from focusedcleaner.io.folder import folder_checksum
from focusedcleaner.io.folder_parts import FolderParts
from focusedcleaner.io.folder_writer import write_folder


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A graph folder with a checksum for each kilobyte."""
    for module in (folder, folder_parts, folder_writer):
        monkeypatch.setattr(module, "BLOCK", 1000)
    write_folder(tmp_path / "graph", {}, synthetic(400, 5, 4, 0.8, 40, seed=3))
    return tmp_path / "graph"


def test_an_altered_part_is_found_by_whoever_reads_it(stored: Path) -> None:
    checksum = folder_checksum(stored)
    file = stored / "indices.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(bytes(content))
    FolderParts(stored, checksum).verify("indices", 0, 200)
    rows = (len(content) - 128) // 4
    with pytest.raises(InputError, match=r"graph: indices.npy was altered: block \d+ of \d+ is not as it was written"):
        FolderParts(stored, checksum).verify("indices", rows - 1, rows)


def test_a_damaged_header_is_found_first(stored: Path) -> None:
    (stored / "edges.npy").write_bytes(bytes((stored / "edges.npy").stat().st_size))
    with pytest.raises(InputError, match=r"graph: edges.npy was altered: block 1 of"):
        FolderParts(stored, folder_checksum(stored)).verify("edges", 500, 600)


def test_another_graph_or_none_is_refused(stored: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="graph: holds another graph than the one that is computed"):
        FolderParts(stored, "0" * 64)
    with pytest.raises(InputError, match=r"elsewhere: .*[Nn]o such file"):
        FolderParts(tmp_path / "elsewhere", "0" * 64)
    with pytest.raises(InputError, match=r"labelled.npy is missing"):
        FolderParts(stored, folder_checksum(stored)).verify("labelled", 0, 1)
