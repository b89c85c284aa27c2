"""From decisions to a graph: which edges go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import IntArray
from focusedcleaner.review.store import Store

Conflicts = Literal["planted", "genuine", "skip"]


@dataclass(frozen=True)
class Chosen:
    """Which edges go and why, as ranks."""

    judged: IntArray
    """Judged planted."""
    disputed: IntArray
    """Judged planted by some and genuine by others, and taken for planted."""
    undecided: IntArray
    """Judged by nobody, with a score as high as was asked for."""
    left_in_conflict: int
    """Disputed edges that stay."""

    @property
    def ranks(self) -> IntArray:
        return np.sort(np.concatenate([self.judged, self.disputed, self.undecided]))


def chosen(
    store: Store, *, reviewer: str | None = None, conflicts: Conflicts = "skip", undecided_above: float | None = None
) -> Chosen:
    """The edges that are to go.

    Args:
        store: the decisions.
        reviewer: whose verdicts count; all reviewers' together where None.
        conflicts: what a disputed edge is taken for; "skip" and "genuine" both leave it in the graph.
        undecided_above: take edges without a verdict too, if their score is this high or higher. An edge that somebody
            is unsure about is not one of them.
    """
    if reviewer is not None and reviewer not in store.reviewers():
        known = ", ".join(store.reviewers()) or "nobody yet"
        raise InputError(f"there is no reviewer {reviewer!r}; those who took part: {known}")
    judged, disputed = _ranks(store, "planted", reviewer), np.empty(0, dtype=np.int64)
    in_conflict = disputed if reviewer is not None else _ranks(store, "conflict", None)
    if conflicts == "planted":
        disputed, in_conflict = in_conflict, disputed
    undecided = np.empty(0, dtype=np.int64)
    if undecided_above is not None:
        undecided = _undecided(store, reviewer, undecided_above)
    return Chosen(judged, disputed, undecided, len(in_conflict))


def _ranks(store: Store, status: str, reviewer: str | None) -> IntArray:
    if reviewer is None:
        found = store.rows("SELECT rank FROM edges WHERE status = ?", (status,))
    else:
        found = store.rows("SELECT rank FROM decisions WHERE reviewer = ? AND verdict = ?", (reviewer, status))
    return np.array(found, dtype=np.int64).reshape(-1)


def _undecided(store: Store, reviewer: str | None, least: float) -> IntArray:
    whose, who = ("", []) if reviewer is None else (" AND reviewer = ?", [reviewer])
    judged = f"SELECT 1 FROM decisions AS d WHERE d.rank = edges.rank AND verdict <> 'open'{whose}"
    found = store.rows(f"SELECT rank FROM edges WHERE score >= ? AND NOT EXISTS ({judged})", [least, *who])
    return np.array(found, dtype=np.int64).reshape(-1)
