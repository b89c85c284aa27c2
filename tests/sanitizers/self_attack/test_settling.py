"""Self-attack without labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.attacks import attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputWarning
from focusedcleaner.graph import UNKNOWN, Graph
from focusedcleaner.sanitizers import Interrupted, SelfAttack, sanitizer
from focusedcleaner.sanitizers.self_attack.em import Observed, Posterior
from focusedcleaner.sanitizers.self_attack.settling import WideAndSettling, judge_by_settling
from focusedcleaner.scoring import score

QUICK = SelfAttack(rounds=2, trees=20, attackers_elsewhere="mettack,random")


def hidden(graph: Graph) -> Graph:
    return replace(graph, labels=None, split=None, class_names=None)


@pytest.mark.slow
def test_it_ranks_better_than_filters_that_need_no_labels() -> None:
    clean = synthetic(600, mean_degree=5.0, num_classes=3, homophily=0.9, attribute_signal=0.5, seed=2)
    poisoned = attack("dice").poison(clean, "10%").graph
    seen = hidden(poisoned)
    own = QUICK.sanitize(seen, "10%")
    found = score(own.removed, poisoned=poisoned, clean=clean)
    assert found.esr > 0.3 * found.oracle_esr
    for name in ("jaccard", "svd"):
        other = sanitizer(name).sanitize(seen, "10%")
        assert found.esr > 1.5 * score(other.removed, poisoned=poisoned, clean=clean).esr
    assert {"clusters_u", "clusters_v", "cluster_agreement"} <= own.evidence.keys()
    assert not {"classes_u", "training_ends"} & own.evidence.keys()
    assert own.verdict.reason.startswith("without labels")


@pytest.mark.slow
def test_a_resumed_run_gives_the_same_result(poisoned: Graph, tmp_path: Path) -> None:
    seen, quick = hidden(poisoned), SelfAttack(rounds=2, trees=5, attackers_elsewhere="random")
    whole = quick.sanitize(seen, 30, seed=3)

    def stop(done: int, total: int, stage: str = "") -> None:
        assert total == 4
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        quick.sanitize(seen, 30, seed=3, progress=stop, checkpoint=tmp_path / "c.npz")
    again = quick.sanitize(seen, 30, seed=3, checkpoint=tmp_path / "c.npz")
    assert (again.removed == whole.removed).all()
    assert (again.estimate, again.verdict) == (whole.estimate, whole.verdict)


@pytest.mark.slow
def test_one_marked_class_and_too_few_labels_work(poisoned: Graph) -> None:
    quick = SelfAttack(rounds=1, trees=5, attackers_elsewhere="random")
    assert poisoned.labels is not None
    for kept, said in ((30, "is the only class with labels"), (6, "too few to use")):
        labels = np.full(poisoned.num_nodes, UNKNOWN)
        nodes = np.flatnonzero(poisoned.labels == 1)[:kept]
        labels[nodes] = 1
        marked = replace(poisoned, labels=labels, split=None).with_drawn_split(0)
        with pytest.warns(InputWarning, match=said):
            result = quick.sanitize(marked, 20)
        assert any(said in note for note in result.warnings)
        assert len(result.removed) == 20
        assert "clusters_u" in result.evidence


def posterior(planted: float, purposeful: float, edges: int = 1_000) -> Posterior:
    return Posterior(np.full(edges, planted / edges), np.array([0.9, 0.1]), purposeful)


@pytest.mark.parametrize(
    ("counts", "chosen", "status"),
    [
        ((80.0, 60.0), 50.0, "poisoned"),
        ((80.0, 60.0), 20.0, "uncertain"),
        ((12.0, 4.0), 9.0, "uncertain"),
        ((6.0, 2.0), 3.0, "no sign"),
    ],
)
def test_the_verdict_follows_what_attackers_chose(
    clean: Graph, counts: tuple[float, float], chosen: float, status: str
) -> None:
    observed = Observed.of(clean.without_test_labels())
    wide = [posterior(150.0, 100.0)]
    found = judge_by_settling(
        observed, WideAndSettling(wide, [posterior(count, chosen) for count in counts]), labels=False
    )
    assert found.verdict.status == status
    assert found.estimate.number == pytest.approx(np.mean(counts))
    assert found.estimate.low <= min(counts)
    assert found.estimate.high >= 149.9
    assert found.planted.sum() == pytest.approx(np.mean(counts), rel=1e-3)


def test_one_edge_is_counted_in_the_singular(clean: Graph) -> None:
    search = WideAndSettling([posterior(150.0, 100.0)], [posterior(1.0, 0.0), posterior(1.0, 0.0)])
    found = judge_by_settling(Observed.of(clean.without_test_labels()), search, labels=False)
    assert found.verdict.reason.startswith("without labels, 1 edge looks planted")


def test_bare_edges_never_look_clean(clean: Graph) -> None:
    bare = replace(clean.without_test_labels(), attributes=None, attribute_names=None)
    found = judge_by_settling(
        Observed.of(bare), WideAndSettling([posterior(1.0, 0.0, bare.num_edges)], []), labels=False
    )
    assert found.verdict.status == "uncertain"
    assert "without labels and attributes" in found.verdict.reason


def test_counts_are_averaged_geometrically_and_every_search_ranks(clean: Graph) -> None:
    observed = Observed.of(clean.without_test_labels())
    one = WideAndSettling([posterior(200.0, 150.0)], [posterior(40.0, 30.0), posterior(40.0, 30.0)])
    other = WideAndSettling([posterior(300.0, 150.0)], [posterior(160.0, 120.0), posterior(160.0, 120.0)])
    found = judge_by_settling(observed, one, other, labels=True)
    assert found.estimate.number == pytest.approx(80)
    assert found.estimate.high == pytest.approx(300)
    assert (found.verdict.status, "without labels" in found.verdict.reason) == ("poisoned", False)


@pytest.mark.slow
def test_with_all_labels_clusters_and_classes_are_used(clean: Graph, poisoned: Graph) -> None:
    whole = poisoned.with_split(None).with_drawn_split(0, hide=False)
    stages: list[str] = []

    def listen(done: int, total: int, stage: str = "") -> None:
        stages.append(stage)
        assert total == 8

    quick = SelfAttack(rounds=2, trees=10, attackers_elsewhere="random")
    result = quick.sanitize(whole, "10%", progress=listen)
    assert "classes_u" in result.evidence
    assert result.trace["wide_search"].tolist() == [1, 1, 0, 0, 1, 1, 0, 0]
    assert len(stages) == 9
