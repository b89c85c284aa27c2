"""What becomes of a `review.sqlite` that is damaged, foreign or locked."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.cli import main
from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.review import database
from focusedcleaner.review.export import export, select_edges
from focusedcleaner.review.page import Review
from focusedcleaner.review.store import FILE, StoreError
from focusedcleaner.review.view import View
from focusedcleaner.runs import Run, read_run
from tests.hostile.child import command, in_child
from tests.review.sample_runs import a_client, a_review, a_run, a_store, form

PAGE = 4096


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with verdicts and notes of two reviewers, an undo and a re-ranking."""
    run = a_run(tmp_path_factory.mktemp("runs") / "RUN", edges=12)
    with a_store(run) as store:
        for rank in range(1, 9):
            store.decide(rank, "ann", "planted" if rank % 3 else "genuine", "odd" if rank == 2 else None)
        store.decide(2, "bob", "genuine")
        store.undo("ann")
    with a_review(run) as review, a_client(review) as client:
        assert client.post("/rerank", data=form(client)).status_code == 200
    return run.path


@pytest.fixture
def run(judged: Path, tmp_path: Path) -> Run:
    """A copy of it."""
    shutil.copytree(judged, tmp_path / "RUN")
    return read_run(tmp_path / "RUN")


def sql(*statements: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()

    return change


def retyped(table: str, old: str, new: str, change: str) -> Callable[[Path], None]:
    """A table with another definition of a column, so that any value fits, and a change in it."""
    return sql(
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET sql = replace(sql, '{old}', '{new}') WHERE name = '{table}'",
        "PRAGMA writable_schema = RESET",
        "DROP TRIGGER events_hold",
        change,
        "CREATE TRIGGER events_hold BEFORE UPDATE ON events BEGIN SELECT 1; END",
    )


def foreign(path: Path) -> None:
    path.unlink()
    sql("CREATE TABLE songs (name TEXT)")(path)


def foreign_meta(path: Path) -> None:
    path.unlink()
    sql("CREATE TABLE meta (author TEXT)")(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def other_wal(path: Path) -> None:
    """The write-ahead log of another database."""
    other = path.with_name("other.sqlite")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE songs (name TEXT)")
        connection.commit()
        shutil.copy(f"{other}-wal", f"{path}-wal")


def cut(part: float) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, int(path.stat().st_size * part))


def overwritten(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(2 * PAGE)
        file.write(np.random.default_rng(0).bytes(path.stat().st_size - 2 * PAGE))


def unreadable_schema(path: Path) -> None:
    """SQLite quotes the definition in its message, which is not UTF-8 then."""
    sql(
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = CAST(x'437245617445e4' AS TEXT) WHERE name = 'events_reviewer'",
    )(path)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "text": (lambda path: path.write_text("not a database " * 999), "is not a review"),
    "zeros": (lambda path: path.write_bytes(bytes(9999)), "is not a review"),
    "half": (cut(0.5), "is damaged"),
    "a few bytes": (cut(0.001), "is damaged"),
    "pages": (overwritten, "is damaged"),
    "schema": (unreadable_schema, "is damaged"),
    "foreign": (foreign, "it is a database of something else"),
    "foreign with meta": (foreign_meta, "can't be used as a review: no such column"),
    "folder": (folder, "can't be opened: Is a directory"),
    "newer": (sql("UPDATE meta SET value = '2' WHERE key = 'version'"), "was made by another version"),
    "no version": (sql("DELETE FROM meta"), "was made by another version"),
    "another run": (sql("UPDATE meta SET value = 'x' WHERE key = 'run'"), "belongs to another run"),
    "no decisions": (sql("DROP TABLE decisions"), "it lacks decisions"),
    "no events": (sql("DROP TABLE events"), "it lacks events"),
    "no edges": (sql("DROP TABLE edges"), "it lacks edges"),
    "no trigger": (sql("DROP TRIGGER events_hold"), "it lacks events_hold"),
    "too few edges": (sql("DELETE FROM edges WHERE rank = 12"), "does not hold the run's 12 edges"),
    "no score": (
        retyped("edges", "score REAL NOT NULL", "score", "UPDATE edges SET score = NULL WHERE rank = 1"),
        "edges",
    ),
    "score as text": (sql("UPDATE edges SET score = 'high' WHERE rank = 3"), "edges has values of a wrong type"),
    "name as bytes": (sql("UPDATE edges SET u = x'ff' WHERE rank = 3"), "edges has values of a wrong type"),
    "unknown status": (sql("UPDATE edges SET status = 'guilty' WHERE rank = 3"), "edges has values of a wrong type"),
    "unknown verdict": (
        retyped("decisions", "''unsure'', ", "''guilty'', ", "UPDATE decisions SET verdict = 'guilty' WHERE rank = 3"),
        "decisions has values of a wrong type",
    ),
    "forged verdict": (sql("UPDATE decisions SET verdict = 'planted' WHERE rank = 3"), "its log of events differ"),
    "forged status": (sql("UPDATE edges SET status = 'planted' WHERE rank = 3"), "its log of events differ"),
    "forged note": (sql("UPDATE decisions SET note = 'fine' WHERE rank = 3"), "its log of events differ"),
    "lost decision": (sql("DELETE FROM decisions WHERE rank = 3"), "its log of events differ"),
    "another's wal": (other_wal, ""),
}
SERVED_ONLY = {
    "re-ranking": sql("UPDATE meta SET value = '[]' WHERE key = 'rerank'"),
    "re-ranking, a field": sql("UPDATE meta SET value = json_set(value, '$.up', 'many') WHERE key = 'rerank'"),
}
"""What only the page reads."""


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_store_is_refused(run: Run, damage: str) -> None:
    harm, words = DAMAGES[damage]
    harm(run.path / FILE)
    with pytest.raises(InputError) as error, a_store(run):
        pass
    assert str(error.value).startswith(f"{run.path / FILE}: ")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [*DAMAGES, *SERVED_ONLY])
def test_every_command_says_so_in_one_line(run: Run, tmp_path: Path, damage: str) -> None:
    harm = DAMAGES[damage][0] if damage in DAMAGES else SERVED_ONLY[damage]
    commands = [["review", run.path, "--no-browser"]]
    if damage in DAMAGES:
        commands += [["review", run.path, "--export", tmp_path / "a.csv"], ["apply", run.path]]
    harm(run.path / FILE)
    for words in commands:
        outcome = command(*words)
        assert outcome.refused, (words, outcome)
        assert f"{FILE}: " in outcome.err
    assert not (tmp_path / "a.csv").exists()
    assert not (run.path / "reviewed.npz").exists()


def test_another_files_log_is_not_merged(run: Run) -> None:
    content = (run.path / FILE).read_bytes()
    other_wal(run.path / FILE)
    with pytest.raises(InputError), a_store(run):
        pass
    assert (run.path / FILE).read_bytes() == content
    (run.path / f"{FILE}-wal").unlink()
    with a_store(run) as store:
        assert store.reviewers() == {"ann": 7, "bob": 1}


def test_an_empty_store_is_no_review(run: Run, tmp_path: Path) -> None:
    os.truncate(run.path / FILE, 0)
    outcome = command("apply", run.path)
    assert outcome.refused
    assert "has not been reviewed" in outcome.err
    with pytest.warns(InputWarning, match="holds no review yet: a new one begins"), a_store(run) as store:
        assert store.counts()["open"] == 12


def harmless(run: Run, expected: list[int]) -> bool:
    """Use a store that may be damaged; whether it could be used. What it says must be right in that case."""
    try:
        with a_review(run) as review:
            assert select_edges(review.store).ranks.tolist() == expected
            for kind in ("csv", "json"):
                "".join(export(review.store, kind))
            for view in (View(), View(state="planted"), View(text="node", sort="score"), View(sort="recent")):
                review.page(view, "ann")
    except InputError:
        return False
    return True


def flips(run: Run, times: int) -> tuple[int, int]:
    """Flip bits at random places, or overwrite a page; how many were refused and how many did no harm."""
    path = run.path / FILE
    content = path.read_bytes()
    with a_store(run) as store:
        expected = select_edges(store).ranks.tolist()
    rng = np.random.default_rng(0)
    usable = 0
    for turn in range(times):
        damaged = bytearray(content)
        if turn % 4:
            for place in rng.integers(0, len(content), turn % 4):
                damaged[place] ^= 1 << rng.integers(0, 8)
        else:
            place = PAGE * int(rng.integers(0, len(content) // PAGE))
            damaged[place : place + PAGE] = rng.bytes(PAGE)
        for end in ("", "-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        path.write_bytes(damaged)
        path.chmod(0o600)
        usable += harmless(run, expected)
    return times - usable, usable


def test_flipped_bits_do_no_harm(run: Run) -> None:
    refused, _ = flips(run, 24)
    assert refused >= 6


@pytest.mark.campaign
def test_many_flipped_bits_do_no_harm(run: Run, figures: Callable[..., None]) -> None:
    refused, usable = flips(run, 2000)
    figures("review-damage", tried=refused + usable, refused=refused, harmless=usable, wrong=0, tracebacks=0)


# Locked, full, read-only ---------------------------------------------------------------------------------------------


@pytest.fixture
def locked(run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """A run whose store another program has for itself."""
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    with closing(sqlite3.connect(run.path / FILE, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        yield run


def test_a_locked_store_is_refused(locked: Run) -> None:
    with pytest.raises(StoreError, match="is locked by another program"), a_store(locked):
        pass


def test_a_store_that_is_being_written_can_be_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    with a_review(run) as review, a_client(review) as client:
        fields = form(client, edge=12, verdict="planted")
        with closing(sqlite3.connect(run.path / FILE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert client.get("/").status_code == 200
            answer = client.post("/decide", data=fields)
            assert (answer.status_code, "is locked by another program" in answer.text) == (503, True)
            other.execute("ROLLBACK")
        assert client.post("/decide", data=fields).status_code == 200


def test_a_store_that_is_damaged_meanwhile(run: Run) -> None:
    with a_review(run) as review, a_client(review) as client:
        fields = form(client, edge=12, verdict="planted")
        review.store.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        review.store.rows("PRAGMA shrink_memory")
        overwritten(run.path / FILE)
        for answer in (client.get("/?sort=score"), client.post("/decide", data=fields)):
            assert (answer.status_code, answer.text) == (503, f"Nothing was saved. {run.path / FILE}: is damaged\n")


def test_a_full_disk_while_it_is_made(run: Run, tmp_path: Path) -> None:
    (run.path / FILE).unlink()

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        main(["review", str(run.path), "--export", str(tmp_path / "a.csv")])

    outcome = in_child(limited)
    assert outcome.refused, outcome
    assert not (tmp_path / "a.csv").exists()
    outcome = command("review", run.path, "--export", tmp_path / "a.csv")
    note = f"note: {run.path / FILE}: holds no review yet: a new one begins\n"
    assert (outcome.code, outcome.err) == (0, note)


def test_a_place_that_can_not_be_written(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreError, match="can't be opened: Permission denied"), a_store(run):
        pass


def test_the_page_needs_a_readable_re_ranking(run: Run) -> None:
    SERVED_ONLY["re-ranking"](run.path / FILE)
    with pytest.raises(StoreError, match="its re-ranking can't be read"), a_review(run) as review:
        assert isinstance(review, Review)
