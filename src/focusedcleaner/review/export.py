"""What becomes of the decisions: a CSV or JSON file, or a list of edges to remove."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import IntArray
from focusedcleaner.io.spreadsheet import escape
from focusedcleaner.review.store import Store
from focusedcleaner.runs import Run

COLUMNS = ("rank", "u", "v", "score", "verdict", "planted_by", "genuine_by", "unsure_by", "notes")
KINDS = ("csv", "json")
Conflicts = Literal["planted", "genuine", "skip"]
_DECISION = ("reviewer", "verdict", "note", "at")
_BATCH = 500
_NO_RANKS = np.empty(0, dtype=np.int64)


def export(store: Store, kind: str) -> Iterator[str]:
    """Yield all edges with their verdicts and decisions, in the method's order, as chunks of text.

    Args:
        store: the decisions.
        kind: "csv" (a row per edge) or "json" (one object with a list of edges).
    """
    if kind not in KINDS:
        raise InputError(f"decisions are exported as {' or '.join(KINDS)}, not as {kind!r}")
    return _csv(store) if kind == "csv" else _json(store)


def _batches(store: Store) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, store.size(), _BATCH):
        rows = store.rows(
            "SELECT edges.rank, u, v, score, status, reviewer, verdict, note, at FROM edges"
            " LEFT JOIN decisions ON decisions.rank = edges.rank WHERE edges.rank > ? AND edges.rank <= ?"
            " ORDER BY edges.rank, reviewer",
            (start, start + _BATCH),
        )
        edges = []
        for (rank, u, v, score, status), group in groupby(rows, key=itemgetter(0, 1, 2, 3, 4)):
            decisions = [dict(zip(_DECISION, row[5:], strict=True)) for row in group if row[5] is not None]
            edges.append({"rank": rank, "u": u, "v": v, "score": score, "verdict": status, "decisions": decisions})
        yield edges


def _csv(store: Store) -> Iterator[str]:
    yield ",".join(COLUMNS) + "\n"
    for edges in _batches(store):
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        for edge in edges:
            decisions = edge["decisions"]
            reviewers = [
                "; ".join(one["reviewer"] for one in decisions if one["verdict"] == verdict)
                for verdict in ("planted", "genuine", "unsure")
            ]
            notes = "\n".join(f"{one['reviewer']}: {one['note']}" for one in decisions if one["note"])
            u, v, *rest = (escape(text) for text in (edge["u"], edge["v"], *reviewers, notes))
            writer.writerow((edge["rank"], u, v, f"{edge['score']:.9g}", edge["verdict"], *rest))
        yield buffer.getvalue()


def _json(store: Store) -> Iterator[str]:
    about = {"exported": datetime.now(UTC).isoformat(timespec="seconds"), "counts": store.counts()}
    yield f'{json.dumps(about)[:-1]}, "edges": ['
    separator = "\n"
    for edges in _batches(store):
        for edge in edges:
            edge["score"] = edge["score"] if math.isfinite(edge["score"]) else None
        yield separator + ",\n".join(json.dumps(edge, ensure_ascii=False) for edge in edges)
        separator = ",\n"
    yield "\n]}\n"


@dataclass(frozen=True)
class SelectedEdges:
    """The ranks of the edges to remove, by reason."""

    judged: IntArray
    """Judged planted."""
    disputed: IntArray
    """Judged planted by some and genuine by others, and taken as planted."""
    undecided: IntArray
    """Not judged, with a score at or above the given one."""
    left_in_conflict: int
    """Number of disputed edges that stay."""

    @property
    def ranks(self) -> IntArray:
        return np.sort(np.concatenate([self.judged, self.disputed, self.undecided]))


def select_edges(
    store: Store, *, reviewer: str | None = None, conflicts: Conflicts = "skip", undecided_above: float | None = None
) -> SelectedEdges:
    """Select the edges to remove.

    Args:
        store: the decisions.
        reviewer: whose verdicts count; None counts all reviewers' verdicts together.
        conflicts: what a disputed edge is taken as; "skip" and "genuine" both leave it in the graph.
        undecided_above: also select edges without a verdict whose score is at least this. An edge that a reviewer is
            unsure about has a verdict.
    """
    if reviewer is not None and reviewer not in store.reviewers():
        known = ", ".join(store.reviewers()) or "nobody yet"
        raise InputError(f"there is no reviewer {reviewer!r}; those who took part: {known}")
    if reviewer is None:
        judged, disputed = (_ranks(store, "edges", "status = ?", verdict) for verdict in ("planted", "conflict"))
    else:
        judged = _ranks(store, "decisions", "reviewer = ? AND verdict = 'planted'", reviewer)
        disputed = _NO_RANKS
    undecided = _NO_RANKS
    if undecided_above is not None:
        verdict = "SELECT 1 FROM decisions AS d WHERE d.rank = edges.rank AND verdict <> 'open'"
        condition = f"score >= ?1 AND NOT EXISTS ({verdict} AND reviewer = COALESCE(?2, reviewer))"
        undecided = _ranks(store, "edges", condition, undecided_above, reviewer)
    if conflicts == "planted":
        return SelectedEdges(judged, disputed, undecided, 0)
    return SelectedEdges(judged, _NO_RANKS, undecided, len(disputed))


def unreviewed(run: Run, undecided_above: float | None) -> SelectedEdges:
    """Select edges of a run that nobody has judged: those that it removed or, with a score, those that reach it."""
    flagged = run.flagged
    wanted = np.full(len(flagged.removed), bool(len(run.removed)))
    if undecided_above is not None:
        wanted = flagged.scores >= undecided_above
    ranks = np.flatnonzero(wanted) + 1
    if undecided_above is not None:
        return SelectedEdges(_NO_RANKS, _NO_RANKS, ranks, 0)
    return SelectedEdges(ranks, _NO_RANKS, _NO_RANKS, 0)


def _ranks(store: Store, table: str, condition: str, *parameters: object) -> IntArray:
    # From the table itself, which is checked when a store is opened; its indexes are not.
    query = f"SELECT rank FROM {table} NOT INDEXED WHERE {condition} ORDER BY rank"
    return np.array(store.rows(query, parameters), dtype=np.int64).reshape(-1)
