"""Classes, and clusters in their place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph
from focusedcleaner.report import page
from focusedcleaner.report.node_classes import has_clusters, node_classes, with_cluster_names
from focusedcleaner.sanitizers import Sanitation
from tests.report.helpers import saved, summarized

CLUSTERS = {
    "clusters_u": np.array([[0.9, 0.1, 0.0], [0.2, 0.1, 0.7]]),
    "clusters_v": np.array([[0.1, 0.9, 0.0], [0.2, 0.1, 0.7]]),
}


@pytest.fixture(scope="module")
def labelled() -> Graph:
    return synthetic(num_nodes=80, seed=1)


def without_labels(labelled: Graph) -> Graph:
    return replace(labelled, labels=None, split=None, class_names=None)


def clustered(graph: Graph) -> Sanitation:
    return Sanitation(graph, graph.edges[:2], np.ones(2), CLUSTERS, {}, "svd", {}, budget=2, seed=0, seconds=0.1)


def test_clusters_take_the_place_of_classes(labelled: Graph) -> None:
    with saved(clustered(without_labels(labelled))) as run:
        assert has_clusters(run)
        classes, known = node_classes(run)
        assert not known.any()
        assert set(classes[run.removed[0]]) | set(classes[run.removed[1]]) <= {0, 1, 2}
        assert with_cluster_names(run).class_names == ("cluster 1", "cluster 2", "cluster 3")
    told = summarized(clustered(without_labels(labelled)))
    assert {mark["name"] for mark in told["classes"]} <= {"cluster 1", "cluster 2", "cluster 3", "unknown"}
    html = page(told)
    assert "in place of classes" in html
    assert 'aria-label="Clusters"' in html


def test_known_classes_come_before_clusters(labelled: Graph) -> None:
    with saved(clustered(labelled)) as run:
        assert not has_clusters(run)
        assert with_cluster_names(run) is run.poisoned
        classes, known = node_classes(run)
        assert ((classes >= 0) == known).all()
