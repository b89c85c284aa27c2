"""Class agreement against its formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from focusedcleaner.attacks import Dice
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import Agreement
from focusedcleaner.sanitizers.filters import Filter
from focusedcleaner.scoring import score


@pytest.fixture(scope="module")
def graph() -> Graph:
    return synthetic(num_nodes=120, num_classes=3, num_attributes=30, seed=7)


def scores_of(method: Filter, graph: Graph) -> np.ndarray:
    return method.score_edges(graph.without_test_labels(), 0).scores


def test_agreement_matches_its_formula(graph: Graph) -> None:
    found = Agreement(repeats=0, cosine_weight=3.0).sanitize(graph, 30)
    evidence = found.evidence
    agreement = (evidence["classes_u"] * evidence["classes_v"]).sum(1)
    assert evidence["class_agreement"] == pytest.approx(agreement)
    expected = -np.log(np.maximum(agreement, 1e-12)) - 3.0 * evidence["attribute_similarity"]
    assert found.scores == pytest.approx(expected)
    assert (np.diff(found.scores) <= 0).all()


def test_agreement_with_two_classes_missing_classes_and_no_attributes() -> None:
    two = synthetic(num_nodes=200, num_classes=2, homophily=0.9, attribute_signal=0.4, seed=2)
    poisoned = Dice(share_removed=0.0).poison(two, 0.15, seed=0).graph
    for graph in (poisoned, replace(poisoned, class_names=("a", "b", "never seen"))):
        found = Agreement().sanitize(graph, 30)
        assert score(found.removed, poisoned=poisoned, clean=two).hits > 10
        assert found.evidence["classes_u"].sum(1) == pytest.approx(1.0)
    bare = replace(poisoned, attributes=None)
    assert Agreement(cosine_weight=8.0).sanitize(bare, 30).scores == pytest.approx(
        Agreement(cosine_weight=0.0).sanitize(bare, 30).scores
    )


def test_a_regression_that_does_not_converge_is_accepted(graph: Graph) -> None:
    assert len(Agreement(inverse_decay=1e9).sanitize(graph, 10).removed) == 10


def test_leaving_edges_out_changes_the_next_pass(graph: Graph) -> None:
    once, again = (scores_of(Agreement(repeats=repeats), graph) for repeats in (0, 3))
    assert not np.allclose(once, again)
    assert scores_of(Agreement(repeats=3, left_out=0.0), graph) == pytest.approx(once)
