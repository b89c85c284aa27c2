"""Graph folders, written: whole or not at all, and resumed after the last finished file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import folder, folder_writer
from focusedcleaner.io.folder import open_folder, verify_folder
from focusedcleaner.io.folder_writer import FolderWriter, write_folder
from focusedcleaner.io.transaction import lock_file

GRAPH = synthetic(60, num_attributes=10)
FILES = 12
"""The arrays of such a graph."""


def contents(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir()}


class Killed(Exception):
    pass


@pytest.mark.parametrize("finished", range(FILES))
def test_a_try_that_was_cut_off_is_continued(finished: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path / "whole", {"graph": "g.npz"}, GRAPH)
    assert len(contents(tmp_path / "whole")) == FILES + 1
    place, whole = tmp_path / "G", FolderWriter._add

    def add(self: FolderWriter, name: str, head: bytes, body: Any) -> None:
        if len(self.files) == finished and name not in self.files:
            (self.part / name).write_bytes(b"half")
            raise Killed
        whole(self, name, head, body)

    with monkeypatch.context() as patch:
        patch.setattr(FolderWriter, "_add", add)
        with pytest.raises(Killed):
            write_folder(place, {"graph": "g.npz"}, GRAPH)
    assert not place.exists()
    if finished:
        with pytest.raises(InputError, match="an ingest was cut off here: continue it with --resume"):
            write_folder(place, {"graph": "g.npz"}, GRAPH)
    write_folder(place, {"graph": "g.npz"}, GRAPH, resume=True)
    assert contents(place) == contents(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["G", "whole"]


def test_what_was_read_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(folder_writer, "_write_rows", stop)
        with pytest.raises(Killed):
            write_folder(tmp_path / "G", {}, GRAPH)
    write_folder(tmp_path / "G", {}, lambda: pytest.fail("the graph was read again"), resume=True)
    verify_folder(tmp_path / "G")


def test_a_folder_that_lacks_its_name_alone_gets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.rename", stop)
        with pytest.raises(InputError, match="G: No space left on device"):
            write_folder(tmp_path / "G", {}, GRAPH)
    write_folder(tmp_path / "G", {}, lambda: pytest.fail("the graph was read again"), resume=True)
    verify_folder(tmp_path / "G")


def test_a_try_of_another_file_is_not_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(folder_writer, "_write_rows", stop)
        with pytest.raises(Killed):
            write_folder(tmp_path / "G", {"graph": "one.csv"}, GRAPH)
    with pytest.raises(InputError, match="was begun from another file or with other options"):
        write_folder(tmp_path / "G", {"graph": "other.csv"}, GRAPH, resume=True)


def test_a_graph_that_can_not_be_read_leaves_nothing(tmp_path: Path) -> None:
    def read() -> Graph:
        raise InputError("g.csv: line 3: has 1 columns")

    with pytest.raises(InputError, match=r"^g.csv: line 3"):
        write_folder(tmp_path / "G", {}, read)
    assert list(tmp_path.iterdir()) == []


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with lock_file(tmp_path / "G"), pytest.raises(InputError, match="G: is in use by another focusedcleaner process"):
        write_folder(tmp_path / "G", {}, GRAPH)
    assert list(tmp_path.iterdir()) == []


def test_places_that_can_not_be_written_are_refused(tmp_path: Path) -> None:
    (tmp_path / "G").mkdir()
    with pytest.raises(InputError, match="G: exists already"):
        write_folder(tmp_path / "G", {}, GRAPH)
    with pytest.raises(InputError, match="there is no folder"):
        write_folder(tmp_path / "none" / "G", {}, GRAPH)


def test_files_of_several_blocks_have_a_checksum_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (folder, folder_writer):
        monkeypatch.setattr(module, "BLOCK", 1000)
    write_folder(tmp_path / "G", {}, GRAPH)
    assert np.array_equal(open_folder(tmp_path / "G", verify=True).degrees.sum(), 2 * GRAPH.num_edges)
    content = bytearray((tmp_path / "G" / "edges.npy").read_bytes())
    content[1500] ^= 1
    (tmp_path / "G" / "edges.npy").write_bytes(content)
    with pytest.raises(InputError, match=r"edges.npy was altered: block 2 of 3"):
        verify_folder(tmp_path / "G")


def test_names_that_are_no_ids_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be used: a name must not hold control characters"):
        write_folder(tmp_path / "G", {}, Graph(2, [[0, 1]], names=["a\0", "b"]))
    assert [path.name for path in tmp_path.iterdir()] == [".G.part"]
