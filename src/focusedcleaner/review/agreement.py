"""What the decisions so far say about the ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from focusedcleaner.graph import IntArray
from focusedcleaner.review.store import Status

PARTS = 10


@dataclass(frozen=True)
class Agreement:
    """How well the method's order and the reviewers' verdicts go together."""

    order: float
    """The chance that of an edge judged planted and one judged genuine, the planted one stands first (AUC); NaN where
    one of the two kinds is missing."""
    parts: Mapping[Status, tuple[int, ...]]
    """For each status but open, how many edges of each tenth of the ranking have it, the most suspicious first."""
    sizes: tuple[int, ...]
    """How many edges each tenth has."""


def agreement(judged: Mapping[Status, IntArray | Sequence[int]], total: int) -> Agreement:
    """Compare verdicts with ranks.

    Args:
        judged: the ranks (from 1) of the edges of each status.
        total: how many edges were ranked.

    >>> found = agreement({"planted": [1, 2, 4], "genuine": [3, 9]}, 10)
    >>> round(found.order, 3), found.parts["genuine"]
    (0.833, (0, 0, 1, 0, 0, 0, 0, 0, 1, 0))
    """
    part_of = (np.arange(total) * PARTS) // max(total, 1)
    parts = {
        status: tuple(np.bincount(part_of[np.array(ranks, dtype=np.int64) - 1], minlength=PARTS).tolist())
        for status, ranks in judged.items()
    }
    sizes = tuple(np.bincount(part_of, minlength=PARTS).tolist())
    return Agreement(_planted_first(judged.get("planted", ()), judged.get("genuine", ())), parts, sizes)


def _planted_first(planted: IntArray | Sequence[int], genuine: IntArray | Sequence[int]) -> float:
    if not len(planted) or not len(genuine):
        return float("nan")
    behind = len(genuine) - np.searchsorted(np.sort(genuine), planted)
    return float(behind.mean() / len(genuine))
