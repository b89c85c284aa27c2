"""Self-attack as a sanitizer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner import datasets
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.sanitizers import Interrupted, SelfAttack, sanitizer
from focusedcleaner.sanitizers.self_attack.attackers import ATTACKERS
from focusedcleaner.sanitizers.self_attack.em import Posterior
from focusedcleaner.sanitizers.self_attack.sanitizer import estimate_planted
from focusedcleaner.scoring import score

QUICK = {"rounds": 2, "trees": 10, "attackers": "dice,random"}


def test_it_beats_agreement_on_mettack(clean: Graph, poisoned: Graph) -> None:
    done = SelfAttack(rounds=1, trees=40, attackers="mettack").sanitize(poisoned, budget="10%")
    found = score(done.removed, poisoned=poisoned, clean=clean)
    by_agreement = sanitizer("agreement").sanitize(poisoned, budget="10%")
    assert found.esr > 0.5 * found.oracle_esr
    assert found.esr > score(by_agreement.removed, poisoned=poisoned, clean=clean).esr
    assert (np.diff(done.scores) <= 1e-12).all()
    assert done.scores == pytest.approx(done.evidence["planted"])


@pytest.mark.data
def test_the_chosen_budget_follows_the_poison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focusedcleaner.sanitizers.self_attack.attackers.MIN_STEPS", 5)
    monkeypatch.setattr("focusedcleaner.sanitizers.self_attack.attackers.MAX_STEPS", 5)
    whole = datasets.load("cora")
    pure = whole.with_split(Split.random(whole.labels, seed=1))  # type: ignore[arg-type]
    planted = ATTACKERS["mettack"](pure, 500, np.random.default_rng(7))
    dirty = pure.with_edges(planted)
    chosen = SelfAttack(rounds=3, trees=20, attackers="mettack")
    much, little = chosen.sanitize(dirty), chosen.sanitize(pure)
    assert much.auto
    assert (much.scores > chosen.threshold).all()
    assert much.estimate is not None
    assert little.estimate is not None
    assert 350 < much.estimate.number < 750
    assert score(much.removed, poisoned=dirty, clean=pure).esr > 0.55
    assert little.estimate.number < much.estimate.number / 2
    assert len(little.removed) < len(much.removed) / 3


def test_a_resumed_run_gives_the_same_result(poisoned: Graph, tmp_path: Path) -> None:
    cleaner = SelfAttack(**QUICK)  # type: ignore[arg-type]
    whole = cleaner.sanitize(poisoned, 30, seed=3)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        cleaner.sanitize(poisoned, 30, seed=3, progress=stop, checkpoint=tmp_path / "c.npz")
    assert len(stopped.value.sanitation.removed) == 30
    again = cleaner.sanitize(poisoned, 30, seed=3, checkpoint=tmp_path / "c.npz")
    assert (again.removed == whole.removed).all()
    assert again.estimate == whole.estimate


def test_interrupted_before_the_first_round(poisoned: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(graph: Graph) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("focusedcleaner.sanitizers.self_attack.em.EdgeFeatureExtractor", stop)
    with pytest.raises(Interrupted) as stopped:
        SelfAttack(**QUICK).sanitize(poisoned, 30)  # type: ignore[arg-type]
    assert len(stopped.value.sanitation.removed) == 0


def test_without_attributes_and_without_validation(poisoned: Graph) -> None:
    assert poisoned.split is not None
    bare = replace(poisoned, attributes=None)
    assert len(SelfAttack(**QUICK).sanitize(bare, 30).removed) == 30  # type: ignore[arg-type]
    split = replace(poisoned.split, val=np.empty(0, dtype=np.int64))
    assert len(SelfAttack(**QUICK).sanitize(poisoned.with_split(split), 30).removed) == 30  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong", [{"rounds": 0}, {"trees": 0}, {"threshold": 1.5}, {"threshold": float("nan")}, {"attackers": ""}]
)
def test_wrong_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        sanitizer("self-attack", **wrong)


@given(
    table=st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=1, max_size=4).map(np.array),
)
@settings(max_examples=30, deadline=None)
def test_an_estimate_lies_in_its_interval(table: np.ndarray) -> None:
    found = estimate_planted(table.mean(axis=0), [Posterior(row, np.array([1.0, 0.0])) for row in table])
    assert 0 <= found.low <= found.number <= found.high <= 4 + 1e-9
