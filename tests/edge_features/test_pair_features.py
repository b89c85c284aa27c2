"""Pair features against dense matrices."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings

from focusedcleaner.edge_features.class_regression import class_distributions
from focusedcleaner.edge_features.pair_features import INVERSE_DECAY, PairFeatures
from focusedcleaner.graph import Graph
from tests.strategies import labelled_graphs


@settings(deadline=None, max_examples=25)
@given(graph=labelled_graphs())
def test_features_are_those_of_dense_matrices(graph: Graph) -> None:
    assert graph.split is not None
    pairs = np.array(list(combinations(range(graph.num_nodes), 2)))
    u, v = pairs.T
    columns = PairFeatures(graph).columns(graph, pairs)
    dense, degrees = graph.adjacency().toarray(), graph.degrees
    walk = dense / np.maximum(degrees, 1)[:, None]
    rarity = dense @ np.diag(1 / np.log(np.maximum(degrees, 2))) @ dense
    classes = class_distributions(graph, INVERSE_DECAY)
    towards = (walk @ classes) @ classes.T
    # Steps at both ends are divided by the degree there, the step between them by that of the end it comes from.
    three = walk @ walk.T @ dense.T
    expected = {
        "common_neighbours": dense @ dense,
        "adamic_adar": rarity,
        "three_step_walks": three + three.T,
        "same_class": np.log(np.maximum(classes @ classes.T, 1e-6)),
        "min_neighbours_like_other_end": np.minimum(towards, towards.T),
        "max_neighbours_like_other_end": np.maximum(towards, towards.T),
        "min_degree": np.minimum.outer(degrees, degrees),
        "max_degree": np.maximum.outer(degrees, degrees),
        "training_ends": np.add.outer(*(2 * [np.isin(np.arange(graph.num_nodes), graph.split.train).astype(int)])),
        "validation_ends": np.add.outer(*(2 * [np.isin(np.arange(graph.num_nodes), graph.split.val).astype(int)])),
    }
    if graph.features is not None:
        own = graph.features.toarray()
        rare = own * np.log1p(graph.num_nodes / np.maximum((own != 0).sum(axis=0), 1))
        own, rare = (part / np.maximum(np.linalg.norm(part, axis=1), 1e-300)[:, None] for part in (own, rare))
        beside = rare @ (walk @ rare).T
        expected |= {
            "attribute_similarity": own @ own.T,
            "tfidf_similarity": rare @ rare.T,
            "min_similarity_to_neighbours": np.minimum(beside, beside.T),
            "max_similarity_to_neighbours": np.maximum(beside, beside.T),
        }
    assert set(columns) == set(expected)
    for name, matrix in expected.items():
        np.testing.assert_allclose(columns[name], matrix[u, v], atol=1e-9, err_msg=name)
