"""Labels, homophily and the compatibility of classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from focusedcleaner.checking.class_links import (
    chance_homophily,
    class_labels,
    class_links,
    compatibility,
    coverage,
    edge_counts,
)
from focusedcleaner.graph import Graph, Split
from tests.checking.strategies import odd_graphs


@given(odd_graphs())
def test_the_compatibility_is_that_of_a_dense_oracle(graph: Graph) -> None:
    classes = graph.num_classes
    onehot = np.zeros((graph.num_nodes, classes))
    for node, label in enumerate([] if graph.labels is None else graph.labels):
        if label >= 0:
            onehot[node, label] = 1
    oracle = onehot.T @ graph.adjacency().toarray() @ onehot
    counts = edge_counts(graph)
    np.testing.assert_array_equal(counts.toarray(), oracle)
    total = oracle.sum()
    expected = np.full((classes, classes), np.nan)
    for one in range(classes):
        for other in range(classes):
            chance = oracle[one].sum() * oracle[other].sum() / total if total else 0
            if chance:
                expected[one, other] = oracle[one, other] / chance
    np.testing.assert_allclose(compatibility(counts), expected)
    if total:
        assert np.trace(oracle) / total == pytest.approx(graph.homophily)
        assert chance_homophily(counts) == pytest.approx(sum((row.sum() / total) ** 2 for row in oracle))
    else:
        assert chance_homophily(counts) is None


def test_where_the_edges_of_a_class_lead() -> None:
    graph = Graph(6, [[0, 2], [0, 3], [1, 2], [1, 4], [4, 5]], labels=[0, 0, 1, 1, 2, 2], class_names=("a", "b", "c"))
    links = {one.name: one for one in class_links(graph, edge_counts(graph))}
    assert (links["a"].partner, links["a"].partner_share, links["a"].share_within) == ("b", 0.75, 0.0)
    assert (links["b"].partner, links["b"].partner_share) == ("a", 1.0)
    assert (links["c"].partner, links["c"].share_within) == ("c", pytest.approx(2 / 3))


def test_a_class_without_edges_is_left_out() -> None:
    graph = Graph(4, [[0, 1]], labels=[0, 0, 1, -1])
    assert [one.name for one in class_links(graph, edge_counts(graph))] == ["class 0"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(None, "none"), ([-1, -1, -1], "none"), ([1, -1, 1], "one class"), ([0, 1, -1], "some"), ([0, 0, 0], "all")],
)
def test_coverage(labels: list[int] | None, expected: str) -> None:
    assert coverage(Graph(3, [[0, 1]], labels=labels)) == expected


def test_labels_per_class() -> None:
    graph = Graph(5, [[0, 1]], labels=[0, 0, 2, -1, 2], split=Split([0], [2], [3, 4]))
    counted = [(one.labelled, one.training, one.validation) for one in class_labels(graph)]
    assert counted == [(2, 1, 0), (0, 0, 0), (2, 0, 1)]
    assert {one.training for one in class_labels(graph.with_split(None))} == {None}
