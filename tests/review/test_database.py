"""The file of a review: transactions, and who can open it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from focusedcleaner.errors import InputWarning
from focusedcleaner.review.store import FILE, Store, StoreError
from focusedcleaner.runs import Run
from tests.hostile.child import command
from tests.review.sample_runs import a_store


def orphan(store: Store) -> None:
    """An event about no edge, which is noticed only when it is committed."""
    with store.transaction():
        store.rows("PRAGMA defer_foreign_keys = ON")
        store.rows("INSERT INTO events (rank, reviewer, kind, value, at) VALUES (99, 'ann', 'note', '', '')")


def test_a_failed_commit_leaves_no_transaction(run: Run) -> None:
    with a_store(run) as store:
        with pytest.raises(StoreError, match="FOREIGN KEY"):
            orphan(store)
        store.decide(12, "ann", "planted")
        assert store.decision(12, "ann").verdict == "planted"


# Other users ---------------------------------------------------------------------------------------------------------


def modes(run: Run) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in run.path.glob(f"{FILE}*")}


def test_a_new_store_is_private(run: Run) -> None:
    before = os.umask(0)
    try:
        with a_store(run) as store:
            store.decide(1, "ann", "planted")
            assert modes(run) == dict.fromkeys((FILE, f"{FILE}-wal", f"{FILE}-shm"), 0o600)
    finally:
        os.umask(before)


def test_a_store_that_others_can_open_is_narrowed(run: Run) -> None:
    with a_store(run):
        pass
    (run.path / FILE).chmod(0o644)
    with pytest.warns(InputWarning, match="other users could open it; it is private again"), a_store(run):
        assert set(modes(run).values()) == {0o600}
    with a_store(run) as store:
        store.decide(12, "ann", "planted")
        assert set(modes(run).values()) == {0o600}


def test_a_store_of_another_user_stays_open(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    with a_store(run):
        pass
    (run.path / FILE).chmod(0o664)
    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.warns(InputWarning, match="isn't yours to close"), a_store(run) as store:
        assert store.size() == 40


def test_an_export_follows_the_umask(run: Run, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        assert command("review", run.path, "--export", tmp_path / "a.csv").code == 0
    finally:
        os.umask(before)
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o644
