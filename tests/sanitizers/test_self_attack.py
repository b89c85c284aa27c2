"""Self-attack: its clues by brute force, its attackers, the correction of shares, and the sanitizer as a whole."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner import datasets
from focusedcleaner.attacks import attack
from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.datasets import synthetic
from focusedcleaner.detectors.base import View
from focusedcleaner.edge_features.extractor import EdgeFeatureExtractor
from focusedcleaner.engine import Structure
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray, Split
from focusedcleaner.io import save_graph
from focusedcleaner.sanitizers import Interrupted, SelfAttack, default_method, sanitizer
from focusedcleaner.sanitizers.self_attack import attackers as simulated
from focusedcleaner.sanitizers.self_attack import metagradient
from focusedcleaner.sanitizers.self_attack.attackers import ATTACKERS, attackers
from focusedcleaner.sanitizers.self_attack.detector import PlantedEdges
from focusedcleaner.sanitizers.self_attack.em import PlantedEdgeEM, Posterior, rehearsed
from focusedcleaner.sanitizers.self_attack.prior_shift import correct_prior_shift
from focusedcleaner.sanitizers.self_attack.sanitizer import estimated
from focusedcleaner.scoring import score
from focusedcleaner.surrogate import Implicit, Surrogate
from tests.conftest import Command

QUICK = {"rounds": 2, "trees": 20, "attackers": "mettack"}


@pytest.fixture(scope="module")
def clean() -> Graph:
    return synthetic(num_nodes=300, mean_degree=5.0, num_classes=3, homophily=0.9, attribute_signal=0.5, seed=2)


@pytest.fixture(scope="module")
def poisoned(clean: Graph) -> Graph:
    return attack("mettack").poison(clean, "10%").graph


# Edge features -------------------------------------------------------------------------------------------------------


def test_clues_are_what_their_names_say(graph: Graph) -> None:
    seen = graph.as_the_defender_sees_it()
    clues = EdgeFeatureExtractor(seen).clues(seen)
    assert graph.attributes is not None
    assert graph.split is not None
    neighbours = {node: set[int]() for node in range(graph.num_nodes)}
    for u, v in graph.edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    rows = graph.attributes.toarray().astype(float)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    trained = set(graph.split.train.tolist())
    for place in range(0, graph.num_edges, 7):
        u, v = graph.edges[place].tolist()
        shared = neighbours[u] & neighbours[v]
        rarity = sum(1 / np.log(max(len(neighbours[node]), 2)) for node in shared)
        for_v = sum(clues.classes[node] @ clues.classes[v] for node in neighbours[u] - {v})
        for_u = sum(clues.classes[node] @ clues.classes[u] for node in neighbours[v] - {u})
        likeness = [for_v / max(len(neighbours[u]) - 1, 1), for_u / max(len(neighbours[v]) - 1, 1)]
        beside_u = sum(rows[node] @ rows[v] for node in neighbours[u] - {v}) / max(len(neighbours[u]) - 1, 1)
        beside_v = sum(rows[node] @ rows[u] for node in neighbours[v] - {u}) / max(len(neighbours[v]) - 1, 1)
        expected = {
            "common_neighbours": len(shared),
            "rare_common_neighbours": rarity,
            "training_ends": len({u, v} & trained),
            "attribute_similarity": rows[u] @ rows[v],
            "agreement": np.log(max(clues.classes[u] @ clues.classes[v], 1e-6)),
            "least_neighbours_for_it": min(likeness),
            "largest_neighbours_for_it": max(likeness),
            "least_attributes_beside": min(beside_u, beside_v),
            "largest_attributes_beside": max(beside_u, beside_v),
        }
        assert {name: clues[name][place] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_doubt_beside_an_edge_leaves_the_edge_itself_out(graph: Graph) -> None:
    bare = replace(graph.as_the_defender_sees_it(), attributes=None)
    clues = EdgeFeatureExtractor(bare).clues(bare)
    doubt = 1 - np.exp(clues["agreement"])
    u, v = graph.edges[5].tolist()
    sums = [sum(doubt[e] for e, ends in enumerate(graph.edges.tolist()) if end in ends and e != 5) for end in (u, v)]
    found = clues["least_doubt_beside"][5], clues["largest_doubt_beside"][5]
    assert found == pytest.approx(sorted(sums), abs=1e-5)


def test_the_order_of_ends_and_nodes_does_not_matter(graph: Graph) -> None:
    assert graph.attributes is not None
    assert graph.labels is not None
    assert graph.split is not None
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    place = np.argsort(order)
    split = type(graph.split)(
        *(np.sort(place[part]) for part in (graph.split.train, graph.split.val, graph.split.test))
    )
    turned = Graph.from_pairs(
        graph.num_nodes,
        place[graph.edges][:, ::-1],
        attributes=graph.attributes[order],
        labels=graph.labels[order],
        split=split,
        class_names=graph.class_names,
    ).as_the_defender_sees_it()
    seen = graph.as_the_defender_sees_it()
    one, other = EdgeFeatureExtractor(seen).clues(seen), EdgeFeatureExtractor(turned).clues(turned)
    ends = np.sort(place[graph.edges], axis=1)
    row = np.searchsorted(turned.edge_keys, ends[:, 0] * graph.num_nodes + ends[:, 1])
    for name in ("common_neighbours", "attribute_similarity", "least_degree", "training_ends"):
        assert other[name][row] == pytest.approx(one[name])
    for name in ("agreement", "gradient", "least_prox1", "least_neighbours_for_it"):
        assert np.corrcoef(other[name][row], one[name])[0, 1] > 0.99


# Attackers ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ATTACKERS)
@pytest.mark.parametrize("all_pairs", [10_000, 50])
def test_a_simulated_attacker_plants_new_edges(
    name: str, all_pairs: int, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulated, "LARGEST_RELAXED", all_pairs)
    monkeypatch.setattr(metagradient, "ALL_PAIRS", all_pairs)
    monkeypatch.setattr(metagradient, "SAMPLED_PAIRS", 5_000)
    planted = ATTACKERS[name](graph, 20, np.random.default_rng(4))
    assert 0 < len(planted) <= 20
    assert (planted[:, 0] < planted[:, 1]).all()
    keys = planted[:, 0] * graph.num_nodes + planted[:, 1]
    assert len(np.unique(keys)) == len(keys)
    assert not np.isin(keys, graph.edge_keys).any()
    assert (planted == ATTACKERS[name](graph, 20, np.random.default_rng(4))).all()


def test_the_simulated_mettack_raises_the_loss_more_than_chance(clean: Graph) -> None:
    def loss_after(name: str) -> float:
        hurt = clean.with_edges(ATTACKERS[name](clean, 60, np.random.default_rng(0)))
        start = Surrogate(clean, inner=Implicit(1e-3)).fit().logits
        return AttackerLoss(clean, start.argmax(1), 0.0).value(Surrogate(hurt, inner=Implicit(1e-3)).fit().logits)

    assert loss_after("mettack") > 1.2 * loss_after("random")


def test_a_sketch_of_factors_has_nearly_their_product() -> None:
    rng = np.random.default_rng(0)
    mixed = torch.from_numpy(rng.normal(size=(20, 400)))
    front, back = (torch.from_numpy(rng.normal(size=(300, 20))) @ mixed for _ in range(2))
    small = metagradient.sketched(front, back, rng)
    assert small[0].shape[1] == small[1].shape[1] == metagradient.SKETCHED_RANK
    exact = front @ back.T
    assert torch.linalg.norm(small[0] @ small[1].T - exact) < 1e-4 * torch.linalg.norm(exact)
    assert metagradient.sketched(front[:, :50], back[:, :50], rng)[0].shape[1] == 50


def test_the_targeted_attacker_misleads_nodes_of_unknown_label(clean: Graph) -> None:
    assert clean.labels is not None
    assert clean.split is not None

    def margins(graph: Graph) -> np.ndarray:
        logits = Surrogate(clean).fit().xw.numpy()
        for _ in range(2):
            scaled = sp.diags_array((graph.degrees + 1.0) ** -0.5)
            logits = scaled @ (graph.adjacency() + sp.eye_array(graph.num_nodes)) @ scaled @ logits
        own = logits[np.arange(graph.num_nodes), labels]
        logits[np.arange(graph.num_nodes), labels] = -np.inf
        return own - logits.max(axis=1)

    labels = clean.labels
    planted = ATTACKERS["targeted"](clean, 80, np.random.default_rng(0))
    ends, times = np.unique(planted, return_counts=True)
    targets = np.setdiff1d(ends[times >= 4], np.concatenate([clean.split.train, clean.split.val]))
    assert len(targets) >= 5
    touched = np.isin(planted, clean.split.test).any(axis=1)
    assert touched.all()
    chance = ATTACKERS["random"](clean, 80, np.random.default_rng(0))
    loss, by_chance = (margins(clean) - margins(clean.with_edges(edges)) for edges in (planted, chance))
    hit = np.unique(chance)
    assert loss[targets].mean() > 3 * by_chance[hit].mean()


def test_where_every_label_is_known_it_aims_at_any_node(graph: Graph) -> None:
    everyone = Split(np.arange(graph.num_nodes), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    assert len(ATTACKERS["targeted"](graph.with_split(everyone), 20, np.random.default_rng(0))) == 20


def test_no_room_for_planted_edges() -> None:
    full = Graph(5, [[u, v] for u in range(5) for v in range(u + 1, 5)], labels=[0, 1, 0, 1, 0])
    for name in ("dice", "random"):
        assert len(ATTACKERS[name](full, 3, np.random.default_rng(0))) == 0


def test_an_unknown_attacker_is_refused() -> None:
    with pytest.raises(InputError, match="no simulated attacker 'mallory'; there are mettack, unrolled, minmax, "):
        attackers("dice,mallory")


# The correction -------------------------------------------------------------------------------------------------------


@given(share=st.floats(0.02, 0.6), trained=st.floats(0.05, 0.6), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_shares_are_found_whatever_the_classifier_was_trained_on(share: float, trained: float, seed: int) -> None:
    """Two normal distributions, and the classifier that Bayes' rule gives for other shares."""
    rng = np.random.default_rng(seed)
    planted = rng.random(4000) < share
    x = rng.normal(np.where(planted, 4.0, 0.0))
    odds = trained / (1 - trained) * np.exp(4 * x - 8)
    found = correct_prior_shift(np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1), np.array([1 - trained, trained]))
    assert found.shares[1] == pytest.approx(planted.mean(), abs=0.03)
    assert found.shares == pytest.approx(found.posterior.mean(axis=0), abs=1e-4)
    exact = share * np.exp(4 * x - 8) / (share * np.exp(4 * x - 8) + 1 - share)
    assert np.abs(found.posterior[:, 1] - exact).mean() < 0.03


# Rounds and the sanitizer ---------------------------------------------------------------------------------------------


def test_planted_edges_get_high_probabilities(clean: Graph, poisoned: Graph) -> None:
    done = SelfAttack(rounds=1, trees=40, attackers="mettack").sanitize(poisoned, budget="10%")
    found = score(done.removed, poisoned=poisoned, clean=clean)
    by_agreement = sanitizer("agreement").sanitize(poisoned, budget="10%")
    assert found.esr > 0.5 * found.oracle_esr
    assert found.esr > score(by_agreement.removed, poisoned=poisoned, clean=clean).esr
    assert (np.diff(done.scores) <= 1e-12).all()
    assert done.scores == pytest.approx(done.evidence["planted"])


@pytest.mark.skipif(not os.environ.get("FOCUSEDCLEANER_DATA"), reason="needs a real graph: FOCUSEDCLEANER_DATA")
def test_the_method_chooses_how_many() -> None:
    whole = datasets.load("cora")
    pure = whole.with_split(Split.random(whole.labels, seed=1))  # type: ignore[arg-type]
    planted = ATTACKERS["mettack"](pure, 500, np.random.default_rng(7))
    dirty = pure.with_edges(planted)
    chosen = SelfAttack(rounds=4, trees=30, attackers="mettack,random")
    much, little = chosen.sanitize(dirty), chosen.sanitize(pure)
    assert much.auto
    assert (much.scores > chosen.threshold).all()
    assert much.estimate is not None
    assert little.estimate is not None
    assert 350 < much.estimate.number < 750
    assert score(much.removed, poisoned=dirty, clean=pure).esr > 0.6
    assert little.estimate.number < much.estimate.number / 2
    assert len(little.removed) < len(much.removed) / 3


def test_same_seed_same_opinion(poisoned: Graph) -> None:
    seen = poisoned.as_the_defender_sees_it()
    inquiry = PlantedEdgeEM.of(seen, attackers("random,dice"), rounds=2, trees=10, seed=5)
    one, other = inquiry.round(0, None), inquiry.round(0, None)
    assert (one.planted == other.planted).all()
    assert ((one.planted >= 0) & (one.planted <= 1)).all()
    assert one.shares.sum() == pytest.approx(1)
    assert (inquiry.round(1, one).planted == inquiry.round(1, other).planted).all()


def resplit(graph: Graph, train: int, val: int) -> Graph:
    """The graph with its first nodes training, the next validating."""
    nodes = np.arange(graph.num_nodes)
    return graph.with_split(Split(nodes[:train], nodes[train : train + val], nodes[train + val :]))


@pytest.mark.parametrize(("train", "val"), [(20, 20), (20, 60), (20, 10)])
def test_attackers_rehearse_at_validation_nodes(train: int, val: int) -> None:
    graph = resplit(synthetic(num_nodes=200, seed=1), train, val)
    other = rehearsed(graph, seed=3)
    assert graph.split is not None
    assert len(other.train) == min(train, val)
    assert np.isin(other.train, graph.split.val).all()
    assert (np.union1d(other.train, other.val) == np.arange(train + val)).all()
    assert len(np.intersect1d(other.train, other.val)) == 0
    assert (other.test == graph.split.test).all()


@pytest.mark.parametrize("val", [0, 9])
def test_they_keep_the_split_where_too_few_nodes_validate(val: int) -> None:
    graph = resplit(synthetic(num_nodes=200, seed=1), 20, val)
    assert rehearsed(graph, seed=0) == graph.split


def test_what_is_learnt_comes_from_the_rehearsed_split() -> None:
    """Simulated attackers see validation nodes as training nodes, and the clues of what they do are of that split."""
    graph = synthetic(num_nodes=200, seed=1)
    seen = graph.as_the_defender_sees_it()
    splits = []

    def spying(attacked: Graph, budget: int, rng: np.random.Generator) -> IntArray:
        assert attacked.split is not None
        splits.append(attacked.split.train)
        return ATTACKERS["random"](attacked, budget, rng)

    inquiry = PlantedEdgeEM.of(seen, {"random": spying}, rounds=2, trees=5, seed=0)
    inquiry.round(0, None)
    assert (splits[0] == rehearsed(seen, 0).train).all()
    assert (inquiry.rehearsal.split.train == splits[0]).all()
    assert inquiry.examiner.split == seen.split


def test_an_interrupted_run_goes_on_to_the_same_result(poisoned: Graph, tmp_path: Path) -> None:
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
    found = estimated(table.mean(axis=0), [Posterior(row, np.array([1.0, 0.0])) for row in table])
    assert 0 <= found.low <= found.number <= found.high <= 4 + 1e-9


def test_focused_cleaner_takes_it_as_its_focus() -> None:
    focused, unfocused = 0, 0
    for seed in (2, 3, 4):
        clean = synthetic(400, mean_degree=5.0, num_classes=3, homophily=0.9, attribute_signal=0.3, seed=seed)
        poisoned = attack("mettack").poison(clean, "10%").graph
        done = sanitizer("focused-self-attack", **QUICK).sanitize(poisoned, 40)
        assert done.method == "focused-self-attack"
        focused += score(done.removed, poisoned=poisoned, clean=clean).hits
        plain = sanitizer("focused-none").sanitize(poisoned, 40)
        unfocused += score(plain.removed, poisoned=poisoned, clean=clean).hits
    assert focused > 1.2 * unfocused


def test_where_no_edge_is_above_the_threshold_the_likeliest_tenth_is_the_focus(graph: Graph) -> None:
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


def test_the_command_tells_the_number(cli: Command, poisoned: Graph, folder: Path) -> None:
    save_graph(poisoned, folder / "bad.npz")
    quick = [word for key, value in QUICK.items() for word in ("--set", f"{key}={value}")]
    result = cli(
        "sanitize",
        "bad.npz",
        "--method",
        "self-attack",
        "--budget",
        "auto",
        "--out",
        "RUN",
        *quick,
        "--set",
        "threshold=0",
    )
    assert result.exit_code == 0, result.output
    assert "planted" in result.stdout
    assert "as the method chose" in result.stdout
    record = json.loads((folder / "RUN" / "run.json").read_text())
    assert record["auto_budget"]
    assert record["estimate"]["low"] <= record["estimate"]["number"] <= record["estimate"]["high"]
    assert "planted with probability" in result.stdout
    assert "held on 20 of 63 test graphs" in (folder / "RUN" / "report.html").read_text()
    header = (folder / "RUN" / "removed.csv").read_text().splitlines()[0].split(",")
    assert {"planted", "class_agreement", "training_ends", "common_neighbours"} <= set(header)


# The default --------------------------------------------------------------------------------------------------------


def test_the_default_where_it_wins() -> None:
    large = synthetic(num_nodes=1000, mean_degree=5.0, seed=0)
    assert default_method(large) == "self-attack"
    assert default_method(replace(large, attributes=None)) == "cld"
    assert default_method(large.without_edges(large.edges[1500:])) == "cld"


def test_sanitize_without_a_method(cli: Command, poisoned: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    save_graph(poisoned, "graph.npz")
    monkeypatch.setattr("focusedcleaner.sanitizers.SELF_ATTACKED", (1, 10_000))
    monkeypatch.setattr(SelfAttack, "__init__", partialmethod(SelfAttack.__init__, **QUICK))
    assert cli("sanitize", "graph.npz").exit_code == 0
    record = json.loads(Path("runs/graph-cleaned/run.json").read_text())
    assert record["method"] == "self-attack"
    assert cli("sanitize", "graph.npz", "--set", "tau=0.7", "--budget", "3").exit_code == 0
    assert json.loads(Path("runs/graph-cld/run.json").read_text())["method"] == "cld"
