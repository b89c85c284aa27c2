"""Files are read without unpickling and written whole or not at all; a checkpoint is bound to one configuration."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import SUFFIXES, disk, load_graph, save_graph
from focusedcleaner.io.disk import Checkpoint
from tests.io.helpers import stored


def test_loading_never_unpickles(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (os.mkdir, (str(tmp_path / "sprung"),))

    trap = np.array([Trap()], dtype=object)
    load_graph(stored(tmp_path, idx_to_node=trap))
    with pytest.raises(InputError, match="pickled"):
        load_graph(stored(tmp_path, adj_data=trap))
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("content", [b"", b"not a zip file", b"PK\x03\x04 cut short"])
def test_a_file_that_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "graph.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"graph\.npz: is not an npz file, or a damaged one"):
        load_graph(tmp_path / "graph.npz")


def test_an_array_that_claims_more_than_is_there_is_not_allocated(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**14,)})
    path = stored(tmp_path, adj_data=None)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("adj_data.npy", header.getvalue() + b"12345678")
    with pytest.raises(InputError, match="shorter than it says"):
        load_graph(path)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "SIZE_LIMIT", 200)
    with pytest.raises(InputError, match="its arrays take more than"):
        load_graph(stored(tmp_path))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"graph{suffix}"
    save_graph(Graph.from_pairs(2, [[0, 1]]), path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def fail(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match="Permission denied"):
        save_graph(Graph.from_pairs(3, [[0, 2]]), path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_written_file_has_the_rights_that_any_new_file_has(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    save_graph(Graph.from_pairs(1, []), tmp_path / "graph.npz")
    assert (tmp_path / "graph.npz").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_checkpoint_is_loaded_by_the_same_run(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.npz"
    assert Checkpoint(path, seed=1).load() == {}
    Checkpoint(path, seed=1, budget="10%").save({"removed": np.array([[0, 1]]), "round": 3})
    arrays = Checkpoint(path, budget="10%", seed=1).load()
    assert arrays["removed"].tolist() == [[0, 1]]
    assert int(arrays["round"]) == 3
    assert set(arrays) == {"removed", "round"}


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.npz"
    Checkpoint(path, seed=1).save({})
    with pytest.raises(InputError, match="belongs to another graph, method, budget or seed"):
        Checkpoint(path, seed=2).load()


def test_without_a_path_no_checkpoint_is_saved_or_due(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(disk, "SAVE_EVERY", -1.0)
    nowhere = Checkpoint(None, seed=1)
    nowhere.save({"round": 1})
    assert nowhere.load() == {}
    assert not nowhere.due
    assert Checkpoint(tmp_path / "checkpoint.npz", seed=1).due
