"""The proposals of `missing_edges`."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray, Split
from focusedcleaner.io.convert import to_pyg
from focusedcleaner.restore import Missing, missing, missing_edges
from focusedcleaner.restore.candidates import Candidates
from focusedcleaner.restore.missing import HIDING_STRATEGIES, HidingStrategy, at_training_nodes, within_classes
from focusedcleaner.scoring import score_restored

pytestmark = pytest.mark.slow

Pairs = set[tuple[int, int]]


def as_set(pairs: IntArray) -> Pairs:
    return {(int(u), int(v)) for u, v in pairs}


def proposals(graph: Any, limit: int | str = 15, **options: object) -> Missing:
    return missing_edges(graph, limit, repeats=1, trees=10, **options)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=4)
@given(seed=st.integers(0, 2**32 - 1), num_nodes=st.integers(80, 150), columns=st.sampled_from([0, 40]))
def test_proposals_are_pairs_without_an_edge(seed: int, num_nodes: int, columns: int) -> None:
    graph = synthetic(num_nodes=num_nodes, num_attributes=columns, seed=seed % 100)
    before = graph.fingerprint()
    excluded = Candidates(graph, None, neighbours=1).pairs(graph)[:20]
    found = proposals(graph, seed=seed, excluded=excluded)
    assert len(found.pairs) == len(found.scores) <= 15
    assert all(len(column) == len(found.pairs) for column in found.evidence.values())
    assert (found.pairs[:, 0] < found.pairs[:, 1]).all()
    assert len(as_set(found.pairs)) == len(found.pairs)
    assert not as_set(found.pairs) & (as_set(graph.edges) | as_set(excluded))
    assert (np.diff(found.scores) <= 0).all()
    assert ((found.scores >= 0) & (found.scores <= 1)).all()
    assert graph.fingerprint() == before


def test_a_longer_list_of_the_same_seed_begins_with_the_shorter_one() -> None:
    graph = synthetic(num_nodes=120, seed=3)
    short, long = proposals(graph, "5%", seed=2), proposals(graph, 20, seed=2)
    assert len(short.pairs) == graph.num_edges // 20
    np.testing.assert_array_equal(long.pairs[: len(short.pairs)], short.pairs)
    np.testing.assert_array_equal(long.scores[: len(short.pairs)], short.scores)


def test_edges_that_were_cut_are_found() -> None:
    clean, cut = circles_of_friends()
    graph = clean.without_edges(cut)
    found = missing_edges(graph, len(cut), repeats=1, trees=40)
    assert found.candidates > 10 * len(cut)
    assert score_restored(found.pairs, poisoned=graph, clean=clean).recall > 0.8
    assert 0.5 < found.reach <= 1


def circles_of_friends() -> tuple[Graph, IntArray]:
    """Forty circles of seven, in which all know each other, with a few acquaintances between; and one edge of each."""
    rng = np.random.default_rng(0)
    circles = [list(range(7 * number, 7 * number + 7)) for number in range(40)]
    friends = [pair for circle in circles for pair in combinations(circle, 2)]
    labels = np.repeat(np.arange(40) % 2, 7)
    graph = Graph.from_pairs(280, [*friends, *rng.integers(0, 280, (150, 2)).tolist()], labels=labels)
    return graph.with_split(Split.random(labels)), np.array([circle[:2] for circle in circles])


def test_test_labels_are_not_used() -> None:
    graph = synthetic(num_nodes=120, seed=3)
    assert graph.labels is not None
    assert graph.split is not None
    wrong = graph.labels.copy()
    wrong[graph.split.test] = (wrong[graph.split.test] + 1) % graph.num_classes
    other = replace(graph, labels=wrong)
    np.testing.assert_array_equal(proposals(graph).pairs, proposals(other).pairs)


def test_sampled_negatives_weigh_as_much_as_all(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic(num_nodes=150, seed=3)
    whole = proposals(graph, 300).scores.sum()
    monkeypatch.setattr(missing, "MAX_NEGATIVES", 300)
    assert proposals(graph, 300).scores.sum() == pytest.approx(whole, rel=0.6)


def test_nothing_is_proposed_without_training_examples() -> None:
    couples = Graph(4, [[0, 1], [2, 3]], labels=[0, 1, 0, 1], split=Split([0, 1], [], [2, 3]))
    found = missing_edges(couples, 1)
    assert len(found.pairs) == len(found.scores) == 0
    assert np.isnan(found.reach)


def test_a_graph_without_a_split_is_refused() -> None:
    with pytest.raises(InputError, match="has no split"):
        missing_edges(synthetic(num_nodes=50, seed=0, with_split=False))


@pytest.mark.parametrize("limit", [0, -3, "x", "200%"])
def test_limits_are_checked(limit: int | str) -> None:
    with pytest.raises(InputError, match="limit"):
        missing_edges(synthetic(num_nodes=50, seed=0), limit)


def test_graphs_of_other_libraries_are_accepted() -> None:
    graph = synthetic(num_nodes=100, seed=3)
    np.testing.assert_array_equal(proposals(to_pyg(graph)).pairs, proposals(graph).pairs)


@pytest.mark.parametrize("strategy", HIDING_STRATEGIES)
def test_hidden_edges_exist_and_isolate_no_node(strategy: HidingStrategy) -> None:
    graph = synthetic(num_nodes=120, seed=2)
    assert graph.labels is not None
    hidden, again = (strategy(graph, graph.labels, 12, np.random.default_rng(0)) for _ in range(2))
    assert 0 < len(hidden) <= 12
    assert as_set(hidden) <= as_set(graph.edges)
    assert ((graph.without_edges(hidden).degrees > 0) == (graph.degrees > 0)).all()
    np.testing.assert_array_equal(hidden, again)


def test_edges_are_hidden_where_attackers_cut() -> None:
    graph = synthetic(num_nodes=120, seed=2)
    assert graph.labels is not None
    assert graph.split is not None
    for strategy in (within_classes, at_training_nodes):
        hidden = strategy(graph, graph.labels, 10, np.random.default_rng(0))
        assert (np.diff(graph.labels[hidden], axis=1) == 0).all()
    assert (np.isin(hidden, graph.split.train).sum(axis=1) == 1).all()
