"""Agreement with the ranking, and re-ranking."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score

from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray
from focusedcleaner.review.ranking import (
    PARTS,
    evidence_table,
    reorder,
    rerank,
    restore_order,
    reviewer_agreement,
)
from focusedcleaner.runs import Run
from tests.review.sample_runs import a_run, a_store

VERDICTS = st.lists(st.sampled_from(["planted", "genuine", "unsure", "open"]), min_size=1, max_size=40)


@given(VERDICTS)
def test_agreement_is_the_area_under_the_curve(verdicts: list[str]) -> None:
    ranks = {
        kind: [rank for rank, one in enumerate(verdicts, 1) if one == kind] for kind in ("planted", "genuine", "unsure")
    }
    found = reviewer_agreement(ranks, len(verdicts))  # type: ignore[arg-type]
    if ranks["planted"] and ranks["genuine"]:
        judged = [(one == "planted", -rank) for rank, one in enumerate(verdicts) if one in ("planted", "genuine")]
        assert found.auc == pytest.approx(roc_auc_score(*zip(*judged, strict=True)))
    else:
        assert math.isnan(found.auc)
    assert sum(found.sizes) == len(verdicts)
    for kind, tenths in found.parts.items():
        assert sum(tenths) == len(ranks[kind])
        assert all(0 <= number <= size for number, size in zip(tenths, found.sizes, strict=True))


def test_the_tenths_are_tenths() -> None:
    found = reviewer_agreement({"planted": list(range(1, 31)), "genuine": [100]}, 100)
    assert found.parts["planted"] == (10, 10, 10, *[0] * 7)
    assert found.parts["genuine"] == (*[0] * 9, 1)
    assert len(found.sizes) == PARTS


# Re-ranking ----------------------------------------------------------------------------------------------------------

EDGES = 200


def lesson(seed: int = 0) -> tuple[FloatArray, np.ndarray]:
    """Edges whose second column tells planted from genuine, which the method did not know."""
    rng = np.random.default_rng(seed)
    planted = rng.random(EDGES) < 0.5
    table = rng.normal(size=(EDGES, 3))
    table[:, 1] += np.where(planted, 1.5, -1.5)
    return table, planted


def test_decisions_teach_the_order() -> None:
    table, planted = lesson()
    judged = np.arange(40)
    ranks, change = reorder(["a", "b", "c"], table, judged[planted[:40]] + 1, judged[~planted[:40]] + 1)
    assert sorted(ranks) == list(range(1, EDGES + 1))
    assert ranks[:40].tolist() == list(range(1, 41))
    rest = ranks[40:] - 1
    assert roc_auc_score(planted[rest], -np.arange(len(rest))) > 0.9
    assert roc_auc_score(planted[40:], -np.arange(EDGES - 40)) < 0.7
    assert change["learnt"][0][0] == "b"
    assert change["learnt"][0][1] > 0
    assert (change["planted"], change["genuine"]) == (planted[:40].sum(), 40 - planted[:40].sum())
    assert change["up"] + change["down"] + change["kept"] == EDGES - 40


def test_how_the_order_changed_is_told_rightly() -> None:
    table, planted = lesson()
    ranks, change = reorder(["a", "b", "c"], table, np.flatnonzero(planted)[:9] + 1, np.flatnonzero(~planted)[:9] + 1)
    rest = ranks[18:]
    before = {rank: 19 + place for place, rank in enumerate(sorted(rest))}
    now = {rank: 19 + place for place, rank in enumerate(rest)}
    assert change["up"] == sum(now[rank] < before[rank] for rank in rest)
    assert change["tau"] == pytest.approx(
        kendalltau([before[rank] for rank in rest], [now[rank] for rank in rest]).statistic
    )
    farthest = max(rest, key=lambda rank: before[rank] - now[rank])
    assert change["risen"][0] == {"rank": farthest, "place": now[farthest], "before": before[farthest]}
    assert all(mover["place"] > mover["before"] for mover in change["fallen"])
    assert json.loads(json.dumps(change)) == change


def test_few_or_one_sided_decisions_change_little() -> None:
    table, planted = lesson()
    one, other = np.flatnonzero(planted) + 1, np.flatnonzero(~planted) + 1
    _, few = reorder(["a", "b", "c"], table, one[:1], other[:1])
    _, one_sided = reorder(["a", "b", "c"], table, one[:60], other[:1])
    _, many = reorder(["a", "b", "c"], table, one[:60], other[:60])
    assert few["weight"] == pytest.approx(2 / 22)
    assert few["weight"] < one_sided["weight"] < many["weight"]
    assert few["tau"] > 0.85 > many["tau"]


@pytest.mark.parametrize(("planted", "genuine"), [([], []), ([1], []), ([], [1])])
def test_both_kinds_are_needed(planted: list[int], genuine: list[int]) -> None:
    with pytest.raises(InputError, match="at least one edge judged planted and one judged genuine"):
        reorder(["a", "b", "c"], lesson()[0], planted, genuine)


def test_something_must_be_left() -> None:
    with pytest.raises(InputError, match="nothing left"):
        reorder(["a"], np.zeros((2, 1)), [1], [2])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return a_run(tmp_path_factory.mktemp("runs") / "RUN")


def test_the_evidence_has_no_direction(run: Run) -> None:
    names, table = evidence_table(run)
    turned = {
        name.replace("_u", "_?").replace("_v", "_u").replace("_?", "_v"): column
        for name, column in run.evidence.items()
    }
    again, other = evidence_table(replace(run, evidence=turned))
    assert sorted(names) == sorted(again)
    assert np.allclose(table, other[:, [again.index(name) for name in names]])
    assert {"score", "same classes", "smaller degree", "larger degree", "attribute similarity"} <= set(names)
    assert np.isfinite(table).all()


def test_the_store_keeps_the_order_until_it_is_restored(run: Run) -> None:
    with a_store(run) as store:
        for rank in range(1, 11):
            store.decide(rank, "ann", "planted" if rank % 3 else "genuine")
        rerank(store, run)
        places = [place for (place,) in store.rows("SELECT place FROM edges ORDER BY rank")]
        assert sorted(places) == list(range(1, 41))
        assert places[:10] == list(range(1, 11))
        assert places != list(range(1, 41))
        saved = json.loads(store.reranking() or "")
        assert (saved["planted"], saved["genuine"]) == (7, 3)
        assert saved["at"]
        restore_order(store)
        assert [place for (place,) in store.rows("SELECT place FROM edges ORDER BY rank")] == list(range(1, 41))
        assert store.reranking() is None


def test_unsure_and_disputed_edges_teach_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "removed.csv").write_bytes((run.path / "removed.csv").read_bytes())
    with a_store(replace(run, path=tmp_path)) as store:
        store.decide(1, "ann", "planted")
        store.decide(1, "bob", "genuine")
        store.decide(2, "ann", "unsure")
        with pytest.raises(InputError, match="at least one edge"):
            rerank(store, run)
        assert store.reranking() is None
