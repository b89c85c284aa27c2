"""What the page shows about one edge."""

from __future__ import annotations

import numpy as np

from focusedcleaner.graph import Graph
from focusedcleaner.review.classes import all_classes
from focusedcleaner.review.page import Review


def test_the_attributes_that_differ_most(review: Review) -> None:
    graph = review.edges.graph
    assert graph.attributes is not None
    u, v = review.edges.run.removed[0]
    details = review.edges.details(1)
    dense = graph.attributes.toarray()
    apart = np.abs(dense[u] - dense[v]) / np.where(dense.std(axis=0) > 0, dense.std(axis=0), 1)
    shown = [int(attribute["name"].removeprefix("word ")) for attribute in details["attributes"]]
    assert np.allclose(apart[shown], np.sort(apart)[::-1][: len(shown)])
    assert [attribute["values"] for attribute in details["attributes"]] == [
        (dense[u, one], dense[v, one]) for one in shown
    ]
    has = dense[[u, v]] != 0
    assert (details["shared"], *details["own"]) == (
        has.all(0).sum(),
        (has[0] & ~has[1]).sum(),
        (has[1] & ~has[0]).sum(),
    )


def test_test_labels_are_not_shown(review: Review) -> None:
    graph, classes = review.edges.graph, review.edges.classes
    assert graph.split is not None
    assert graph.labels is not None
    assert not classes.known[graph.split.test].any()
    assert (classes.numbers[graph.split.train] == graph.labels[graph.split.train]).all()
    shuffled = graph.labels.copy()
    shuffled[graph.split.test] = 0
    other = Graph(
        graph.num_nodes,
        review.edges.run.graph.edges,
        graph.attributes,
        shuffled,
        graph.split,
        class_names=graph.class_names,
    )
    assert (all_classes(other).numbers == classes.numbers).all()
