"""The decisions about a run's edges in `review.sqlite`, each on the disk before it is acknowledged.

`events` is an append-only log; an undo is an event, too. `decisions` (what each reviewer says about an edge) and the
edge's ``status`` (what all of them say together) are derived from it in the same transaction.
"""

from __future__ import annotations

import hashlib
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args

import numpy as np

from focusedcleaner.errors import InputError, InputWarning, prefix_errors
from focusedcleaner.graph import UNKNOWN, IntArray
from focusedcleaner.review.database import Database
from focusedcleaner.review.database import StoreError as StoreError
from focusedcleaner.review.schema import CELLS, CONTRADICTIONS, INDEXES, STANDING, TABLES
from focusedcleaner.runs import Run

FILE = "review.sqlite"
VERSION = "1"
Verdict = Literal["planted", "genuine", "unsure", "open"]
Status = Literal["planted", "genuine", "unsure", "conflict", "open"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
STATUSES: tuple[Status, ...] = get_args(Status)
LONGEST_NAME, LONGEST_NOTE = 80, 4000


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
def open_store(run: Run, classes: IntArray | None = None) -> Iterator[Store]:
    """Open the store of a run.

    Args:
        run: the run, complete or interrupted.
        classes: R × 2 classes of the edges' ends, −1 where unknown; saved when the store is created. Without them, a
            store that does not exist is not created but refused.

    Raises:
        InputError: the store belongs to another run, is damaged or can't be written.
    """
    path = run.path / FILE
    existed = path.exists()
    if classes is None and not existed:
        raise _not_reviewed(run)
    if path.with_name(f"{FILE}-wal").exists():
        # Left by a killed server, or of another file: closing a connection that can write would merge it unseen.
        with closing(Store(path, read_only=True)) as store:
            if not store.is_empty():
                store.check(run)
    with closing(Store(path)) as store:
        if store.is_empty():
            if classes is None:
                raise _not_reviewed(run)
            if existed:
                warnings.warn(f"{path}: holds no review yet: a new one begins", InputWarning, 2)
            store.fill(run, classes)
        store.check(run)
        store.rows("PRAGMA journal_mode = WAL")
        store.keep_private()
        yield store


def _not_reviewed(run: Run) -> InputError:
    return InputError(f"{run.path} has not been reviewed: focusedcleaner review {run.path}")


def _run_digest(run: Run) -> str:
    """What a store is bound to: the list of flagged edges and the graph."""
    with prefix_errors(run.path / run.listing):
        digest = hashlib.sha256((run.path / run.listing).read_bytes())
    digest.update(str(run.record["input"].get("fingerprint")).encode())
    return digest.hexdigest()


class Store(Database):
    """The decisions about one run."""

    def is_empty(self) -> bool:
        """Whether there is nothing in the file yet."""
        return not self.rows("SELECT 1 FROM sqlite_master LIMIT 1")

    def fill(self, run: Run, classes: IntArray) -> None:
        """Insert the run's edges, unless another process has done so meanwhile."""

        def rows() -> Iterator[tuple[object, ...]]:
            scores = np.where(np.isnan(run.scores), -math.inf, run.scores).tolist()
            known = (classes != UNKNOWN).all(axis=1).tolist()
            columns = zip(run.removed.tolist(), scores, known, np.sort(classes, axis=1).tolist(), strict=True)
            for rank, ((u, v), score, both, pair) in enumerate(columns, 1):
                names = str(run.graph.name(u)), str(run.graph.name(v))
                low, high = pair if both else (None, None)
                yield rank, *names, "\n".join(names).casefold(), score, low, high, rank

        self.rows("PRAGMA journal_mode = WAL")
        with self.transaction():
            if not self.is_empty():
                return
            # Not executescript, which would commit the transaction.
            for statement in TABLES.split(";\n"):
                self.rows(statement)
            self.many("INSERT INTO meta VALUES (?, ?)", {"version": VERSION, "run": _run_digest(run)}.items())
            columns = "rank, u, v, names, score, low, high, place"
            self.many(f"INSERT INTO edges ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows())
            for statement in INDEXES.split(";\n"):
                self.rows(statement)

    def check(self, run: Run) -> None:
        """Refuse a file that is damaged, contradicts itself or belongs to another run."""
        tables = {name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "meta" not in tables:
            raise self.error("is not a review: it is a database of something else")
        meta = dict(self.rows("SELECT key, value FROM meta"))
        if meta.get("version") != VERSION:
            made = f"format {meta.get('version')}, not {VERSION}"
            raise self.error(f"was made by another version of focusedcleaner ({made})")
        if meta.get("run") != _run_digest(run):
            todo = "Restore it, or move the review away"
            raise self.error(f"belongs to another run: {run.listing} has changed since the review. {todo}")
        damage = self._damage(len(run.removed))
        if damage:
            raise self.error(f"is damaged ({damage}): restore it from a copy, or move it away to begin a new review")

    def _damage(self, edges: int) -> str:
        """What is wrong in the file, in a few words; empty if nothing is."""
        [[found], *_] = self.rows("PRAGMA quick_check(1)")
        if found != "ok":
            return str(found).splitlines()[-1]
        lost = set(re.findall(r"CREATE (?:TABLE|TRIGGER) (\w+)", TABLES)) - {
            name for (name,) in self.rows("SELECT name FROM sqlite_master")
        }
        if lost:
            return f"it lacks {min(lost)}"
        if self.rows("SELECT COUNT(*), COALESCE(MIN(rank), 1), COALESCE(MAX(rank), 0) FROM edges NOT INDEXED") != [
            (edges, 1, edges)
        ]:
            return f"it does not hold the run's {edges:,} edges"
        for table, condition in CELLS.items():
            if self.rows(f"SELECT 1 FROM {table} NOT INDEXED WHERE NOT ({condition}) LIMIT 1"):
                return f"a row of {table} has values of a wrong type"
        if any(self.rows(query) for query in CONTRADICTIONS):
            return "its verdicts and its log of events differ"
        return ""

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
            self.many("UPDATE edges SET place = ? WHERE rank = ? AND place <> ?1", places)
            self.rows("DELETE FROM meta WHERE key = 'rerank'")
            if about is not None:
                self.rows("INSERT INTO meta VALUES ('rerank', ?)", (about,))

    def _append(self, rank: int, reviewer: str, kind: str, value: str, undoes: int | None = None) -> None:
        """Append an event and update everything derived from the log."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.rows(
            "INSERT INTO events (rank, reviewer, kind, value, undoes, at) VALUES (?, ?, ?, ?, ?, ?)",
            (rank, reviewer, kind, value, undoes, at),
        )
        verdict, note = (self._standing(rank, reviewer, kind) for kind in ("verdict", "note"))
        decision = (rank, reviewer, verdict or "open", note, at)
        self.rows("INSERT OR REPLACE INTO decisions VALUES (?, ?, ?, ?, ?)", decision)
        status = combined_status([decision.verdict for decision in self.decisions(rank)])
        touched = (status, self.last_event(), rank)
        self.rows("UPDATE edges SET status = ?, touched = ? WHERE rank = ?", touched)

    def _standing(self, rank: int, reviewer: str, kind: str) -> str:
        """The last value of a kind that was not undone; empty if there is none."""
        query = f"SELECT {STANDING.format('?', '?', '?')}"
        return str(self.rows(query, (rank, reviewer, kind))[0][0])

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
