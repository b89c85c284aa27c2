"""What every registered sanitizer promises, and which one finds planted edges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from focusedcleaner.attacks import Dice
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import SANITIZERS, Interrupted, sanitizer
from focusedcleaner.sanitizers.base import removable
from focusedcleaner.scoring import score
from tests.strategies import labelled_graphs

QUICK: dict[str, dict[str, Any]] = {
    "cld": {"first_epochs": 5, "epochs": 1},
    "lp": {"first_epochs": 5, "epochs": 1},
    "linkpred": {"first_epochs": 5, "epochs": 1},
    "maskgvae": {"partition_epochs": 3, "autoencoder_epochs": 3, "rounds": 2},
    "gasoline": {"folds": 2},
    "gasoline-d": {"folds": 2},
    "focused-ensemble": {"edges_per_round": 20},
    "focused-self-attack": {"edges_per_round": 20, "rounds": 1, "trees": 3, "attackers": "dice"},
    "self-attack": {"rounds": 1, "trees": 3, "attackers": "dice,random"},
}
SENSIBLE: dict[str, dict[str, Any]] = {
    "agreement": {},
    "cosine": {},
    "gasoline-d": {"folds": 2},
    "jaccard": {},
    "linkpred": {"edges_per_round": 20},
    "maskgvae": {"rounds": 1},
    "svd": {"rank": 3},
}
"""Settings for a graph of three classes, of every filter and rival."""
NEED_ATTRIBUTES = {"jaccard", "cosine"}
IN_ROUNDS = ("cld", "lp", "focused-none", "gasoline", "gasoline-d", "linkpred", "maskgvae")


@pytest.fixture(scope="module")
def clean() -> Graph:
    return synthetic(num_nodes=300, num_classes=3, homophily=0.9, attribute_signal=0.4, seed=5).largest_component()


@pytest.fixture(scope="module")
def poisoned(clean: Graph) -> Graph:
    return Dice(share_removed=0.0).poison(clean, 0.15, seed=1).graph


@pytest.mark.parametrize("name", SANITIZERS.names())
@settings(deadline=None, max_examples=5, suppress_health_check=[HealthCheck.filter_too_much])
@given(graph=labelled_graphs(min_nodes=8), share=st.floats(0.05, 0.5), seed=st.integers(0, 5))
def test_promises(name: str, graph: Graph, share: float, seed: int) -> None:
    cleaner = sanitizer(name, **QUICK.get(name, {}))
    allowed = int(share * graph.num_edges + 1e-9)
    wrong_budget = allowed < 1 or (allowed > removable(graph) and not cleaner.inserts)
    if wrong_budget or (name in NEED_ATTRIBUTES and graph.attributes is None):
        with pytest.raises(InputError):
            cleaner.sanitize(graph, share, seed=seed)
        return
    before = graph.fingerprint()
    found = cleaner.sanitize(graph, share, seed=seed)
    assert graph.fingerprint() == before
    assert len(found.removed) + len(found.added) <= found.budget == allowed
    gone, new = (Graph.from_pairs(graph.num_nodes, pairs) for pairs in (found.removed, found.added))
    assert (gone.num_edges, new.num_edges) == (len(found.removed), len(found.added))
    assert np.isin(gone.edge_keys, graph.edge_keys).all()
    assert not np.isin(new.edge_keys, graph.edge_keys).any()
    assert found.graph.num_edges == graph.num_edges - gone.num_edges + new.num_edges
    assert (found.graph.degrees[graph.degrees > 0] > 0).all()
    assert all(len(column) == len(found.removed) for column in (found.scores, *found.evidence.values()))
    assert len(found.added_scores) == len(found.added)
    assert (found.auto, found.method) == (False, name)
    others = cleaner.sanitize(with_other_test_labels(graph), share, seed=seed)
    for one, other in ((found.removed, others.removed), (found.added, others.added), (found.scores, others.scores)):
        assert np.array_equal(one, other)


def with_other_test_labels(graph: Graph) -> Graph:
    assert graph.labels is not None
    assert graph.split is not None
    labels = graph.labels.copy()
    labels[graph.split.test] = (labels[graph.split.test] + 1) % graph.num_classes
    return replace(graph, labels=labels)


@pytest.mark.parametrize("name", SENSIBLE)
def test_each_rival_is_better_than_chance(name: str, clean: Graph, poisoned: Graph) -> None:
    found = sanitizer(name, **SENSIBLE[name]).sanitize(poisoned, "10%", seed=0)
    value = score(found.removed, poisoned=poisoned, clean=clean)
    by_chance = value.removed * value.attacked / poisoned.num_edges
    assert value.hits > 1.3 * by_chance


def test_random_edges_are_another_set_with_another_seed(poisoned: Graph) -> None:
    one, same, other = (sanitizer("random").sanitize(poisoned, 40, seed=seed).removed.tolist() for seed in (1, 1, 2))
    assert one == same
    assert sorted(one) != sorted(other)


@pytest.mark.parametrize("name", SANITIZERS.names())
def test_progress_ends_at_the_end(name: str, poisoned: Graph) -> None:
    seen: list[tuple[int, int]] = []
    cleaner = sanitizer(name, **QUICK.get(name, {}))
    done = cleaner.sanitize(poisoned, 12, progress=lambda part, whole: seen.append((part, whole)))
    assert seen[-1] == (12, 12)
    assert seen == sorted(seen)
    assert {len(column) for column in done.trace.values()} == {len(seen)}


@pytest.mark.parametrize("name", IN_ROUNDS)
def test_going_on_after_an_interruption_ends_the_same(name: str, poisoned: Graph, tmp_path: Any) -> None:
    per_round = {"rounds": 4} if name == "maskgvae" else {"edges_per_round": 5}
    cleaner = sanitizer(name, **{**QUICK.get(name, {}), **per_round})
    whole = cleaner.sanitize(poisoned, 20, seed=3)

    def interrupt(done: int, total: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    file = tmp_path / "checkpoint.npz"
    with pytest.raises(Interrupted) as stop:
        cleaner.sanitize(poisoned, 20, seed=3, progress=interrupt, checkpoint=file)
    so_far = stop.value.sanitation
    assert len(so_far.removed) + len(so_far.added) == 10
    rounds: list[int] = []
    resumed = cleaner.sanitize(poisoned, 20, seed=3, progress=lambda done, _: rounds.append(done), checkpoint=file)
    assert rounds == [15, 20]
    for part in ("removed", "scores", "added", "added_scores"):
        assert np.array_equal(getattr(resumed, part), getattr(whole, part)), part
    for name_of, column in whole.evidence.items():
        assert np.array_equal(column, resumed.evidence[name_of]), name_of


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("svd", {"rank": 0}, "rank must be 1 or above, not 0"),
        ("agreement", {"left_out": 1.5}, "left_out lies between 0 and 1"),
        ("agreement", {"inverse_decay": 0}, "inverse_decay above 0"),
        ("maskgvae", {"clusters": 1}, "clusters must be 2 or above, not 1"),
        ("maskgvae", {"rounds": 0}, "must be positive"),
        ("gasoline", {"folds": 0}, "folds must be 1 or above, not 0"),
        ("gasoline-d", {"edges_per_round": 0}, "edges_per_round must be 1 or above, not 0"),
        ("linkpred", {"edges_per_round": 0}, "edges_per_round must be 1 or above, not 0"),
        ("jaccard", {"threshold": "low"}, "threshold must be a number or none, not 'low'"),
    ],
)
def test_wrong_settings_are_told(name: str, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sanitizer(name, **wrong)
