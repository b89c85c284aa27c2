"""Features of pairs of nodes, as named columns: what suggests that two nodes belong together."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from focusedcleaner.edge_features.class_regression import class_distributions
from focusedcleaner.engine.sparse import product_blocks, row_products, unit_rows
from focusedcleaner.graph import FloatArray, Graph, IntArray

LEAST = 1e-6
"""Lower clamp before the logarithm."""
INVERSE_DECAY = 10.0
"""C of the logistic regression that predicts classes, as in the sanitizer ``agreement``."""


def min_and_max(name: str, one: FloatArray, other: FloatArray) -> dict[str, FloatArray]:
    """Turn a value at each end into two columns that do not depend on the order of the ends.

    >>> min_and_max("degree", np.array([1.0, 5.0]), np.array([3.0, 2.0]))
    {'min_degree': array([1., 2.]), 'max_degree': array([3., 5.])}
    """
    return {f"min_{name}": np.minimum(one, other), f"max_{name}": np.maximum(one, other)}


def row_dot(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the inner product of each row of one dense matrix with the same row of another."""
    return (one * other).sum(axis=1)


def clamped_log(probabilities: FloatArray) -> FloatArray:
    """Return the logarithm of probabilities, at least that of `LEAST`."""
    return np.log(np.maximum(probabilities, LEAST))


def other_neighbours(graph: Graph, values: FloatArray, pairs: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return, for both ends of P edges, the mean of the values (N × C) of their other neighbours; 0 without any.

    >>> path = Graph(3, [[0, 1], [1, 2]])
    >>> other_neighbours(path, np.eye(3), np.array([[0, 1]]))
    (array([[0., 0., 0.]]), array([[0., 0., 1.]]))
    """
    u, v = pairs.T
    total = graph.adjacency().astype(float) @ values
    others = np.maximum(graph.degrees.astype(float) - 1, 1)[:, None]
    at_u, at_v = (total[u] - values[v]) / others[u], (total[v] - values[u]) / others[v]
    return np.clip(at_u, 0, None), np.clip(at_v, 0, None)


class PairFeatures:
    """Computes features of node pairs, for graphs over the same nodes.

    >>> path = Graph(3, [[0, 1], [1, 2]], labels=[0, 0, 1])
    >>> PairFeatures(path).columns(path, np.array([[0, 2]]))["common_neighbours"]
    array([1.])
    """

    def __init__(self, graph: Graph) -> None:
        self.attributes = self.tfidf = None
        if (x := graph.features) is not None:
            self.attributes = unit_rows(x)
            owners = np.maximum(np.bincount(x.indices, minlength=x.shape[1]), 1)
            weighted = x @ sp.diags_array(np.log1p(graph.num_nodes / owners))
            self.tfidf = unit_rows(sp.csr_array(weighted))
            """Each attribute is weighted by log(1 + N/n), where n nodes have it; rows of length 1."""

    def columns(self, graph: Graph, pairs: IntArray) -> dict[str, FloatArray]:
        """Return one column per feature with a row per pair (P × 2); whether a pair has an edge is not used."""
        u, v = pairs.T
        adjacency, degrees = graph.adjacency(), graph.degrees.astype(float)
        walk = sp.csr_array(sp.diags_array(1 / np.maximum(degrees, 1)) @ adjacency)
        rarity = sp.csr_array(adjacency @ sp.diags_array(1 / np.log(np.maximum(degrees, 2))))
        classes = class_distributions(graph, INVERSE_DECAY)
        neighbours = walk @ classes
        columns = {
            "common_neighbours": row_products(adjacency, adjacency, pairs),
            "adamic_adar": row_products(adjacency, rarity, pairs),
            "three_step_walks": _three_steps(adjacency, walk, pairs) + _three_steps(adjacency, walk, pairs[:, ::-1]),
            "same_class": clamped_log(row_dot(classes[u], classes[v])),
            **min_and_max(
                "neighbours_like_other_end", row_dot(neighbours[u], classes[v]), row_dot(neighbours[v], classes[u])
            ),
            **min_and_max("degree", degrees[u], degrees[v]),
            **labelled_ends(graph, pairs),
        }
        if self.attributes is not None and self.tfidf is not None:
            around = sp.csr_array(walk @ self.tfidf)
            columns |= {
                "attribute_similarity": row_products(self.attributes, self.attributes, pairs),
                "tfidf_similarity": row_products(self.tfidf, self.tfidf, pairs),
                **min_and_max(
                    "similarity_to_neighbours",
                    row_products(self.tfidf, around, pairs),
                    row_products(self.tfidf, around, pairs[:, ::-1]),
                ),
            }
        return columns


def _three_steps(adjacency: sp.csr_array, walk: sp.csr_array, pairs: IntArray) -> FloatArray:
    """Return walk_u·(A·walk)_v for every pair (u, v), with the rows of A·walk in blocks that fit into memory."""
    result = np.zeros(len(pairs))
    for nodes in product_blocks(adjacency, walk, np.unique(pairs[:, 1])):
        chosen = np.flatnonzero(np.isin(pairs[:, 1], nodes))
        rows = np.stack([pairs[chosen, 0], np.searchsorted(nodes, pairs[chosen, 1])], axis=1)
        two_steps = sp.csr_array(adjacency[nodes] @ walk)
        two_steps.sort_indices()
        result[chosen] = row_products(walk, two_steps, rows)
    return result


def labelled_nodes(graph: Graph) -> dict[str, FloatArray]:
    """Mark the training nodes and the validation nodes by 1 (N values each); nothing without a split."""
    if graph.split is None:
        return {}
    marks = {name: np.zeros(graph.num_nodes) for name in ("training_ends", "validation_ends")}
    for mark, nodes in zip(marks.values(), graph.split.parts, strict=False):
        mark[nodes] = 1.0
    return marks


def labelled_ends(graph: Graph, pairs: IntArray) -> dict[str, FloatArray]:
    """Count the ends of each pair that are training and validation nodes; no columns without a split."""
    u, v = pairs.T
    return {name: mark[u] + mark[v] for name, mark in labelled_nodes(graph).items()}
