"""The list of edges: filters, orders and pages, as queries that use an index."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from focusedcleaner.errors import InputError
from focusedcleaner.review.store import STATUSES, VERDICTS, Status, Store, Verdict

STATES = {
    "all": "all edges",
    "open": "not judged yet",
    "planted": "judged planted",
    "genuine": "judged genuine",
    "unsure": "unsure",
    "conflict": "in conflict",
    "noted": "with a note",
}
ORDERS = {
    "rank": ("method's order", "edges.rank"),
    "reranked": ("re-ranked order", "edges.place"),
    "score": ("highest score first", "-edges.score"),
    "recent": ("latest verdict first", "-edges.touched"),
}


@dataclass(frozen=True)
class Line:
    """An edge in the list."""

    rank: int
    u: str
    v: str
    score: float
    status: Status
    verdict: Verdict
    """The verdict of the reviewer who looks at the list."""


@dataclass(frozen=True)
class View:
    """A filter and an order, as in the page's address.

    >>> View(state="open", by="ann", text="bob").query(edge=7)
    'state=open&by=ann&text=bob&edge=7'
    """

    state: str = "all"
    by: str = ""
    """The reviewer whose verdicts the state refers to; empty for all reviewers together."""
    classes: str = ""
    """Two class numbers such as ``2-6``; empty for all."""
    text: str = ""
    """Part of a node's name or of a note, or a whole name in double quotes."""
    sort: str = "rank"

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> View:
        """Return the view for the parameters of an address."""
        view = cls(**{part.name: str(parameters.get(part.name, part.default)).strip() for part in fields(cls)})
        if view.state not in STATES:
            raise InputError(f"there is no filter {view.state!r}")
        if view.sort not in ORDERS:
            raise InputError(f"there is no order {view.sort!r}")
        if view.classes and not re.fullmatch("[0-9]{1,9}-[0-9]{1,9}", view.classes):
            raise InputError(f"a pair of classes is written 2-6, not {view.classes!r}")
        return view

    def query(self, **more: object) -> str:
        """Return the view as the query of an address, without default values."""
        changed = {name: value for name, value in vars(self).items() if value != getattr(View, name)}
        return urlencode({**changed, **more})

    @property
    def key(self) -> str:
        return ORDERS[self.sort][1]

    def where(self) -> tuple[str, list[Any]]:
        """Return the SQL condition on a row of ``edges``, and its parameters."""
        conditions: list[tuple[str, list[Any]]] = [("1", [])]
        by, name = (" AND reviewer = ?", [self.by]) if self.by else ("", [])
        if self.state == "noted":
            conditions.append((f"edges.rank IN (SELECT rank FROM decisions WHERE note <> ''{by})", name))
        elif self.by and self.state == "open":
            judged = f"SELECT 1 FROM decisions AS d WHERE d.rank = edges.rank AND verdict <> 'open'{by}"
            conditions.append((f"NOT EXISTS ({judged})", name))
        elif self.by and self.state in VERDICTS:
            conditions.append(
                (f"edges.rank IN (SELECT rank FROM decisions WHERE verdict = ?{by})", [self.state, *name])
            )
        elif self.state in STATUSES:
            conditions.append(("status = ?", [self.state]))
        if self.classes:
            conditions.append(("low = ? AND high = ?", [int(number) for number in self.classes.split("-")]))
        if len(self.text) > 2 and self.text[0] == self.text[-1] == '"':
            conditions.append(("u = ? OR v = ?", [self.text[1:-1]] * 2))
        elif self.text:
            noted = "SELECT rank FROM decisions WHERE note <> '' AND instr(casefold(note), ?)"
            conditions.append((f"instr(names, ?) OR rank IN ({noted})", [self.text.casefold()] * 2))
        parameters = [value for _, values in conditions for value in values]
        return " AND ".join(f"({condition})" for condition, _ in conditions), parameters


def at_node(name: str) -> str:
    """Return the query for all edges of a node."""
    return View(text=f'"{name}"').query()


def size(store: Store, view: View) -> int:
    """Return the number of edges in a view."""
    where, parameters = view.where()
    return int(store.rows(f"SELECT COUNT(*) FROM edges WHERE {where}", parameters)[0][0])


def lines(store: Store, view: View, reviewer: str, *, start: int, most: int) -> list[Line]:
    """Return up to ``most`` edges of a view from position ``start``, with one reviewer's verdicts."""
    where, parameters = view.where()
    # Ranks first, from an index, so that skipped rows are not read.
    chosen = f"SELECT rank FROM edges WHERE {where} ORDER BY {view.key}, edges.rank LIMIT ? OFFSET ?"
    rows = store.rows(
        f"SELECT edges.rank, u, v, score, status, COALESCE(verdict, 'open') FROM ({chosen}) AS chosen"
        " JOIN edges ON edges.rank = chosen.rank"
        " LEFT JOIN decisions ON decisions.rank = edges.rank AND decisions.reviewer = ?"
        f" ORDER BY {view.key}, edges.rank",
        [*parameters, most, start, reviewer],
    )
    return [Line(*row) for row in rows]


def before(store: Store, view: View, rank: int) -> int:
    """Return the number of a view's edges before an edge, which need not be in the view."""
    if replace(view, sort="rank") == View() and view.sort in ("rank", "reranked"):  # all edges, by a column that counts
        return int(store.rows(f"SELECT {view.key} - 1 FROM edges WHERE rank = ?", (rank,))[0][0])
    return int(_beside(store, view, rank, "COUNT(*)", "<")[0][0])


def following(store: Store, view: View, rank: int) -> int | None:
    """Return the next edge of a view after an edge."""
    rows = _beside(store, view, rank, "rank", ">", f" ORDER BY {view.key}, edges.rank LIMIT 1")
    return int(rows[0][0]) if rows else None


def preceding(store: Store, view: View, rank: int) -> int | None:
    """Return the last edge of a view before an edge."""
    rows = _beside(store, view, rank, "rank", "<", f" ORDER BY {view.key} DESC, edges.rank DESC LIMIT 1")
    return int(rows[0][0]) if rows else None


def _beside(store: Store, view: View, rank: int, what: str, side: str, order: str = "") -> list[tuple[Any, ...]]:
    """Query the edges of a view on one side of an edge."""
    where, parameters = view.where()
    own_key = f"(SELECT {view.key.replace('edges.', 'own.')} FROM edges AS own WHERE own.rank = ?)"
    query = f"SELECT {what} FROM edges WHERE {where} AND ({view.key}, edges.rank) {side} ({own_key}, ?){order}"
    return store.rows(query, [*parameters, rank, rank])


def class_pairs(store: Store) -> list[tuple[int, int, int]]:
    """Return the pairs of classes that edges join, as (low, high, number of edges), the most frequent first."""
    query = "SELECT low, high, COUNT(*) FROM edges WHERE low IS NOT NULL GROUP BY low, high ORDER BY 3 DESC, 1, 2"
    return [(low, high, count) for low, high, count in store.rows(query)]
