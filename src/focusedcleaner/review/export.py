"""The decisions as a table for a spreadsheet, or as JSON with every reviewer's words."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from focusedcleaner.errors import InputError
from focusedcleaner.review.store import Store

COLUMNS = ("rank", "u", "v", "score", "verdict", "planted_by", "genuine_by", "unsure_by", "notes")
KINDS = ("csv", "json")
_SAID = ("reviewer", "verdict", "note", "at")
_AT_ONCE = 5000
_PIECE = 1 << 16


def exported(store: Store, kind: str) -> Iterator[str]:
    """Every edge with its verdict and decisions, in the method's order, as text in pieces.

    Args:
        store: the decisions.
        kind: "csv" (a row an edge) or "json" (one object with a list of edges).
    """
    if kind not in KINDS:
        raise InputError(f"decisions are exported as {' or '.join(KINDS)}, not as {kind!r}")
    return _gathered(_csv(store) if kind == "csv" else _json(store))


def _gathered(pieces: Iterator[str]) -> Iterator[str]:
    """The same text in fewer, larger pieces."""
    waiting: list[str] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size > _PIECE:
            yield "".join(waiting)
            waiting, size = [], 0
    yield "".join(waiting)


def safe_cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: such text gets an apostrophe, numbers stay as they are.

    >>> safe_cell("=HYPERLINK(1)"), safe_cell("-5"), safe_cell("ann")
    ("'=HYPERLINK(1)", '-5', 'ann')
    """
    if not text.lstrip().startswith(("=", "+", "-", "@", "\t", "\r")) and not text.startswith(("\t", "\r", "\n")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def _edges(store: Store) -> Iterator[dict[str, Any]]:
    for start in range(0, store.size(), _AT_ONCE):
        rows = store.rows(
            "SELECT edges.rank, u, v, score, status, reviewer, verdict, note, at FROM edges"
            " LEFT JOIN decisions ON decisions.rank = edges.rank WHERE edges.rank > ? AND edges.rank <= ?"
            " ORDER BY edges.rank, reviewer",
            (start, start + _AT_ONCE),
        )
        for (rank, u, v, score, status), group in groupby(rows, key=itemgetter(0, 1, 2, 3, 4)):
            decisions = [dict(zip(_SAID, row[5:], strict=True)) for row in group if row[5] is not None]
            yield {"rank": rank, "u": u, "v": v, "score": score, "verdict": status, "decisions": decisions}


def _csv(store: Store) -> Iterator[str]:
    yield _row(COLUMNS)
    for edge in _edges(store):
        said = [
            "; ".join(one["reviewer"] for one in edge["decisions"] if one["verdict"] == verdict)
            for verdict in ("planted", "genuine", "unsure")
        ]
        notes = "\n".join(f"{one['reviewer']}: {one['note']}" for one in edge["decisions"] if one["note"])
        u, v, *rest = (safe_cell(text) for text in (edge["u"], edge["v"], *said, notes))
        yield _row((edge["rank"], u, v, f"{edge['score']:.9g}", edge["verdict"], *rest))


def _row(cells: Sequence[object]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()


def _json(store: Store) -> Iterator[str]:
    about = {"exported": datetime.now(UTC).isoformat(timespec="seconds"), "counts": store.counts()}
    yield f'{json.dumps(about)[:-1]}, "edges": ['
    separator = "\n"
    for edge in _edges(store):
        score = edge["score"] if abs(edge["score"]) != float("inf") else None
        yield separator + json.dumps({**edge, "score": score}, ensure_ascii=False)
        separator = ",\n"
    yield "\n]}\n"
