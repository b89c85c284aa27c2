"""Clusters that stand for classes, and the edge features that go with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

from focusedcleaner.attacks import attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.edge_features.clusters import (
    MAX_CLUSTERS,
    STRANGERS,
    ClusterFeatureExtractor,
    find_clusters,
    latent_attributes,
    with_clusters,
)
from focusedcleaner.edge_features.pair_features import PairFeatures
from focusedcleaner.graph import UNKNOWN, FloatArray, Graph


@pytest.fixture(scope="module")
def clean() -> Graph:
    return synthetic(300, mean_degree=6.0, num_classes=3, homophily=0.9, attribute_signal=0.6, seed=1)


def hidden(graph: Graph) -> Graph:
    return replace(graph, labels=None, split=None, class_names=None)


def test_clusters_resemble_the_classes_despite_poison(clean: Graph) -> None:
    poisoned = attack("dice").poison(clean, "20%").graph
    for graph in (clean, poisoned):
        found = with_clusters(hidden(graph), 0)
        assert found.labels is not None
        assert graph.labels is not None
        known = found.labels != UNKNOWN
        assert 0.3 < known.mean() < 0.37
        assert normalized_mutual_info_score(found.labels[known], graph.labels[known]) > 0.5


def test_without_attributes_the_structure_is_clustered(clean: Graph) -> None:
    bare = replace(hidden(clean), attributes=None, attribute_names=None)
    found = with_clusters(bare, 0)
    assert found.labels is not None
    assert clean.labels is not None
    known = found.labels != UNKNOWN
    assert normalized_mutual_info_score(found.labels[known], clean.labels[known]) > 0.3


def test_a_marked_class_stays_a_class(clean: Graph) -> None:
    marked = np.full(clean.num_nodes, UNKNOWN)
    marked[:25] = 0
    found = with_clusters(replace(hidden(clean), labels=marked, class_names=("fraud",)), 0)
    assert found.labels is not None
    assert found.class_names is not None
    assert (found.labels[:25] == found.num_classes - 1).all()
    assert (found.labels[25:] < found.num_classes - 1).all()
    assert found.class_names[-1] == "labelled"


def test_the_number_of_clusters_follows_the_size() -> None:
    rows = np.random.default_rng(0).normal(size=(1_000, 5))
    assert find_clusters(rows, 0).count == MAX_CLUSTERS
    assert find_clusters(rows[:100], 0).count == 3
    assert find_clusters(np.ones((40, 3)), 0).count == 2


def test_latent_attributes_keep_products() -> None:
    rows = np.random.default_rng(0).random((200, 6)) @ np.random.default_rng(1).random((6, 150))
    latent = latent_attributes(sp.csr_array(rows))
    assert latent.shape == (200, 64)
    assert latent @ latent.T == pytest.approx(rows @ rows.T)


def test_features_against_loops_over_neighbours(clean: Graph) -> None:
    graph = with_clusters(hidden(clean), 0)
    extractor = ClusterFeatureExtractor(graph)
    features = extractor.extract(graph)
    tfidf, latent = PairFeatures(graph).tfidf, extractor.latent
    assert tfidf is not None
    assert latent is not None
    rows = tfidf.toarray()
    around = {node: set[int]() for node in range(graph.num_nodes)}
    for u, v in graph.edges.tolist():
        around[u].add(v)
        around[v].add(u)
    for place in range(0, graph.num_edges, 31):
        u, v = graph.edges[place].tolist()
        to_u, to_v, mean_u, mean_v = (list[float]() for _ in range(4))
        strangers, middle = list[float](), list[FloatArray]()
        for end, other, beside, mean in ((u, v, to_u, mean_u), (v, u, to_v, mean_v)):
            others = around[end] - {other}
            beside.append(sum(rows[node] @ rows[other] for node in others) / max(len(others), 1))
            mean.append(sum(rows[node] @ rows[end] for node in others) / max(len(others), 1))
            strangers.append(sum(rows[node] @ rows[end] < STRANGERS for node in others))
            middle.append(sum((latent[node] for node in others), np.zeros(latent.shape[1])) / max(len(others), 1))
        expected = {
            "tfidf_similarity": rows[u] @ rows[v],
            "min_tfidf_to_neighbours": min(to_u + to_v),
            "max_tfidf_to_neighbours": max(to_u + to_v),
            "min_mean_adjacent_similarity": min(mean_u + mean_v),
            "max_adjacent_strangers": max(strangers),
            "latent_similarity": latent[u] @ latent[v],
            "latent_between_neighbours": middle[0] @ middle[1],
            "max_latent_to_neighbours": max(latent[v] @ middle[0], latent[u] @ middle[1]),
        }
        assert {name: features[name][place] for name in expected} == pytest.approx(expected, abs=1e-9)
