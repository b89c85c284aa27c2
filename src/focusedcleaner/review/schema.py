"""The tables of `review.sqlite`, and what must hold in them."""

from __future__ import annotations

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
CREATE INDEX edges_status_score ON edges (status, -score, rank);
CREATE INDEX edges_classes_score ON edges (low, high, -score, rank);
CREATE INDEX edges_u ON edges (u, rank);
CREATE INDEX edges_v ON edges (v, rank);
"""
"""Created after the edges are inserted: one sort per index instead of a search per edge."""

CELLS = {
    "edges": """typeof(rank) = 'integer' AND typeof(u) = 'text' AND typeof(v) = 'text' AND typeof(names) = 'text'
        AND typeof(score) = 'real' AND typeof(low) IN ('integer', 'null') AND typeof(high) = typeof(low)
        AND typeof(place) = 'integer' AND typeof(touched) = 'integer' AND typeof(status) = 'text'
        AND status IN ('planted', 'genuine', 'unsure', 'conflict', 'open')""",
    "events": """typeof(reviewer) = 'text' AND typeof(value) = 'text' AND typeof(at) = 'text' AND typeof(kind) = 'text'
        AND kind IN ('verdict', 'note', 'undo') AND typeof(undoes) IN ('integer', 'null')
        AND rank IN (SELECT rank FROM edges)""",
    "decisions": """typeof(reviewer) = 'text' AND typeof(note) = 'text' AND typeof(at) = 'text'
        AND typeof(verdict) = 'text' AND verdict IN ('planted', 'genuine', 'unsure', 'open')
        AND rank IN (SELECT rank FROM edges)""",
}
"""What holds for every row of a table, whatever the file says about its columns."""

STANDING = """COALESCE((
    SELECT value FROM events AS event WHERE rank = {0} AND reviewer = {1} AND kind = {2}
    AND NOT EXISTS (SELECT 1 FROM events WHERE undoes = event.id) ORDER BY id DESC LIMIT 1), '')"""
"""The last value that was not undone, for a rank, a reviewer and a kind of event; empty if there is none."""

CONTRADICTIONS = (
    """SELECT 1 FROM edges NOT INDEXED LEFT JOIN (
        SELECT rank, MAX(verdict = 'planted') AS p, MAX(verdict = 'genuine') AS g, MAX(verdict = 'unsure') AS u
        FROM decisions NOT INDEXED GROUP BY rank) AS said ON said.rank = edges.rank
    WHERE status <> CASE WHEN p AND g THEN 'conflict' WHEN p THEN 'planted' WHEN g THEN 'genuine'
        WHEN said.u THEN 'unsure' ELSE 'open' END LIMIT 1""",
    f"""SELECT 1 FROM decisions AS d NOT INDEXED
    WHERE verdict <> COALESCE(NULLIF({STANDING.format("d.rank", "d.reviewer", "'verdict'")}, ''), 'open')
    OR note <> {STANDING.format("d.rank", "d.reviewer", "'note'")} LIMIT 1""",
    """SELECT 1 FROM events AS e NOT INDEXED LEFT JOIN decisions AS d ON d.rank = e.rank AND d.reviewer = e.reviewer
    WHERE d.rank IS NULL LIMIT 1""",
)
"""Queries for a row where the log of events and what was derived from it differ; not by the indexes, which can be
damaged, too."""
