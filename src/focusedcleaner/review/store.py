"""The decisions about a run's edges in `review.sqlite`, each on the disk before it is acknowledged.

`events` is an append-only log; an undo is an event, too. `decisions` (what each reviewer says about an edge) and the
edge's ``status`` (what all of them say together) are derived from it in the same transaction.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import UNKNOWN, IntArray
from focusedcleaner.io.disk import prefix_errors
from focusedcleaner.runs import REMOVED, Run

FILE = "review.sqlite"
VERSION = "1"
Verdict = Literal["planted", "genuine", "unsure", "open"]
Status = Literal["planted", "genuine", "unsure", "conflict", "open"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
STATUSES: tuple[Status, ...] = get_args(Status)
LONGEST_NAME, LONGEST_NOTE = 80, 4000

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE edges (
    rank INTEGER PRIMARY KEY,        -- the order in which the method removed them, from 1
    u TEXT NOT NULL,
    v TEXT NOT NULL,
    names TEXT NOT NULL,             -- both names, case-folded, for searching
    score REAL NOT NULL,
    low INTEGER,                     -- the two classes, the smaller number first
    high INTEGER,
    place INTEGER NOT NULL,          -- the order after re-ranking
    status TEXT NOT NULL DEFAULT 'open',
    touched INTEGER NOT NULL DEFAULT 0   -- the last event about this edge
);

CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    rank INTEGER NOT NULL REFERENCES edges (rank),
    reviewer TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('verdict', 'note', 'undo')),
    value TEXT NOT NULL,
    undoes INTEGER UNIQUE REFERENCES events (id),
    at TEXT NOT NULL
);
CREATE INDEX events_reviewer ON events (reviewer, kind, id);
CREATE INDEX events_edge ON events (rank, reviewer, kind, id);
CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TRIGGER events_hold BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;

CREATE TABLE decisions (
    rank INTEGER NOT NULL REFERENCES edges (rank),
    reviewer TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('planted', 'genuine', 'unsure', 'open')),
    note TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (rank, reviewer)
) WITHOUT ROWID;
CREATE INDEX decisions_reviewer ON decisions (reviewer, verdict, rank);
CREATE INDEX decisions_noted ON decisions (rank) WHERE note <> '';
"""

INDEXES = """
CREATE INDEX edges_status ON edges (status, rank);
CREATE INDEX edges_place ON edges (place, rank);
CREATE INDEX edges_score ON edges (-score, rank);
CREATE INDEX edges_touched ON edges (-touched, rank);
CREATE INDEX edges_classes ON edges (low, high, rank);
CREATE INDEX edges_u ON edges (u, rank);
CREATE INDEX edges_v ON edges (v, rank);
"""
"""Created after the edges are inserted: one sort per index instead of a search per edge."""


@dataclass(frozen=True)
class Decision:
    """What one reviewer says about an edge."""

    reviewer: str
    verdict: Verdict
    note: str
    at: str


def combined_status(verdicts: Sequence[Verdict]) -> Status:
    """Combine several reviewers' verdicts: planted and genuine are a conflict, and unsure yields to either.

    >>> combined_status(["unsure", "planted"]), combined_status(["planted", "genuine"]), combined_status(["open"])
    ('planted', 'conflict', 'open')
    """
    if "planted" in verdicts and "genuine" in verdicts:
        return "conflict"
    return next((verdict for verdict in VERDICTS if verdict in verdicts), "open")


def checked_reviewer(name: str) -> str:
    """Return a reviewer's name without surplus spaces, or raise `InputError`."""
    tidy = " ".join(name.split())
    if not tidy or len(tidy) > LONGEST_NAME or not tidy.isprintable():
        raise InputError(f"a reviewer's name has 1 to {LONGEST_NAME} printable characters")
    return tidy


@contextmanager
def open_store(run: Run, classes: IntArray) -> Iterator[Store]:
    """Open the store of a run; it is created if there is none.

    Args:
        run: the run, complete or interrupted.
        classes: R × 2 classes of the edges' ends, −1 where unknown; saved when the store is created.

    Raises:
        InputError: the store belongs to another run, is damaged or can't be written.
    """
    with ExitStack() as stack:
        with prefix_errors(run.path / FILE):
            try:
                store = stack.enter_context(closing(Store(run.path / FILE)))
                store.prepare(run, classes)
            except sqlite3.Error as error:
                raise InputError(f"can't be used as a review: {error}") from None
        yield store


class Store:
    """The decisions about one run; several threads and processes may use it at the same time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
        self._lock = threading.RLock()

    def prepare(self, run: Run, classes: IntArray) -> None:
        """Insert the run's edges into an empty database, or check that a filled one belongs to this run."""
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA foreign_keys = ON")
        self._connection.execute("PRAGMA cache_size = -32768")  # KiB: room for 100,000 edges and their indexes
        self._connection.create_function("casefold", 1, str.casefold, deterministic=True)
        digest = hashlib.sha256((run.path / REMOVED).read_bytes())
        digest.update(str(run.record["input"].get("fingerprint")).encode())
        with self.transaction():
            tables = self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not tables:
                self._fill(run, classes, {"version": VERSION, "run": digest.hexdigest()})
                return
            if ("meta",) not in tables:
                raise InputError("is not a review: it is a database of something else")
            meta = dict(self.rows("SELECT key, value FROM meta"))
            if meta.get("version") != VERSION:
                made = f"format {meta.get('version')}, not {VERSION}"
                raise InputError(f"was made by another version of focusedcleaner ({made})")
            if meta.get("run") != digest.hexdigest():
                todo = "Restore it, or move the review away"
                raise InputError(f"belongs to another run: {REMOVED} has changed since the review. {todo}")

    def _fill(self, run: Run, classes: IntArray, meta: Mapping[str, str]) -> None:
        def rows() -> Iterator[tuple[object, ...]]:
            for row, (u, v) in enumerate(run.removed.tolist()):
                names = str(run.graph.name(u)), str(run.graph.name(v))
                score = float(run.scores[row])
                low, high = (None, None) if UNKNOWN in classes[row] else sorted(classes[row].tolist())
                folded = "\n".join(names).casefold()
                yield row + 1, *names, folded, -math.inf if math.isnan(score) else score, low, high, row + 1

        # Not executescript, which would commit the transaction.
        for statement in TABLES.split(";\n"):
            self._connection.execute(statement)
        self._connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        columns = "rank, u, v, names, score, low, high, place"
        self._connection.executemany(f"INSERT INTO edges ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows())
        for statement in INDEXES.split(";\n"):
            self._connection.execute(statement)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything done inside to the disk, or nothing."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self._lock:
            return self._connection.execute(query, parameters).fetchall()

    def decide(self, rank: int, reviewer: str, verdict: Verdict | None, note: str | None = None) -> None:
        """Record a verdict and a note; None keeps what was recorded, and an unchanged value adds no event.

        Raises:
            InputError: the edge or the verdict does not exist, or the note is too long.
        """
        if verdict is not None and verdict not in VERDICTS:
            raise InputError(f"a verdict is {', '.join(VERDICTS)}, not {verdict!r}")
        with self.transaction():
            if not self.rows("SELECT 1 FROM edges WHERE rank = ?", (rank,)):
                raise InputError(f"there is no edge {rank}")
            before = self.decision(rank, reviewer)
            if verdict not in (None, before.verdict):
                self._append(rank, reviewer, "verdict", str(verdict))
            tidy = before.note if note is None else note.replace("\r\n", "\n").strip()
            if len(tidy) > LONGEST_NOTE:
                raise InputError(f"a note has {LONGEST_NOTE:,} characters at most, not {len(tidy):,}")
            if tidy != before.note:
                self._append(rank, reviewer, "note", tidy)

    def undo(self, reviewer: str) -> int | None:
        """Undo the reviewer's last standing verdict; return the edge's rank, or None if there is none."""
        with self.transaction():
            verdicts = self.rows(
                "SELECT id, rank FROM events AS event WHERE reviewer = ? AND kind = 'verdict'"
                " AND NOT EXISTS (SELECT 1 FROM events WHERE undoes = event.id) ORDER BY id DESC LIMIT 1",
                (reviewer,),
            )
            if not verdicts:
                return None
            event, rank = verdicts[0]
            self._append(rank, reviewer, "undo", "", undoes=event)
            return int(rank)

    def reorder(self, places: Sequence[tuple[int, int]], about: str | None) -> None:
        """Save (place, rank) of each edge that moves, and the change as JSON; None for the original order."""
        with self.transaction():
            self._connection.executemany("UPDATE edges SET place = ? WHERE rank = ? AND place <> ?1", places)
            self._connection.execute("DELETE FROM meta WHERE key = 'rerank'")
            if about is not None:
                self._connection.execute("INSERT INTO meta VALUES ('rerank', ?)", (about,))

    def _append(self, rank: int, reviewer: str, kind: str, value: str, undoes: int | None = None) -> None:
        """Append an event and update everything derived from the log."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        event = self._connection.execute(
            "INSERT INTO events (rank, reviewer, kind, value, undoes, at) VALUES (?, ?, ?, ?, ?, ?)",
            (rank, reviewer, kind, value, undoes, at),
        ).lastrowid
        verdict, note = (self._standing(rank, reviewer, kind) for kind in ("verdict", "note"))
        decision = (rank, reviewer, verdict or "open", note, at)
        self._connection.execute("INSERT OR REPLACE INTO decisions VALUES (?, ?, ?, ?, ?)", decision)
        status = combined_status([decision.verdict for decision in self.decisions(rank)])
        self._connection.execute("UPDATE edges SET status = ?, touched = ? WHERE rank = ?", (status, event, rank))

    def _standing(self, rank: int, reviewer: str, kind: str) -> str:
        """The last value of a kind that was not undone; empty if there is none."""
        values = self.rows(
            "SELECT value FROM events AS event WHERE rank = ? AND reviewer = ? AND kind = ?"
            " AND NOT EXISTS (SELECT 1 FROM events WHERE undoes = event.id) ORDER BY id DESC LIMIT 1",
            (rank, reviewer, kind),
        )
        return str(values[0][0]) if values else ""

    def decision(self, rank: int, reviewer: str) -> Decision:
        """Return what a reviewer says about an edge; the verdict is open if the reviewer has not judged it."""
        decisions = {decision.reviewer: decision for decision in self.decisions(rank)}
        return decisions.get(reviewer, Decision(reviewer, "open", "", ""))

    def decisions(self, rank: int) -> list[Decision]:
        """Return what each reviewer says about an edge, sorted by name."""
        rows = self.rows("SELECT reviewer, verdict, note, at FROM decisions WHERE rank = ? ORDER BY reviewer", (rank,))
        return [Decision(*row) for row in rows]

    def size(self) -> int:
        """Return the number of edges."""
        return int(self.rows("SELECT COUNT(*) FROM edges")[0][0])

    def last_event(self) -> int:
        """Return the number of the last event; while it is the same, no decision has changed."""
        return int(self.rows("SELECT COALESCE(MAX(id), 0) FROM events")[0][0])

    def counts(self) -> dict[Status, int]:
        """Return the number of edges of each status."""
        counts = dict(self.rows("SELECT status, COUNT(*) FROM edges GROUP BY status"))
        return {status: counts.get(status, 0) for status in STATUSES}

    def judged(self) -> dict[Status, IntArray]:
        """Return the ranks of the judged edges, for each status but open."""
        # One row per status: fetching one row per edge takes several times as long.
        ranks = dict(self.rows("SELECT status, group_concat(rank) FROM edges WHERE status <> 'open' GROUP BY status"))
        return {
            status: np.sort(np.fromstring(ranks.get(status, ""), dtype=np.int64, sep=","))
            for status in STATUSES
            if status != "open"
        }

    def reviewers(self) -> dict[str, int]:
        """Return the reviewers, with the number of each one's standing verdicts."""
        rows = self.rows("SELECT reviewer, SUM(verdict <> 'open') FROM decisions GROUP BY reviewer ORDER BY reviewer")
        return {reviewer: int(standing) for reviewer, standing in rows}

    def reranking(self) -> str | None:
        """Return the description of the last re-ranking as JSON; None if the order is the original one."""
        rows = self.rows("SELECT value FROM meta WHERE key = 'rerank'")
        return str(rows[0][0]) if rows else None
