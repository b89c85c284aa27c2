"""How well the two ends of an edge agree in attributes and predicted classes."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from focusedcleaner.edge_features.edge_selection import rank_by_score
from focusedcleaner.engine.sparse import product_blocks, row_norms, row_products, unit_rows
from focusedcleaner.graph import FloatArray, Graph, IntArray

LEAST_SHARE = 1e-3
"""Smaller entries of P are dropped in large graphs without attributes: nodes with 1,000 neighbours pass nothing on."""


def class_agreement(
    graph: Graph, *, cosine_weight: float, left_out: float, repeats: int, inverse_decay: float, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Score every edge by −log(p_u·p_v) − w·cos(x_u, x_v), leave the worst out of the propagation, and repeat.

    Args:
        graph: with the labels of a few nodes.
        cosine_weight: w.
        left_out: share of the edges that later propagations leave out.
        repeats: number of repetitions.
        inverse_decay: C of the regression in `class_distributions`.
        seed: breaks ties between edges of equal score.

    Returns:
        Scores (E), high where the ends differ in class and attributes; the probabilities that both ends have the same
        class (E); the class distribution of each node (N × C).
    """
    cosines = attribute_cosines(graph, graph.edges)
    weights = np.ones(graph.num_edges)
    u, v = graph.edges.T
    for _ in range(repeats + 1):
        classes = class_distributions(graph, weights, inverse_decay)
        same_class = (classes[u] * classes[v]).sum(axis=1)
        scores = -np.log(np.maximum(same_class, 1e-12)) - cosine_weight * cosines
        weights = np.ones(graph.num_edges)
        weights[rank_by_score(scores, seed)[: int(left_out * graph.num_edges)]] = 0.0
    return scores, same_class, classes


def attribute_cosines(graph: Graph, edges: IntArray) -> FloatArray:
    """Return the cosine of both ends' attributes for E pairs of nodes (E × 2); 0 where a node has none.

    >>> attribute_cosines(Graph(3, [[0, 1], [1, 2]], attributes=[[1, 0], [2, 0], [0, 0]]), np.array([[0, 1], [1, 2]]))
    array([1., 0.])
    """
    x = graph.features
    if x is None:
        return np.zeros(len(edges))
    return row_products(x, x, edges) / np.maximum(row_norms(x)[edges].prod(axis=1), 1e-12)


def class_distributions(graph: Graph, weights: FloatArray, inverse_decay: float) -> FloatArray:
    """Predict the class distribution of each node, N × C; nodes with a known label get that label.

    ``weights`` are those of the E edges in the propagation, ``inverse_decay`` is C of the logistic regression.
    """
    assert graph.labels is not None
    known = np.flatnonzero(graph.labels >= 0)
    x = sp.eye_array(graph.num_nodes, format="csr") if graph.features is None else unit_rows(graph.features)
    step = _averaging(graph, weights)
    if len(product_blocks(step, step, known)) == 1:
        averages = step[known] @ step @ x
    else:
        if graph.features is None:  # the averages are rows of P² themselves
            step = sp.csr_array(step * (step >= LEAST_SHARE))
        averages = step[known] @ (step @ x)
    rows = sp.csr_array(sp.hstack([x[known], averages]))
    model = LogisticRegression(C=inverse_decay, max_iter=200, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # an approximate optimum is good enough
        model.fit(rows, graph.labels[known])
    # One row per class; for two classes, scikit-learn has a single row for the second one.
    slopes, offset = model.coef_, model.intercept_
    if len(model.classes_) == 2:
        slopes, offset = np.concatenate([0 * slopes, slopes]), np.concatenate([0 * offset, offset])
    first, second = slopes[:, : x.shape[1]].T, slopes[:, x.shape[1] :].T
    logits = x @ first + step @ (step @ (x @ second)) + offset
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return with_known_labels(graph, model.classes_, exponentials / exponentials.sum(axis=1, keepdims=True))


def with_known_labels(graph: Graph, classes: IntArray, probabilities: FloatArray) -> FloatArray:
    """Spread the columns of ``probabilities`` over all C classes, and replace known nodes by their one-hot label."""
    assert graph.labels is not None
    known = np.flatnonzero(graph.labels >= 0)
    distributions = np.zeros((graph.num_nodes, graph.num_classes))
    distributions[:, classes] = probabilities
    distributions[known] = 0.0
    distributions[known, graph.labels[known]] = 1.0
    return distributions


def _averaging(graph: Graph, weights: FloatArray) -> sp.csr_array:
    """Return P = D⁻¹(A + I) of the weighted graph."""
    u, v = graph.edges.T
    places = np.concatenate([u, v]), np.concatenate([v, u])
    shape = graph.num_nodes, graph.num_nodes
    matrix = sp.coo_array((np.concatenate([weights, weights]), places), shape=shape).tocsr()
    matrix = matrix + sp.eye_array(graph.num_nodes, format="csr")
    return sp.csr_array(sp.diags_array(1 / matrix.sum(axis=1)) @ matrix)
