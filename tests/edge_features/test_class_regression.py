"""The class regression against scikit-learn's on dense features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from focusedcleaner.edge_features import class_regression
from focusedcleaner.edge_features.class_regression import CONSTANT, ClassRegression, class_distributions
from focusedcleaner.graph import FloatArray, Graph


def dense_rows(graph: Graph, weights: FloatArray) -> FloatArray:
    """[x | P²x | 3] by dense products."""
    dense = np.eye(graph.num_nodes)
    for (u, v), weight in zip(graph.edges, weights, strict=True):
        dense[u, v] = dense[v, u] = weight
    step = dense / dense.sum(1, keepdims=True)
    own = np.eye(graph.num_nodes) if graph.attributes is None else graph.attributes.toarray()
    own = own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-12)
    return np.hstack([own, step @ step @ own, np.full((graph.num_nodes, 1), CONSTANT)])


@pytest.mark.parametrize("attributes", [True, False])
def test_the_regression_is_that_on_dense_features(
    attributes: bool, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(class_regression, "TOLERANCE", 1e-6)
    seen = graph.without_test_labels() if attributes else replace(graph.without_test_labels(), attributes=None)
    assert seen.labels is not None
    weights = np.random.default_rng(0).random(graph.num_edges)
    found, _ = ClassRegression(seen, 10.0).fit(weights)
    rows, known = dense_rows(seen, weights), seen.labels >= 0
    assert len(np.unique(seen.labels[known])) > 2, "scikit-learn penalizes two classes differently"
    model = LogisticRegression(C=10.0, max_iter=5000, tol=1e-8, fit_intercept=False)
    model.fit(rows[known], seen.labels[known])
    assert found[~known] == pytest.approx(model.predict_proba(rows)[~known], abs=1e-4)
    assert (found[known].argmax(1) == seen.labels[known]).all()
    assert set(np.unique(found[known])) == {0.0, 1.0}


def test_a_warm_start_ends_where_a_cold_start_does(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_regression, "TOLERANCE", 1e-6)
    seen = graph.without_test_labels()
    regression = ClassRegression(seen, 10.0)
    _, elsewhere = regression.fit(np.zeros(graph.num_edges))
    cold, _ = regression.fit(np.ones(graph.num_edges))
    warm, _ = regression.fit(np.ones(graph.num_edges), elsewhere)
    assert warm == pytest.approx(cold, abs=1e-4)


def test_the_looser_tolerance_hardly_changes_the_probabilities(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    loose = class_distributions(graph.without_test_labels(), 10.0)
    monkeypatch.setattr(class_regression, "TOLERANCE", 1e-6)
    exact = class_distributions(graph.without_test_labels(), 10.0)
    assert loose == pytest.approx(exact, abs=0.05)
    assert not np.array_equal(loose, exact)


def test_classes_without_a_known_node_get_no_probability() -> None:
    graph = Graph(4, [[0, 1], [1, 2], [2, 3]], labels=[0, -1, -1, 2])
    found = class_distributions(graph, 10.0)
    assert (found[:, 1] == 0).all()
    assert found[1, 0] > 0.5 > found[2, 0]
    np.testing.assert_allclose(found.sum(axis=1), 1)
