"""The reviewers' agreement with the method's ranking, and a new ranking learnt from their decisions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression

from focusedcleaner.engine import one_thread
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, IntArray
from focusedcleaner.review.edge_details import evidence_columns
from focusedcleaner.review.store import Status, Store
from focusedcleaner.runs import Run

PARTS = 10
PATIENCE = 20.0
"""Number of decisions, half of them planted, at which the learner and the method's order have equal weight."""
_MOVERS = 5


@dataclass(frozen=True)
class ReviewerAgreement:
    """How well the method's ranking agrees with the reviewers' verdicts."""

    auc: float
    """Probability that a planted edge is ranked before a genuine one; NaN unless both verdicts occur."""
    parts: Mapping[Status, tuple[int, ...]]
    """For each status but open, its number of edges in each tenth of the ranking, the most suspicious first."""
    sizes: tuple[int, ...]
    """Number of edges in each tenth."""


def reviewer_agreement(judged: Mapping[Status, IntArray | Sequence[int]], total: int) -> ReviewerAgreement:
    """Compare verdicts with ranks.

    Args:
        judged: the ranks (from 1) of the edges of each status.
        total: number of ranked edges.

    >>> agreement = reviewer_agreement({"planted": [1, 2, 4], "genuine": [3, 9]}, 10)
    >>> round(agreement.auc, 3), agreement.parts["genuine"]
    (0.833, (0, 0, 1, 0, 0, 0, 0, 0, 1, 0))
    """
    part_of = (np.arange(total) * PARTS) // max(total, 1)
    parts = {
        status: tuple(np.bincount(part_of[np.array(ranks, dtype=np.int64) - 1], minlength=PARTS).tolist())
        for status, ranks in judged.items()
    }
    planted, genuine = judged.get("planted", ()), judged.get("genuine", ())
    auc = float("nan")
    if len(planted) and len(genuine):
        auc = 1 - float(np.searchsorted(np.sort(genuine), planted).mean()) / len(genuine)
    return ReviewerAgreement(auc, parts, tuple(np.bincount(part_of, minlength=PARTS).tolist()))


def evidence_table(run: Run) -> tuple[list[str], FloatArray]:
    """Return the names of the evidence columns and the standardized evidence, R × K.

    An edge has no direction: columns for both ends become their minimum and maximum, and the two class distributions
    become the log-probability of equal classes, log Σ_c p_u(c)·p_v(c).
    """
    columns: dict[str, FloatArray] = {"score": run.scores}
    for name, (one, *other) in evidence_columns(run.evidence):
        if other and one.ndim == 2:
            columns[f"same {name}"] = np.log(np.maximum((one * other[0]).sum(axis=1), 1e-6))
        elif other:
            columns[f"smaller {name}"], columns[f"larger {name}"] = np.minimum(one, *other), np.maximum(one, *other)
        elif one.ndim == 1 and not np.array_equal(one, run.scores):
            columns[name] = one
    table = np.column_stack([np.nan_to_num(np.asarray(column, dtype=np.float64)) for column in columns.values()])
    spread = table.std(axis=0)
    scaled = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return [name.replace("_", " ") for name in columns], np.clip(scaled, -5, 5)


def reorder(
    names: Sequence[str], table: FloatArray, planted: IntArray | Sequence[int], genuine: IntArray | Sequence[int]
) -> tuple[IntArray, dict[str, Any]]:
    """Return the ranks in their new order, judged edges first, and how the order of the others changed.

    A logistic regression is trained on the evidence of the judged edges. Its order and the method's order, both as
    normal scores over the undecided edges, are mixed: w·z_learner + (1 − w)·z_method with w = n / (n + 20) and
    n = 4·planted·genuine / (planted + genuine), so that few or one-sided decisions change little.

    The change has the numbers of ``planted`` and ``genuine`` edges learnt from, the learner's ``weight`` w, Kendall's
    ``tau`` between both orders, how many edges went ``up``, ``down`` or were ``kept``, those that have ``risen`` and
    ``fallen`` most (their ``rank``, new ``place`` and place ``before``, judged edges being first in both orders), and
    the columns with the largest coefficients (``learnt``; a positive one speaks for planted).

    Args:
        names: of the columns.
        table: R × K standardized evidence in the method's order.
        planted: ranks (from 1) judged planted.
        genuine: ranks judged genuine.

    Raises:
        InputError: one of the two verdicts is missing, or all edges are judged.
    """
    if not len(planted) or not len(genuine):
        raise InputError("re-ranking needs at least one edge judged planted and one judged genuine")
    judged = np.sort(np.concatenate([planted, genuine])) - 1
    rest = np.setdiff1d(np.arange(len(table)), judged)
    if not len(rest):
        raise InputError("every edge is judged: there is nothing left to re-rank")
    with one_thread():
        learner = LogisticRegression().fit(table[judged], np.isin(judged + 1, planted))
        logits = learner.decision_function(table[rest])
    pairs = 4 * len(planted) * len(genuine) / (len(planted) + len(genuine))
    weight = pairs / (pairs + PATIENCE)
    method = np.arange(len(rest))
    mixed = weight * _normal_scores(np.lexsort((method, -logits))) + (1 - weight) * _normal_scores(method)
    order = np.lexsort((method, -mixed))
    coefficients = learner.coef_[0]
    largest = np.argsort(-np.abs(coefficients))[:3]
    place = np.argsort(order)  # the inverse permutation
    moved = method - place
    by_move = np.argsort(-moved, kind="stable")

    def movers(items: IntArray) -> list[dict[str, int]]:
        first = len(judged) + 1
        found = zip((rest[items] + 1).tolist(), (place[items] + first).tolist(), (items + first).tolist(), strict=True)
        return [{"rank": rank, "place": now, "before": before} for rank, now, before in found]

    return np.concatenate([judged, rest[order]]) + 1, {
        "planted": len(planted),
        "genuine": len(genuine),
        "weight": weight,
        "tau": float(kendalltau(method, place).statistic) if len(order) > 1 else 1.0,
        "up": int((moved > 0).sum()),
        "down": int((moved < 0).sum()),
        "kept": int((moved == 0).sum()),
        "risen": movers(by_move[moved[by_move] > 0][:_MOVERS]),
        "fallen": movers(by_move[moved[by_move] < 0][::-1][:_MOVERS]),
        "learnt": [[names[column], float(coefficients[column])] for column in largest],
    }


def _normal_scores(order: IntArray) -> FloatArray:
    """The standard normal quantile of each item's position; the first item has the largest."""
    return np.asarray(-ndtri((np.argsort(order) + 0.5) / len(order)))


def rerank(store: Store, run: Run) -> None:
    """Learn a new order of the undecided edges from the decisions; save it, and how the order changed."""
    judged = store.judged()
    ranks, change = reorder(*evidence_table(run), judged["planted"], judged["genuine"])
    change["at"] = datetime.now(UTC).isoformat(timespec="seconds")
    store.reorder([(place, rank) for place, rank in enumerate(ranks.tolist(), 1)], json.dumps(change))


def last_change(store: Store) -> dict[str, Any] | None:
    """Return how the last re-ranking changed the order, as `reorder` describes it; None for the original order."""
    saved = store.reranking()
    if saved is None:
        return None
    try:
        change = json.loads(saved)
        for kind, names in ((int, ("planted", "genuine", "up", "down", "kept")), (float, ("weight", "tau"))):
            change.update({name: kind(change[name]) for name in names})
        for name in ("risen", "fallen"):
            change[name] = [{key: int(mover[key]) for key in ("rank", "place", "before")} for mover in change[name]]
        change["learnt"] = [(str(name), float(weight)) for name, weight in change["learnt"]]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        raise store.error("is damaged (its re-ranking can't be read): restore it from a copy") from None
    return dict(change)


def restore_order(store: Store) -> None:
    """Save the method's order as the re-ranked one."""
    store.reorder([(rank, rank) for rank in range(1, store.size() + 1)], None)
