"""The order that the decisions teach: what was judged are labels, and the rest is put in a new order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import numpy as np
from scipy.special import ndtri
from scipy.stats import kendalltau
from sklearn.linear_model import LogisticRegression

from focusedcleaner.engine import one_thread
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, IntArray
from focusedcleaner.review.store import Store
from focusedcleaner.runs import Run

PATIENCE = 20.0
"""With so many decisions, half of them planted, the learner's word weighs as much as the method's order."""
_MOVERS = 5


@dataclass(frozen=True)
class Mover:
    """An edge that moved far."""

    rank: int
    place: int
    """Its place now; both count all edges."""
    before: int
    """Its place in the method's order, the judged edges being set before all others."""


@dataclass(frozen=True)
class Change:
    """How the order of the undecided edges changed."""

    planted: int
    genuine: int
    weight: float
    """The learner's share in the new order; the method's has the rest."""
    tau: float
    """Kendall's τ between the method's order and the new one: 1 for the same, 0 for unrelated, −1 for the reverse."""
    up: int
    down: int
    kept: int
    risen: tuple[Mover, ...]
    fallen: tuple[Mover, ...]
    learnt: tuple[tuple[str, float], ...]
    """The evidence that tells most, with its weight: positive speaks for planted."""
    at: str = ""

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> Change:
        """From JSON."""
        read = json.loads(text)
        for name in ("risen", "fallen"):
            read[name] = tuple(Mover(**mover) for mover in read[name])
        return cls(**{**read, "learnt": tuple((name, weight) for name, weight in read["learnt"])})


def evidence_table(run: Run) -> tuple[list[str], FloatArray]:
    """The evidence as R × K standardized numbers, and what the columns are called.

    An edge has no direction, so a column for each end becomes the smaller and the larger value, and the two class
    distributions become the chance that both ends are of one class, log Σ_c p_u(c)·p_v(c).
    """
    columns: dict[str, FloatArray] = {"score": run.scores}
    evidence = run.evidence
    for name, values in evidence.items():
        stem, _, end = name.rpartition("_")
        if f"{stem}_u" in evidence and f"{stem}_v" in evidence and end in ("u", "v"):
            if end == "v":
                continue
            one, other = evidence[f"{stem}_u"], evidence[f"{stem}_v"]
            if values.ndim == 2:
                columns[f"same {stem}"] = np.log(np.maximum((one * other).sum(axis=1), 1e-6))
            else:
                columns[f"smaller {stem}"], columns[f"larger {stem}"] = np.minimum(one, other), np.maximum(one, other)
        elif values.ndim == 1 and not np.array_equal(values, run.scores):
            columns[name] = values
    table = np.column_stack([np.nan_to_num(np.asarray(column, dtype=np.float64)) for column in columns.values()])
    spread = table.std(axis=0)
    scaled = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return [name.replace("_", " ") for name in columns], np.clip(scaled, -5, 5)


def reordered(
    names: Sequence[str], table: FloatArray, planted: IntArray | Sequence[int], genuine: IntArray | Sequence[int]
) -> tuple[IntArray, Change]:
    """The ranks in their new order, the judged ones first, and how the order changed.

    A logistic regression learns from the evidence of the judged edges. Its word z_learner and the method's order
    z_method, both as normal scores over the undecided edges, are mixed: w·z_learner + (1 − w)·z_method with
    w = n / (n + 20) and n = 4·planted·genuine / (planted + genuine), so that few or one-sided decisions change little.

    Args:
        names: what the columns are called.
        table: R × K standardized evidence in the method's order.
        planted: ranks (from 1) judged planted.
        genuine: ranks judged genuine.

    Raises:
        InputError: one of the two kinds is missing, or nothing is left to be put in order.
    """
    if not len(planted) or not len(genuine):
        raise InputError("re-ranking needs at least one edge judged planted and one judged genuine")
    judged = np.sort(np.concatenate([planted, genuine])) - 1
    rest = np.setdiff1d(np.arange(len(table)), judged)
    if not len(rest):
        raise InputError("every edge is judged: there is nothing left to re-rank")
    with one_thread():
        learner = LogisticRegression().fit(table[judged], np.isin(judged + 1, planted))
        belief = learner.decision_function(table[rest])
    pairs = 4 * len(planted) * len(genuine) / (len(planted) + len(genuine))
    weight = pairs / (pairs + PATIENCE)
    method = np.arange(len(rest))
    mixed = weight * _normal_scores(np.lexsort((method, -belief))) + (1 - weight) * _normal_scores(method)
    order = np.lexsort((method, -mixed))
    change = _change(rest, order, len(judged))
    strength = learner.coef_[0]
    learnt = tuple((names[column], float(strength[column])) for column in np.argsort(-np.abs(strength))[:3])
    about = {"planted": len(planted), "genuine": len(genuine), "weight": weight, "learnt": learnt}
    return np.concatenate([judged, rest[order]]) + 1, Change(**{**change, **about})  # type: ignore[arg-type]


def _normal_scores(order: IntArray) -> FloatArray:
    """The standard normal's quantile of each item's place, the first item's being the largest."""
    place = np.empty(len(order))
    place[order] = np.arange(len(order))
    return np.asarray(-ndtri((place + 0.5) / len(order)))


def _change(rest: IntArray, order: IntArray, offset: int) -> dict[str, object]:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    moved = np.arange(len(order)) - place
    by_move = np.argsort(-moved, kind="stable")

    def movers(items: IntArray, sign: int) -> tuple[Mover, ...]:
        return tuple(
            Mover(int(rest[item]) + 1, int(place[item]) + offset + 1, int(item) + offset + 1)
            for item in items
            if sign * moved[item] > 0
        )

    return {
        "tau": float(kendalltau(np.arange(len(order)), place).statistic) if len(order) > 1 else 1.0,
        "up": int((moved > 0).sum()),
        "down": int((moved < 0).sum()),
        "kept": int((moved == 0).sum()),
        "risen": movers(by_move[:_MOVERS], 1),
        "fallen": movers(by_move[::-1][:_MOVERS], -1),
    }


def rerank(store: Store, names: Sequence[str], table: FloatArray) -> Change:
    """Learn from the store's decisions, keep the new order in the store, and say how it changed."""
    judged = store.judged()
    ranks, change = reordered(names, table, judged["planted"], judged["genuine"])
    change = Change(**{**vars(change), "at": datetime.now(UTC).isoformat(timespec="seconds")})
    store.reorder([(place, rank) for place, rank in enumerate(ranks.tolist(), 1)], change.text())
    return change


def restore(store: Store) -> None:
    """Make the method's order the re-ranked one again."""
    store.reorder([(rank, rank) for rank in range(1, store.size() + 1)], None)
