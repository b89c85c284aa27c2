"""Decisions in SQLite beside the run, each on the disk before it is acknowledged."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import IntArray
from focusedcleaner.io.disk import prefix_errors
from focusedcleaner.review.schema import ensure
from focusedcleaner.runs import Run

FILE = "review.sqlite"
Verdict = Literal["planted", "genuine", "unsure", "open"]
Status = Literal["planted", "genuine", "unsure", "conflict", "open"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
STATUSES: tuple[Status, ...] = get_args(Status)
LONGEST_NAME, LONGEST_NOTE = 80, 4000


@dataclass(frozen=True)
class Decision:
    """What one reviewer says of an edge now."""

    reviewer: str
    verdict: Verdict
    note: str
    at: str


def together(verdicts: Sequence[Verdict]) -> Status:
    """What several reviewers say of an edge: planted against genuine is a conflict, and unsure yields to either.

    >>> together(["unsure", "planted"]), together(["planted", "genuine"]), together(["open"])
    ('planted', 'conflict', 'open')
    """
    if "planted" in verdicts and "genuine" in verdicts:
        return "conflict"
    return next((verdict for verdict in VERDICTS if verdict in verdicts), "open")


def checked_reviewer(name: str) -> str:
    """A reviewer's name without surplus space, or an `InputError`."""
    tidy = " ".join(name.split())
    if not tidy or len(tidy) > LONGEST_NAME or not tidy.isprintable():
        raise InputError(f"a reviewer's name has 1 to {LONGEST_NAME} characters that can be seen")
    return tidy


@contextmanager
def opened(run: Run, classes: IntArray) -> Iterator[Store]:
    """Open the run's store, made where it is not there yet.

    Args:
        run: the run, complete or interrupted.
        classes: R × 2 classes of the edges' ends, −1 where unknown; kept when the store is made.

    Raises:
        InputError: the store is another run's, is damaged or can't be written.
    """
    path = run.path / FILE
    with prefix_errors(path):
        try:
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
        except sqlite3.Error as error:
            raise InputError(f"can't be opened: {error}") from None
        store = Store(path, connection)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA cache_size = -32768")  # KiB, so that 100,000 edges and their indexes fit
            connection.create_function("casefold", 1, str.casefold, deterministic=True)
            with store.transaction():
                ensure(connection, run, classes)
        except sqlite3.Error as error:
            connection.close()
            raise InputError(f"can't be used as a review: {error}") from None
        except InputError:
            connection.close()
            raise
    try:
        yield store
    finally:
        store.close()


class Store:
    """The reviews of one run. Several threads, and several processes, may use it at once."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of what is done inside, on the disk, or none of it."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Every row that a query finds."""
        with self._lock:
            return self._connection.execute(query, parameters).fetchall()

    # Writing ---------------------------------------------------------------------------------------------------------

    def decide(self, rank: int, reviewer: str, verdict: Verdict, note: str | None = None) -> None:
        """Record a verdict, and the note where one is given; the same as before is no event.

        Raises:
            InputError: there is no such edge or verdict, or the note is too long.
        """
        if verdict not in VERDICTS:
            raise InputError(f"a verdict is {', '.join(VERDICTS)}, not {verdict!r}")
        with self.transaction():
            before = self._decision(rank, reviewer)
            if before.verdict != verdict:
                self._append(rank, reviewer, "verdict", verdict)
            self._write_note(before, rank, note)

    def write_note(self, rank: int, reviewer: str, note: str) -> None:
        """Record a note; the verdict stays."""
        with self.transaction():
            self._write_note(self._decision(rank, reviewer), rank, note)

    def undo(self, reviewer: str) -> int | None:
        """Take the reviewer's last verdict back that still stands; its rank, or None where there is none."""
        with self.transaction():
            found = self.rows(
                "SELECT id, rank FROM events AS given WHERE reviewer = ? AND kind = 'verdict'"
                " AND NOT EXISTS (SELECT 1 FROM events WHERE undoes = given.id) ORDER BY id DESC LIMIT 1",
                (reviewer,),
            )
            if not found:
                return None
            event, rank = found[0]
            self._append(rank, reviewer, "undo", "", undoes=event)
            return int(rank)

    def reorder(self, places: Sequence[tuple[int, int]], about: str | None) -> None:
        """Give edges their places in the re-ranked order.

        Args:
            places: (place, rank) of each edge that moves.
            about: how the order changed, as JSON; None where it is the original order again.
        """
        with self.transaction():
            self._connection.executemany("UPDATE edges SET place = ? WHERE rank = ? AND place <> ?1", places)
            self._connection.execute("DELETE FROM meta WHERE key = 'rerank'")
            if about is not None:
                self._connection.execute("INSERT INTO meta VALUES ('rerank', ?)", (about,))

    def _write_note(self, before: Decision, rank: int, note: str | None) -> None:
        if note is None:
            return
        tidy = "\n".join(note.split("\r\n")).strip()
        if len(tidy) > LONGEST_NOTE:
            raise InputError(f"a note has {LONGEST_NOTE:,} characters at most, not {len(tidy):,}")
        if tidy != before.note:
            self._append(rank, before.reviewer, "note", tidy)

    def _append(self, rank: int, reviewer: str, kind: str, value: str, undoes: int | None = None) -> None:
        """Append an event, and let what follows from the log follow."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        event = self._connection.execute(
            "INSERT INTO events (rank, reviewer, kind, value, undoes, at) VALUES (?, ?, ?, ?, ?, ?)",
            (rank, reviewer, kind, value, undoes, at),
        ).lastrowid
        self._connection.execute(
            "INSERT OR REPLACE INTO decisions VALUES (?1, ?2, ?3, ?4, ?5)",
            (rank, reviewer, self._standing(rank, reviewer, "verdict") or "open",
             self._standing(rank, reviewer, "note"), at),
        )  # fmt: skip
        verdicts = [verdict for (verdict,) in self.rows("SELECT verdict FROM decisions WHERE rank = ?", (rank,))]
        self._connection.execute(
            "UPDATE edges SET status = ?, touched = ? WHERE rank = ?", (together(verdicts), event, rank)
        )

    def _standing(self, rank: int, reviewer: str, kind: str) -> str:
        """The last value of a kind that was not undone, empty where there is none."""
        found = self.rows(
            "SELECT value FROM events AS given WHERE rank = ? AND reviewer = ? AND kind = ?"
            " AND NOT EXISTS (SELECT 1 FROM events WHERE undoes = given.id) ORDER BY id DESC LIMIT 1",
            (rank, reviewer, kind),
        )
        return str(found[0][0]) if found else ""

    # Reading ---------------------------------------------------------------------------------------------------------

    def _decision(self, rank: int, reviewer: str) -> Decision:
        if not self.rows("SELECT 1 FROM edges WHERE rank = ?", (rank,)):
            raise InputError(f"there is no edge {rank}")
        mine = [decision for decision in self.decisions(rank) if decision.reviewer == reviewer]
        return mine[0] if mine else Decision(reviewer, "open", "", "")

    def decisions(self, rank: int) -> list[Decision]:
        """What each reviewer says of an edge, by their names."""
        found = self.rows("SELECT reviewer, verdict, note, at FROM decisions WHERE rank = ? ORDER BY reviewer", (rank,))
        return [Decision(*row) for row in found]

    def size(self) -> int:
        """How many edges there are."""
        return int(self.rows("SELECT COUNT(*) FROM edges")[0][0])

    def last_event(self) -> int:
        """The number of the last event: what follows from the log can't have changed while this has not."""
        return int(self.rows("SELECT COALESCE(MAX(id), 0) FROM events")[0][0])

    def counts(self) -> dict[Status, int]:
        """How many edges there are of each status."""
        found = dict(self.rows("SELECT status, COUNT(*) FROM edges GROUP BY status"))
        return {status: found.get(status, 0) for status in STATUSES}

    def judged(self) -> dict[Status, IntArray]:
        """The ranks of the edges that somebody judged, for each status but open."""
        # A row for each status: fetching one for each edge would take several times as long.
        found = dict(self.rows("SELECT status, group_concat(rank) FROM edges WHERE status <> 'open' GROUP BY status"))
        return {
            status: np.sort(np.fromstring(found.get(status, ""), dtype=np.int64, sep=","))
            for status in STATUSES
            if status != "open"
        }

    def reviewers(self) -> dict[str, int]:
        """Who took part, and how many verdicts of each stand."""
        found = self.rows("SELECT reviewer, SUM(verdict <> 'open') FROM decisions GROUP BY reviewer ORDER BY reviewer")
        return {reviewer: int(standing) for reviewer, standing in found}

    def reranking(self) -> str | None:
        """How the order changed at the last re-ranking, as JSON; None where the order is the original one."""
        found = self.rows("SELECT value FROM meta WHERE key = 'rerank'")
        return str(found[0][0]) if found else None
