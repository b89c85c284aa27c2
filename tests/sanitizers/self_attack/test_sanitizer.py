"""Self-attack as a sanitizer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from focusedcleaner import datasets
from focusedcleaner.attacks import attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.detectors.base import View
from focusedcleaner.engine import Structure
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.sanitizers import Interrupted, SelfAttack, sanitizer
from focusedcleaner.sanitizers.self_attack.attackers import ATTACKERS
from focusedcleaner.sanitizers.self_attack.sanitizer import PlantedEdges
from focusedcleaner.scoring import score

pytestmark = pytest.mark.slow

QUICK = {"rounds": 2, "trees": 10, "attackers": "dice,random", "attackers_elsewhere": "random"}
SMALL = {"rounds": 2, "trees": 20, "attackers": "mettack"}


def test_it_beats_agreement_on_mettack(clean: Graph, poisoned: Graph) -> None:
    done = SelfAttack(rounds=1, trees=40, attackers="mettack", attackers_elsewhere="random").sanitize(
        poisoned, budget="10%"
    )
    found = score(done.removed, poisoned=poisoned, clean=clean)
    by_agreement = sanitizer("agreement").sanitize(poisoned, budget="10%")
    assert found.esr > 0.5 * found.oracle_esr
    assert found.esr > score(by_agreement.removed, poisoned=poisoned, clean=clean).esr
    assert (np.diff(done.scores) <= 1e-12).all()
    assert done.scores == pytest.approx(done.evidence["planted"])


@pytest.mark.data
def test_the_chosen_budget_follows_the_poison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focusedcleaner.sanitizers.self_attack.attackers.METTACK_STEPS", 5)
    whole = datasets.load("cora")
    pure = whole.with_split(Split.random(whole.labels, seed=1))  # type: ignore[arg-type]
    planted = ATTACKERS["mettack"](pure, 500, np.random.default_rng(7))
    dirty = pure.with_edges(planted)
    chosen = SelfAttack(rounds=3, trees=20, attackers="mettack", attackers_elsewhere="random")
    much, little = chosen.sanitize(dirty), chosen.sanitize(pure)
    assert much.auto
    assert much.estimate is not None
    assert little.estimate is not None
    assert 250 < much.estimate.number < 750
    assert much.estimate.low < 500 < much.estimate.high
    assert score(much.removed, poisoned=dirty, clean=pure).esr > 0.55
    assert little.estimate.number < much.estimate.number / 2
    assert (much.verdict.status, len(little.removed)) == ("poisoned", 0)


def test_a_resumed_run_gives_the_same_result(poisoned: Graph, tmp_path: Path) -> None:
    cleaner = SelfAttack(**QUICK)  # type: ignore[arg-type]
    whole = cleaner.sanitize(poisoned, 30, seed=3)

    def stop(done: int, total: int, stage: str = "") -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        cleaner.sanitize(poisoned, 30, seed=3, progress=stop, checkpoint=tmp_path / "c.npz")
    assert len(stopped.value.sanitation.removed) == 30
    again = cleaner.sanitize(poisoned, 30, seed=3, checkpoint=tmp_path / "c.npz")
    assert (again.removed == whole.removed).all()
    assert (again.estimate, again.verdict) == (whole.estimate, whole.verdict)


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


def test_the_focus_improves_focused_cleaner() -> None:
    hits = {"focused-self-attack": 0, "focused-none": 0}
    for seed in (2, 3, 4):
        clean = synthetic(400, mean_degree=5.0, num_classes=3, homophily=0.9, attribute_signal=0.3, seed=seed)
        poisoned = attack("mettack").poison(clean, "10%").graph
        for name in hits:
            settings = SMALL if name == "focused-self-attack" else {}
            done = sanitizer(name, edges_per_round=10, **settings).sanitize(poisoned, 40)
            hits[name] += score(done.removed, poisoned=poisoned, clean=clean).hits
    assert hits["focused-self-attack"] > 1.1 * hits["focused-none"]


def test_without_an_edge_above_the_threshold_the_top_tenth_is_the_focus(graph: Graph) -> None:
    structure = Structure(graph)
    view = View(structure, torch.zeros(graph.num_nodes, graph.num_classes), torch.zeros(graph.num_nodes, 1), 0)
    unlikely = torch.linspace(0.0, 0.4, graph.num_edges, dtype=structure.dtype)
    found = PlantedEdges().victims(view, {"planted": unlikely})
    tenth = graph.edges[-(graph.num_edges // 10) :]
    assert set(tenth.ravel().tolist()) <= set(torch.nonzero(found.mask).ravel().tolist())
    assert found.threshold == pytest.approx(0.36)
    likely = unlikely.clone()
    likely[3] = 0.9
    found = PlantedEdges().victims(view, {"planted": likely})
    assert torch.nonzero(found.mask).ravel().tolist() == sorted(graph.edges[3].tolist())


def test_the_purpose_decides_how_many_edges_go(poisoned: Graph) -> None:
    quick = {"rounds": 1, "trees": 20, "attackers": "mettack,random", "attackers_elsewhere": "random"}
    model, evidence = (
        sanitizer("self-attack", purpose=why, **quick).sanitize(poisoned) for why in ("model", "evidence")
    )
    assert model.verdict.status == evidence.verdict.status == "poisoned"
    assert len(model.removed) >= poisoned.num_edges // 10
    assert (evidence.scores >= 0.8).all()
    assert len(evidence.removed) < len(model.removed)
    assert model.verdict.expected_precision is not None
    assert evidence.verdict.expected_precision is not None
    assert model.verdict.expected_precision < evidence.verdict.expected_precision
    for found, least in (
        (model, "0.05 of being planted was removed, genuine ones"),
        (evidence, "0.8 of being planted"),
    ):
        assert least in found.verdict.rule
        assert f"{found.verdict.rule[1:]}." in found.verdict.explanation


def test_the_most_suspicious_tenth_is_a_rule_of_its_own(poisoned: Graph) -> None:
    quick = {"rounds": 1, "trees": 20, "attackers": "mettack,random", "attackers_elsewhere": "random"}
    found = sanitizer("self-attack", threshold=1.0, **quick).sanitize(poisoned)
    assert found.verdict.status == "poisoned"
    assert found.verdict.rule.startswith("the most suspicious tenth of the edges was removed, genuine ones among them")
    kept = poisoned.num_edges // 10 - len(found.removed)
    assert found.verdict.rule.endswith(f"; {kept} stayed because a node would have lost its last edge")


def test_evidence_has_the_classes_of_the_other_neighbours(poisoned: Graph) -> None:
    found = SelfAttack(**QUICK).sanitize(poisoned, 10)  # type: ignore[arg-type]
    for end, other in ((0, 1), (1, 0)):
        around = found.evidence[f"neighbours_{'uv'[end]}"]
        for row, edge in enumerate(found.removed):
            neighbours = set(poisoned.adjacency().indices[slice(*poisoned.adjacency().indptr[edge[end] :][:2])])
            known = [node for node in neighbours - {edge[other]} if node in poisoned.split.train]  # type: ignore[union-attr]
            shares = np.bincount(poisoned.labels[known], minlength=poisoned.num_classes) / max(len(neighbours) - 1, 1)  # type: ignore[index]
            assert (around[row] >= shares - 1e-9).all(), "a known neighbour counts fully"
            assert np.isclose(around[row].sum(), float(len(neighbours) > 1))


def test_a_graph_that_is_not_suitable_is_not_judged() -> None:
    small = synthetic(num_nodes=100, seed=0)
    done = SelfAttack().sanitize(small)
    assert done.verdict.status == "not suitable"
    assert len(done.removed) == len(done.suspects) == 0
    by_budget = SelfAttack(**QUICK).sanitize(small, 10)  # type: ignore[arg-type]
    assert (by_budget.verdict.status, len(by_budget.removed)) == ("not suitable", 10)
    assert "because the budget says so" in by_budget.verdict.caveat


def test_progress_names_the_round_and_the_attackers(poisoned: Graph) -> None:
    stages: list[tuple[int, int, str]] = []

    def note(done: int, total: int, stage: str = "") -> None:
        stages.append((done, total, stage))

    SelfAttack(**QUICK).sanitize(poisoned, 10, progress=note)  # type: ignore[arg-type]
    assert stages[0] == (0, 5, "round 1 of 5, attackers: dice, random")
    assert stages[3][2] == "round 4 of 5, attackers: random"
    assert "harm" in stages[4][2]
    assert stages[5] == (5, 5, "")


def test_without_a_finding_suspects_get_no_probability(poisoned: Graph) -> None:
    done = SelfAttack(**QUICK).sanitize(poisoned)  # type: ignore[arg-type]
    assert done.verdict.status != "poisoned"  # of simulated attackers that plant at random
    assert len(done.removed) == 0 < len(done.suspects)
    assert "planted" not in done.suspect_evidence
    assert "planted" not in repr(done)
