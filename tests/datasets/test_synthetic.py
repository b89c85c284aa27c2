"""The generator keeps what it promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph


@settings(max_examples=40, deadline=None)
@given(
    num_nodes=st.integers(20, 120),
    mean_degree=st.floats(0, 4),
    num_classes=st.integers(2, 5),
    homophily=st.floats(0, 0.9),
    num_attributes=st.sampled_from([0, 1, 3, 50]),
    degree_exponent=st.sampled_from([2.01, 2.5, 4.0, float("inf")]),
    seed=st.integers(0, 2**40),
)
def test_sizes_are_as_asked(
    num_nodes: int,
    mean_degree: float,
    num_classes: int,
    homophily: float,
    num_attributes: int,
    degree_exponent: float,
    seed: int,
) -> None:
    mean_degree = min(mean_degree, 0.5 * (num_nodes / num_classes - 1))
    asked = (num_nodes, mean_degree, num_classes, homophily, num_attributes)
    graph = synthetic(*asked, degree_exponent=degree_exponent, seed=seed)
    assert graph.num_edges == round(num_nodes * mean_degree / 2)
    assert len(np.unique(graph.edge_keys)) == graph.num_edges
    assert (graph.edges[:, 0] < graph.edges[:, 1]).all()
    assert graph.labels is not None
    assert np.bincount(graph.labels, minlength=num_classes).min() >= num_nodes // num_classes
    assert graph.num_attributes == num_attributes
    if graph.num_edges:
        assert abs(graph.homophily - homophily) <= 0.5 / graph.num_edges + 1e-9
    if graph.attributes is not None:
        assert set(graph.attributes.data) == {1.0}
        assert np.diff(graph.attributes.indptr).min() >= 1
    assert graph == synthetic(*asked, degree_exponent=degree_exponent, seed=seed)


def test_seeds_differ() -> None:
    assert synthetic(seed=0).fingerprint() != synthetic(seed=1).fingerprint()


def test_edges_do_not_depend_on_attributes() -> None:
    with_words, without = synthetic(seed=3), synthetic(num_attributes=0, seed=3)
    np.testing.assert_array_equal(with_words.edges, without.edges)
    assert without.attributes is None


def test_split_is_optional_and_stratified() -> None:
    assert synthetic(with_split=False).split is None
    graph = synthetic(500, num_classes=5)
    assert graph.split is not None
    assert graph.labels is not None
    assert np.bincount(graph.labels[graph.split.train]).tolist() == [10] * 5


def test_complete_graph_is_reached() -> None:
    complete = synthetic(20, 19, 2, homophily=90 / 190, num_attributes=0)
    assert complete.num_edges == 190


def test_one_class() -> None:
    graph = synthetic(30, 2, 1, homophily=1, num_attributes=5)
    assert (graph.num_edges, graph.num_classes, graph.homophily) == (30, 1, 1.0)


def test_degrees_are_skewed_by_the_exponent() -> None:
    skewed, plain = (synthetic(3000, num_attributes=0, degree_exponent=g).degrees for g in (2.2, float("inf")))
    assert skewed.max() > 3 * plain.max()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"num_nodes": 0}, "num_nodes"),
        ({"num_nodes": 10.5}, "num_nodes"),
        ({"num_nodes": True}, "num_nodes"),
        ({"num_nodes": 3}, "5 classes"),
        ({"num_classes": 0}, "num_classes"),
        ({"num_classes": 1}, "between are asked for"),
        ({"num_attributes": -1}, "num_attributes"),
        ({"mean_degree": -1}, "mean_degree"),
        ({"mean_degree": float("nan")}, "mean_degree"),
        ({"num_nodes": 10, "mean_degree": 10}, "mean_degree"),
        ({"num_nodes": 10, "mean_degree": 8}, "within classes"),
        ({"homophily": 1.1}, "homophily"),
        ({"homophily": "high"}, "homophily"),
        ({"words_per_node": -1}, "words_per_node"),
        ({"attribute_signal": 2}, "attribute_signal"),
        ({"degree_exponent": 2}, "degree_exponent"),
        ({"degree_exponent": "steep"}, "degree_exponent"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_settings_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        synthetic(**wrong)
    assert "\n" not in str(caught.value)


def _accuracy(graph: Graph, features: sp.csr_array) -> float:
    assert graph.split is not None
    assert graph.labels is not None
    matrix = sp.csr_matrix(features)
    model = LogisticRegression(C=10, max_iter=500).fit(matrix[graph.split.train], graph.labels[graph.split.train])
    return float(model.score(matrix[graph.split.test], graph.labels[graph.split.test]))


def test_the_neighbourhood_tells_more_than_the_node() -> None:
    graph = synthetic(seed=1)
    assert graph.attributes is not None
    adjacency = graph.adjacency() + sp.eye_array(graph.num_nodes)
    scale = sp.diags_array(1 / np.sqrt(adjacency.sum(axis=1)))
    smooth = scale @ adjacency @ scale
    alone, together = _accuracy(graph, graph.attributes), _accuracy(graph, smooth @ smooth @ graph.attributes)
    assert 0.3 < alone < 0.65
    assert 0.75 < together < 0.95


def test_more_signal_is_easier() -> None:
    nothing, much = (synthetic(seed=1, attribute_signal=s) for s in (0.0, 0.6))
    assert nothing.attributes is not None
    assert much.attributes is not None
    assert _accuracy(nothing, nothing.attributes) < 0.3
    assert _accuracy(much, much.attributes) > 0.9
