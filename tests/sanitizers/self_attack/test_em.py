"""The EM loop: reproducibility and the rehearsal split."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.datasets import synthetic
from focusedcleaner.edge_features.global_structure import global_structure
from focusedcleaner.graph import Graph, IntArray, Split
from focusedcleaner.sanitizers.self_attack.attackers import ATTACKERS, attackers_by_name
from focusedcleaner.sanitizers.self_attack.em import (
    Observed,
    PlantedEdgeEM,
    Posterior,
    WideSearch,
    correct_prior_shift,
    rehearsal_split,
)


def test_same_seed_same_posterior(poisoned: Graph) -> None:
    observed = Observed.of(poisoned.without_test_labels())
    em = PlantedEdgeEM(observed, attackers_by_name("random,dice"), rounds=2, trees=10, seed=5)
    one, other = em.round(0, []), em.round(0, [])
    assert (one.planted == other.planted).all()
    assert ((one.planted >= 0) & (one.planted <= 1)).all()
    assert one.priors.sum() == pytest.approx(1)
    assert (em.round(1, [one]).planted == em.round(1, [other]).planted).all()


def test_simulated_attackers_plant_no_more_than_the_remaining_graph_has(poisoned: Graph) -> None:
    seen = poisoned.without_test_labels()
    em = PlantedEdgeEM(Observed.of(seen), attackers_by_name("minmax,random"), rounds=1, trees=3, seed=5)
    everything = Posterior(np.ones(seen.num_edges), np.array([0.0, 0.5, 0.5]))
    assert np.isfinite(em.round(0, [everything]).planted).all()


def test_without_attributes_the_first_suspects_are_those_of_the_global_structure(poisoned: Graph) -> None:
    seen = poisoned.without_test_labels()
    bare = replace(seen, attributes=None)
    with_, without = (Observed.of(each).initial_scores for each in (seen, bare))
    by_structure = global_structure(bare)["global_suspicion"]
    assert (np.argsort(without, kind="stable") == np.argsort(by_structure, kind="stable")).mean() > 0.99
    assert np.corrcoef(with_, by_structure)[0, 1] < 0.9


def resplit(graph: Graph, train: int, val: int) -> Graph:
    """The graph with its first nodes training, the next validating."""
    nodes = np.arange(graph.num_nodes)
    return graph.with_split(Split(nodes[:train], nodes[train : train + val], nodes[train + val :]))


@pytest.mark.parametrize(("train", "val"), [(20, 20), (20, 60), (20, 10)])
def test_the_rehearsal_swaps_training_and_validation_nodes(train: int, val: int) -> None:
    graph = resplit(synthetic(num_nodes=200, seed=1), train, val)
    other = rehearsal_split(graph, seed=3)
    assert graph.split is not None
    assert len(other.train) == min(train, val)
    assert np.isin(other.train, graph.split.val).all()
    assert (np.union1d(other.train, other.val) == np.arange(train + val)).all()
    assert len(np.intersect1d(other.train, other.val)) == 0
    assert (other.test == graph.split.test).all()


@pytest.mark.parametrize("val", [0, 9])
def test_the_rehearsal_keeps_the_split_with_too_few_validation_nodes(val: int) -> None:
    graph = resplit(synthetic(num_nodes=200, seed=1), 20, val)
    assert rehearsal_split(graph, seed=0) == graph.split


def test_training_examples_come_from_the_rehearsal_split() -> None:
    """Simulated attackers see validation nodes as training nodes, and features are extracted with that split."""
    graph = synthetic(num_nodes=200, seed=1)
    seen = graph.without_test_labels()
    splits = []

    def spying(attacked: Graph, budget: int, rng: np.random.Generator) -> IntArray:
        assert attacked.split is not None
        splits.append(attacked.split.train)
        return ATTACKERS["random"](attacked, budget, rng)

    em = PlantedEdgeEM(Observed.of(seen), {"random": spying}, rounds=2, trees=5, seed=0)
    em.round(0, [])
    assert (splits[0] == rehearsal_split(seen, 0).train).all()
    assert (em.rehearsal_extractor.split.train == splits[0]).all()
    assert em.observed.extractor.split == seen.split


def test_attackers_of_the_wide_search_train_on_nodes_of_their_own() -> None:
    seen = synthetic(num_nodes=200, seed=1).without_test_labels()
    assert seen.split is not None
    trained, sizes = [], []

    def spying(attacked: Graph, budget: int, rng: np.random.Generator) -> IntArray:
        assert attacked.split is not None
        trained.append(attacked.split.train.tolist())
        sizes.append(attacked.num_edges)
        return ATTACKERS["random"](attacked, budget, rng)

    search = WideSearch(Observed.of(seen), {"random": spying}, rounds=2, trees=5, seed=0)
    search.run()
    assert trained[0] != trained[1]
    assert seen.split.train.tolist() not in trained
    assert all(0.7 * seen.num_edges < size < seen.num_edges for size in sizes)  # a node keeps its last edge
    assert search.rehearsal_extractor.split == seen.split


def test_slow_attackers_take_part_in_the_last_rounds_alone(poisoned: Graph) -> None:
    observed = Observed.of(poisoned.without_test_labels())
    em = PlantedEdgeEM(observed, attackers_by_name("unrolled,dice,minmax"), rounds=3, trees=5, seed=0)
    assert [em.attackers_of(number) for number in range(3)] == [["dice"], *[["unrolled", "dice", "minmax"]] * 2]
    slow = PlantedEdgeEM(observed, attackers_by_name("minmax"), rounds=3, trees=5, seed=0)
    assert slow.attackers_of(0) == ["minmax"]


def test_random_edges_are_not_purposeful_and_held_out_edges_are_not_examples(poisoned: Graph) -> None:
    observed = Observed.of(poisoned.without_test_labels())
    em = PlantedEdgeEM(observed, attackers_by_name("mettack,dice,random"), rounds=1, trees=10, seed=0)
    assert em.purposeful.tolist() == [False, True, False, False]
    found = em.round(0, [])
    assert 0 < found.purposeful <= found.expected
    assert found.false_alarms < found.purposeful / 2
    assert 0.1 < em.held_out.mean() < 0.3


@given(share=st.floats(0.02, 0.6), trained=st.floats(0.05, 0.6), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_priors_are_recovered_whatever_the_training_shares(share: float, trained: float, seed: int) -> None:
    """Two normal distributions, and the Bayes classifier for other class shares."""
    rng = np.random.default_rng(seed)
    planted = rng.random(4000) < share
    x = rng.normal(np.where(planted, 4.0, 0.0))
    odds = trained / (1 - trained) * np.exp(4 * x - 8)
    posterior, priors = correct_prior_shift(
        np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1), np.array([1 - trained, trained])
    )
    assert priors[1] == pytest.approx(planted.mean(), abs=0.03)
    assert priors == pytest.approx(posterior.mean(axis=0), abs=1e-4)
    exact = share * np.exp(4 * x - 8) / (share * np.exp(4 * x - 8) + 1 - share)
    assert np.abs(posterior[:, 1] - exact).mean() < 0.03
