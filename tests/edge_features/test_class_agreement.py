"""Class distributions against dense features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from focusedcleaner.edge_features.class_agreement import class_distributions
from focusedcleaner.graph import Graph


def test_class_distributions_are_those_of_the_dense_features(graph: Graph) -> None:
    """The regression's probabilities on dense [x | P²x], for weights that are not all one."""
    seen = graph.without_test_labels()
    assert seen.labels is not None
    assert seen.attributes is not None
    weights = np.random.default_rng(0).random(graph.num_edges)
    found = class_distributions(seen, weights, 10.0)
    dense = np.eye(graph.num_nodes)
    for (u, v), weight in zip(graph.edges, weights, strict=True):
        dense[u, v] = dense[v, u] = weight
    step = dense / dense.sum(1, keepdims=True)
    own = seen.attributes.toarray()
    own = own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-12)
    rows = np.hstack([own, step @ step @ own])
    known = seen.labels >= 0
    model = LogisticRegression(C=10.0, max_iter=200, tol=1e-3).fit(rows[known], seen.labels[known])
    assert found[~known] == pytest.approx(model.predict_proba(rows)[~known], abs=1e-3)
    assert (found[known].argmax(1) == seen.labels[known]).all()
    assert set(np.unique(found[known])) == {0.0, 1.0}
