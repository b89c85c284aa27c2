"""Several files together or not at all, journals and litter of killed processes, locks."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import graph_files, load_graph, save_graph, transaction
from focusedcleaner.io.transaction import JOURNAL, lock_file, locked, recover, remove_litter, write_files
from tests.hostile.child import in_child


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def write_journal(folder: Path, renamed: object, removed: object) -> None:
    """A journal that was written here, and is no copy."""
    journal = folder / JOURNAL
    journal.touch()
    journal.write_text(json.dumps({"renamed": renamed, "removed": removed, "inode": journal.stat().st_ino}))


def committed(folder: Path) -> None:
    """A transaction that was cut off at its commit."""
    (folder / "a").write_text("old")
    (folder / "gone").write_text("old")
    (folder / ".a.00000000.part").write_text("new")
    (folder / ".b.00000000.part").write_text("new")
    write_journal(folder, {".a.00000000.part": "a", ".b.00000000.part": "b"}, ["gone", "never there"])


def test_files_are_written_and_removed_together(tmp_path: Path) -> None:
    (tmp_path / "gone").write_text("old")
    write_files({tmp_path / "a": b"1", tmp_path / "b": b"2"}, remove=[tmp_path / "gone", tmp_path / "never there"])
    assert contents(tmp_path) == {"a": "1", "b": "2"}
    write_files({}, remove=[tmp_path / "never there"])
    write_files({}, remove=[tmp_path / "a"])
    assert contents(tmp_path) == {"b": "2"}


@pytest.mark.parametrize("done", [[], ["a"], ["a", "b"]])
def test_what_was_committed_is_completed(done: list[str], tmp_path: Path) -> None:
    committed(tmp_path)
    for name in done:
        os.replace(tmp_path / f".{name}.00000000.part", tmp_path / name)
    recover(tmp_path)
    assert contents(tmp_path) == {"a": "new", "b": "new"}


def test_a_reader_cares_about_its_own_file_only(tmp_path: Path) -> None:
    committed(tmp_path)
    recover(tmp_path, only="c")
    assert (tmp_path / JOURNAL).exists()
    recover(tmp_path, only="b")
    assert contents(tmp_path) == {"a": "new", "b": "new"}
    (tmp_path / JOURNAL).write_text("cut off")
    recover(tmp_path, only="c")
    assert not (tmp_path / JOURNAL).exists()
    (tmp_path / JOURNAL).symlink_to("a")
    write_files({tmp_path / "c": b"mine"})
    with pytest.raises(InputError, match="was left by somebody else"):
        write_files({tmp_path / "c": b"mine", tmp_path / "d": b"mine"})
    assert set(contents(tmp_path)) == {"a", "b", "c", JOURNAL}


def test_a_journal_of_another_user_is_not_carried_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: -1)
    write_files({tmp_path / "c": b"mine"})
    with pytest.raises(InputError, match="was left by somebody else"):
        recover(tmp_path)
    assert (tmp_path / "a").read_text() == "old"


def test_an_edge_list_is_never_read_beside_another_s_nodes(tmp_path: Path, graph: Graph) -> None:
    smaller = Graph.from_pairs(3, [[0, 1]])
    save_graph(graph, tmp_path / "g.csv")
    parts = {path.name: content for path, content in graph_files(smaller, tmp_path / "g.csv").items()}
    for name, content in parts.items():
        (tmp_path / f".{name}.00000000.part").write_bytes(content)
    write_journal(tmp_path, {f".{name}.00000000.part": name for name in parts}, [])
    os.replace(tmp_path / ".g.nodes.csv.00000000.part", tmp_path / "g.nodes.csv")
    assert load_graph(tmp_path / "g.csv") == smaller


def test_the_next_transaction_completes_it_too(tmp_path: Path) -> None:
    committed(tmp_path)
    write_files({tmp_path / "b": b"newer", tmp_path / "c": b"newer"})
    assert contents(tmp_path) == {"a": "new", "b": "newer", "c": "newer"}


def test_what_was_not_committed_is_dropped(tmp_path: Path) -> None:
    committed(tmp_path)
    (tmp_path / JOURNAL).write_text((tmp_path / JOURNAL).read_text()[:-5])
    recover(tmp_path)
    remove_litter(tmp_path)
    assert contents(tmp_path) == {"a": "old", "gone": "old"}


@pytest.mark.parametrize("name", ["../x", "/x", "a/b", "..", "", "a\\b", JOURNAL, 3])
def test_a_journal_names_files_of_its_folder_only(name: object, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "x").write_text("precious")
    (inner / ".a.00000000.part").write_text("bad")
    for renamed, removed in (({".a.00000000.part": name}, []), ({f"{name}": "a"}, []), ({}, [name])):
        write_journal(inner, renamed, removed)
        recover(inner)
        assert contents(inner) == {".a.00000000.part": "bad"}
        assert (tmp_path / "x").read_text() == "precious"


def test_a_copied_journal_is_not_carried_out(tmp_path: Path) -> None:
    committed(tmp_path)
    text = (tmp_path / JOURNAL).read_text()
    other = tmp_path / "from a stranger"
    other.mkdir()
    (other / JOURNAL).write_text(text)
    (other / "gone").write_text("precious")
    recover(other)
    assert contents(other) == {"gone": "precious"}


def test_only_litter_is_removed(tmp_path: Path) -> None:
    for name in (".a.00000000.part", ".b.00000000.part", ".a.part", "a.00000000.part"):
        (tmp_path / name).write_text("")
    with locked(tmp_path / ".b.00000000.part") as held:
        assert held
        assert in_child(lambda: remove_litter(tmp_path)).code == 0
    assert set(contents(tmp_path)) == {".b.00000000.part", ".a.part", "a.00000000.part"}
    write_files({tmp_path / "b": b""})
    assert set(contents(tmp_path)) == {"b", ".a.part", "a.00000000.part"}


def fail_at(monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    """Let the n-th rename fail."""
    real, calls = os.replace, iter(range(1, 100))

    def replace(*paths: Path) -> None:
        if next(calls) == call:
            raise OSError(28, "No space left on device")
        real(*paths)

    monkeypatch.setattr(os, "replace", replace)


def test_a_first_rename_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")
    fail_at(monkeypatch, 1)
    with pytest.raises(InputError, match="No space left"):
        write_files({tmp_path / "a": b"new", tmp_path / "b": b"new"})
    assert contents(tmp_path) == {"a": "old"}


def test_a_later_rename_that_fails_is_made_up_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")
    fail_at(monkeypatch, 2)
    with pytest.raises(InputError, match="No space left"):
        write_files({tmp_path / "a": b"new", tmp_path / "b": b"new"})
    recover(tmp_path)
    assert contents(tmp_path) == {"a": "new", "b": "new"}


def test_a_lock_is_one_process_s(tmp_path: Path) -> None:
    def code(*, shared: bool) -> int:
        def take() -> None:
            with locked(tmp_path, shared=shared):
                pass

        return in_child(take).code

    with locked(tmp_path):
        assert code(shared=False) == code(shared=True) == 1
    with locked(tmp_path, shared=True):
        assert code(shared=False) == 1
        assert code(shared=True) == 0
    assert code(shared=False) == 0
    with locked(tmp_path / "nowhere") as held:
        assert not held


def test_a_lock_file_goes_with_its_lock(tmp_path: Path) -> None:
    with lock_file(tmp_path / "p.npz"):
        assert os.listdir(tmp_path) == [".p.npz.lock"]
        with pytest.raises(InputError, match=r"p\.npz: is in use by another"), lock_file(tmp_path / "p.npz"):
            pass
    assert os.listdir(tmp_path) == []


def without_locks(folder: Path) -> None:
    vars(transaction)["fcntl"] = None
    committed(folder)
    write_files({folder / "b": b"newer", folder / "c": b"newer"})
    with lock_file(folder / "d"), locked(folder) as held:
        assert held
    assert contents(folder) == {"a": "new", "b": "newer", "c": "newer"}


def test_a_system_without_locks_goes_without(tmp_path: Path) -> None:
    outcome = in_child(lambda: without_locks(tmp_path))
    assert outcome.code == 0, outcome.err
