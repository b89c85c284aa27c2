"""The adaptive attack: the guarantees of every attack, and that it evades the sanitizer it knows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import Result

from focusedcleaner.attacks import Adaptive, attack
from focusedcleaner.attacks.adaptive import suspicion
from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.datasets import synthetic
from focusedcleaner.edge_features.extractor import EdgeFeatureExtractor
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import sanitizer
from focusedcleaner.sanitizers.self_attack.attackers import attackers_by_name
from focusedcleaner.sanitizers.self_attack.em import Observed, PlantedEdgeClassifier, PlantedEdgeEM
from focusedcleaner.scoring import score
from focusedcleaner.surrogate import Implicit, Surrogate
from tests.strategies import labelled_graphs

pytestmark = pytest.mark.slow

QUICK = Adaptive(steps=2, pool=6, learns=1, rounds=1, trees=5, attackers="dice,random")


@pytest.fixture(scope="module")
def clean() -> Graph:
    return synthetic(num_nodes=200, mean_degree=5.0, num_classes=3, homophily=0.9, attribute_signal=0.5, seed=2)


@settings(deadline=None, max_examples=8)
@given(graph=labelled_graphs(min_nodes=8), budget=st.integers(1, 2), stealth=st.sampled_from([0.0, 2.0]))
def test_plants_new_edges_within_the_budget_and_nothing_else(graph: Graph, budget: int, stealth: float) -> None:
    before = graph.fingerprint()
    how = Adaptive(stealth=stealth, steps=2, pool=3, learns=1, rounds=1, trees=2, attackers="random")
    poisoning = how.poison(graph, budget, seed=3)
    keys = poisoning.added[:, 0] * graph.num_nodes + poisoning.added[:, 1]
    assert len(np.unique(keys)) == len(keys) <= budget
    assert (poisoning.added[:, 0] < poisoning.added[:, 1]).all()
    assert not np.isin(keys, graph.edge_keys).any()
    assert len(poisoning.removed) == 0
    assert poisoning.graph.num_edges == graph.num_edges + len(keys)
    assert graph.fingerprint() == before


def test_a_seed_gives_the_same_poison(clean: Graph) -> None:
    one, other = (QUICK.poison(clean, 20, seed=5) for _ in range(2))
    assert len(one.added) == 20
    np.testing.assert_array_equal(one.added, other.added)


def test_without_stealth_the_pairs_of_largest_gradient_are_planted(clean: Graph) -> None:
    poisoning = Adaptive(stealth=0.0, steps=1).poison(clean, 3)
    seen = clean.without_test_labels()
    surrogate = Surrogate(seen, inner=Implicit(1e-3))
    fitted = surrogate.fit()
    loss = AttackerLoss(seen, fitted.logits.argmax(1), 0.0)
    front, back = surrogate.meta_gradient(fitted, loss.signal(fitted.logits)).factors()
    free = 1 - clean.adjacency().toarray()
    gain = torch.triu(front @ back.T, 1).numpy() * free
    assert len(np.unique(poisoning.added)) > 3, "no node may have more than two of the three"
    rank = {
        tuple(divmod(int(place), clean.num_nodes)): number for number, place in enumerate(np.argsort(-gain.ravel()))
    }
    assert rank[tuple(poisoning.added[0].tolist())] == 0
    assert max(rank[u, v] for u, v in poisoning.added.tolist()) < 30


def test_it_harms_the_surrogate(clean: Graph) -> None:
    def loss(graph: Graph) -> float:
        target = Surrogate(clean, inner=Implicit(1e-3)).fit().logits.argmax(1)
        fitted = Surrogate(graph, inner=Implicit(1e-3)).fit()
        return AttackerLoss(clean, target, 0.0).value(fitted.logits)

    assert loss(QUICK.poison(clean, 40).graph) > 1.05 * loss(clean)


def test_what_is_planted_looks_less_suspicious_than_without_stealth(clean: Graph) -> None:
    plain, stealthy = (
        Adaptive(stealth=stealth, steps=2, pool=30, learns=1, rounds=1, trees=20, attackers="mettack,dice").poison(
            clean, 40, seed=1
        )
        for stealth in (0.0, 4.0)
    )
    means = []
    for poisoning in (plain, stealthy):
        seen = poisoning.graph.without_test_labels()
        search = PlantedEdgeEM(Observed.of(seen), attackers_by_name("mettack,dice"), rounds=2, trees=20, seed=7)
        opinion = search.round(0, [])
        means.append(opinion.planted[~np.isin(seen.edge_keys, clean.edge_keys)].mean())
    assert means[1] < 0.8 * means[0]


def test_suspicion_is_that_of_the_pairs_inserted_together(clean: Graph) -> None:
    seen = clean.without_test_labels()
    scorer = QUICK.sanitizer().edge_scorer(seen, seed=0)
    pairs = np.array([[0, 1], [3, 150], [2, 90]])
    pairs = pairs[~np.isin(pairs[:, 0] * 200 + pairs[:, 1], seen.edge_keys)]
    found = suspicion(scorer, seen, pairs, np.random.default_rng(0))
    trial = seen.with_edges(pairs)
    by_edge = dict(zip(map(tuple, trial.edges.tolist()), scorer(trial).tolist(), strict=True))
    assert found.tolist() == [by_edge[u, v] for u, v in pairs.tolist()]


def test_a_judge_that_learnt_nothing_suspects_nobody(clean: Graph) -> None:
    seen = clean.without_test_labels()
    table = EdgeFeatureExtractor(seen).extract(seen).table
    classes, priors = PlantedEdgeClassifier(None, np.array([1.0, 0.0])).posterior(table)
    assert classes.tolist() == [[1.0, 0.0]] * clean.num_edges
    assert priors.tolist() == [1.0, 0.0]


def test_it_evades_another_sanitizer_too(clean: Graph) -> None:
    hits = []
    for stealth in (0.0, 4.0):
        how = Adaptive(against="agreement", stealth=stealth, steps=2, pool=20, learns=1)
        poisoned = how.poison(clean, 30, seed=1).graph
        removed = sanitizer("agreement").sanitize(poisoned, 30).removed
        hits.append(score(removed, poisoned=poisoned, clean=clean).hits)
    assert hits[1] < 0.5 * hits[0]


@pytest.mark.parametrize("name", ["cld", "jaccard", "svd", "self-attack"])
def test_every_sanitizer_scores_the_edges_of_a_trial_graph(clean: Graph, name: str) -> None:
    seen = clean.without_test_labels()
    quick = {"rounds": 1, "trees": 2, "attackers": "random"} if name == "self-attack" else {}
    trial = seen.with_edges([[0, 199], [1, 198]])
    scores = sanitizer(name, **quick).edge_scorer(seen, seed=0)(trial)
    assert scores.shape == (trial.num_edges,)
    assert 0 <= scores.min() < scores.max() <= 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stealth": -1}, "stealth must be 0 or above"),
        ({"stealth": "much"}, "stealth must be a number"),
        ({"pool": 0}, r"must lie in \[1, 10000\]"),
        ({"learns": 0}, r"must lie in \[1, 1000\]"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        attack("adaptive", **settings)


def test_graphs_and_names_are_checked_before_the_work(clean: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no simulated attacker 'x'"):
        Adaptive(attackers="x").poison(clean, 3)
    with pytest.raises(InputError, match="has no split"):
        Adaptive().poison(clean.with_split(None), 3)
    monkeypatch.setattr(Adaptive, "max_nodes", 100)
    with pytest.raises(InputError, match="takes at most 100 nodes, not 200"):
        Adaptive().poison(clean, 3)


def test_settings_and_progress(clean: Graph) -> None:
    calls: list[tuple[int, int]] = []
    QUICK.poison(clean, 11, progress=lambda done, of, stage="": calls.append((done, of)))
    assert calls == [(5, 11), (11, 11)]
    assert QUICK.settings()["kind"] == "Adaptive"
    assert QUICK.settings()["stealth"] == QUICK.stealth


def test_the_command(cli: Callable[..., Result], graph_file: Path) -> None:
    quick = [f"{key}={value}" for key, value in (("steps", 1), ("pool", 3), ("rounds", 1), ("trees", 2))]
    words = [word for pair in [*quick, "attackers=random"] for word in ("--set", pair)]
    done = cli("attack", graph_file, "--method", "adaptive", "--power", "4", "--out", "bad.npz", "--json", *words)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["added"] == 4
