"""The filters against brute force."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.datasets import synthetic
from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import Cosine, Jaccard, RandomEdges, sanitizer
from focusedcleaner.sanitizers.filters import Filter
from tests.strategies import labelled_graphs


@pytest.fixture(scope="module")
def graph() -> Graph:
    return synthetic(num_nodes=120, num_classes=3, num_attributes=30, seed=7)


def scores_of(method: Filter, graph: Graph) -> np.ndarray:
    return method.score_edges(graph.without_test_labels(), 0).scores


def brute_jaccard(one: np.ndarray, other: np.ndarray) -> float:
    first, second = set(np.flatnonzero(one)), set(np.flatnonzero(other))
    return len(first & second) / len(first | second) if first | second else 0.0


def brute_cosine(one: np.ndarray, other: np.ndarray) -> float:
    lengths = math.sqrt(sum(x * x for x in one)) * math.sqrt(sum(x * x for x in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0


@settings(deadline=None, max_examples=30)
@given(graph=labelled_graphs().filter(lambda graph: graph.attributes is not None), signs=st.integers(0, 100))
def test_similarities_match_brute_force(graph: Graph, signs: int) -> None:
    assert graph.attributes is not None
    dense = graph.attributes.toarray() * np.random.default_rng(signs).choice([-2.0, 1.0], graph.attributes.shape)
    signed = replace(graph, attributes=dense)
    features = np.zeros_like(dense) if signed.features is None else signed.features.toarray()
    for method, brute, rows in ((Jaccard(), brute_jaccard, dense), (Cosine(), brute_cosine, features)):
        expected = [brute(rows[u], rows[v]) for u, v in graph.edges]
        assert method.similarities(signed) == pytest.approx(expected, abs=1e-12)
        assert scores_of(method, signed) == pytest.approx(-np.array(expected), abs=1e-12)


@pytest.mark.parametrize("kind", [Jaccard, Cosine])
def test_a_threshold_removes_every_edge_at_or_below_it(kind: type[Jaccard], graph: Graph) -> None:
    similarities = kind().similarities(graph)
    threshold = float(np.sort(similarities)[60])
    found = kind(threshold=threshold).sanitize(graph)
    assert found.auto
    assert found.budget == len(found.removed)
    below = {tuple(edge) for edge in graph.edges[similarities <= threshold].tolist()}
    removed = {tuple(edge) for edge in found.removed.tolist()}
    assert removed <= below
    for u, v in below - removed:
        assert found.graph.degrees[[u, v]].min() == 1
    capped = kind(threshold=threshold).sanitize(graph, 10)
    assert (capped.auto, capped.budget) == (False, 10)
    assert capped.removed.tolist() == found.removed[:10].tolist()
    assert len(kind(threshold=threshold).sanitize(graph, 150).removed) == len(found.removed)
    assert len(kind(threshold=-2.0).sanitize(graph, "auto").removed) == 0


def test_a_distance_threshold_removes_every_edge_beyond_it(graph: Graph) -> None:
    assert graph.attributes is not None
    rows = graph.attributes.toarray()
    distances = np.array([math.dist(rows[u], rows[v]) for u, v in graph.edges])
    threshold = float(np.sort(distances)[-60])
    found = Jaccard(threshold=threshold, distance=True).sanitize(graph)
    beyond = {tuple(edge) for edge in graph.edges[distances > threshold + 1e-9].tolist()}
    removed = {tuple(edge) for edge in found.removed.tolist()}
    assert 0 < len(removed) < 60
    assert removed <= beyond
    for u, v in beyond - removed:
        assert found.graph.degrees[[u, v]].min() == 1
    assert scores_of(Jaccard(distance=True), graph) == pytest.approx(distances)


@pytest.mark.parametrize("name", ["jaccard", "cosine"])
def test_similarity_filters_need_attributes(name: str, graph: Graph) -> None:
    with pytest.raises(InputError, match=f"the graph has no attributes, and {name} compares nothing else: use .*cld"):
        sanitizer(name).sanitize(replace(graph, attributes=None), 10)
    with pytest.raises(InputError, match=r"compares nothing else: use the default method or svd$"):
        sanitizer(name).sanitize(replace(graph.unlabelled(), attributes=None), 10)


def test_the_cosine_is_the_common_attribute_similarity(graph: Graph) -> None:
    found = Cosine().sanitize(graph, 10)
    assert found.evidence["attribute_similarity"] == pytest.approx(-found.scores)
    assert attribute_cosines(replace(graph, attributes=None), graph.edges).tolist() == [0.0] * graph.num_edges


def test_random_edges_are_uniform(graph: Graph) -> None:
    """Over many seeds each edge's rank is the middle one on average: a mean of 400 uniform numbers."""
    ranks = np.mean([RandomEdges().score_edges(graph, seed).scores for seed in range(400)], axis=0)
    assert np.abs(ranks - 0.5).max() < 5 / math.sqrt(12 * 400)


def test_random_edges_depend_on_the_seed(poisoned: Graph) -> None:
    one, same, other = (sanitizer("random").sanitize(poisoned, 40, seed=seed).removed.tolist() for seed in (1, 1, 2))
    assert one == same
    assert sorted(one) != sorted(other)
