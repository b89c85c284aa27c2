"""The tables of `review.sqlite`, and the check that they belong to the run beside them.

`events` is the truth: it is only ever appended to, and an undo is an event too. `decisions` (what each reviewer says
of an edge now) and the edge's ``status`` (what all of them say together) follow from it, and change in the same
transaction.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Iterator

from focusedcleaner.errors import InputError
from focusedcleaner.graph import UNKNOWN, IntArray
from focusedcleaner.runs import REMOVED, Run

VERSION = "1"

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
"""Made when the edges are in: one sort each, instead of a search for every edge."""


def fingerprint(run: Run) -> str:
    """What a store belongs to: the list of removed edges, byte by byte, and the graph that they were removed from."""
    digest = hashlib.sha256((run.path / REMOVED).read_bytes())
    digest.update(str(run.record["input"].get("fingerprint")).encode())
    return digest.hexdigest()


def ensure(connection: sqlite3.Connection, run: Run, classes: IntArray) -> None:
    """Fill an empty database with the run's edges, or make sure that a filled one belongs to this run.

    Args:
        connection: inside a transaction.
        run: the run.
        classes: R × 2 classes of the edges' ends, −1 where unknown.
    """
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        _fill(connection, run, classes)
        return
    if "meta" not in tables:
        raise InputError("is not a review: it is a database of something else")
    found = dict(connection.execute("SELECT key, value FROM meta"))
    if found.get("version") != VERSION:
        raise InputError(
            f"was made by another version of focusedcleaner (format {found.get('version')}, not {VERSION})"
        )
    if found.get("run") != fingerprint(run):
        raise InputError(
            f"belongs to another run: {REMOVED} is not what was reviewed. Put the old one back, or move the review away"
        )


def _fill(connection: sqlite3.Connection, run: Run, classes: IntArray) -> None:
    for statement in _statements(TABLES):
        connection.execute(statement)
    connection.executemany("INSERT INTO meta VALUES (?, ?)", [("version", VERSION), ("run", fingerprint(run))])
    connection.executemany(
        "INSERT INTO edges (rank, u, v, names, score, low, high, place) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        _rows(run, classes),
    )
    for statement in _statements(INDEXES):
        connection.execute(statement)


def _statements(script: str) -> Iterator[str]:
    """The statements one by one: sqlite3's own way to run a script would end the transaction."""
    waiting = ""
    for line in script.splitlines():
        waiting += f"{line}\n"
        if sqlite3.complete_statement(waiting):
            yield waiting
            waiting = ""


def _rows(run: Run, classes: IntArray) -> Iterator[tuple[object, ...]]:
    for row, (u, v) in enumerate(run.removed.tolist()):
        names = str(run.graph.name(u)), str(run.graph.name(v))
        score = float(run.scores[row])
        pair = classes[row]
        low, high = (None, None) if UNKNOWN in pair else (int(pair.min()), int(pair.max()))
        folded = "\n".join(names).casefold()
        yield row + 1, *names, folded, -math.inf if math.isnan(score) else score, low, high, row + 1
