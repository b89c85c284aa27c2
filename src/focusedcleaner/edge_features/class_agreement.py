"""How alike the two ends of an edge are: in their attributes, and in the classes that a classifier sees in them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from focusedcleaner.edge_features.edge_selection import rank_by_score
from focusedcleaner.engine import Attributes
from focusedcleaner.graph import FloatArray, Graph, IntArray


@dataclass(frozen=True)
class ClassAgreement:
    """How well the ends of every edge agree."""

    scores: FloatArray
    """E values: the higher, the less they agree in class and attributes."""
    agreement: FloatArray
    """E values: how likely both ends are of one class."""
    classes: FloatArray
    """N × C: how likely each node is of each class."""


def class_agreement(
    graph: Graph, *, cosine_weight: float, left_out: float, repeats: int, inverse_decay: float, seed: int
) -> ClassAgreement:
    """Judge every edge by −log(p_u·p_v) − w·cos(x_u, x_v), leave the worst out of the propagation, and judge again.

    Args:
        graph: with the labels of a few nodes.
        cosine_weight: w.
        left_out: the share of the edges that the propagation leaves out from the second time on.
        repeats: how often all is done again.
        inverse_decay: the regression's C in `class_distributions`.
        seed: decides between edges of equal score.
    """
    cosines = attribute_cosines(graph, graph.edges)
    weights = np.ones(graph.num_edges)
    u, v = graph.edges.T
    for _ in range(repeats + 1):
        classes = class_distributions(graph, weights, inverse_decay)
        agreement = (classes[u] * classes[v]).sum(axis=1)
        scores = -np.log(np.maximum(agreement, 1e-12)) - cosine_weight * cosines
        weights = np.ones(graph.num_edges)
        weights[rank_by_score(scores, seed)[: int(left_out * graph.num_edges)]] = 0.0
    return ClassAgreement(scores, agreement, classes)


def attribute_cosines(graph: Graph, edges: IntArray) -> FloatArray:
    """The cosine of both ends' attributes for E pairs of nodes (E × 2); 0 where a node has none.

    >>> attribute_cosines(Graph(3, [[0, 1], [1, 2]], attributes=[[1, 0], [2, 0], [0, 0]]), np.array([[0, 1], [1, 2]]))
    array([1., 0.])
    """
    if graph.attributes is None:
        return np.zeros(len(edges))
    lengths = np.sqrt(graph.attributes.multiply(graph.attributes).sum(axis=1))
    cosines: FloatArray = Attributes(graph).products(edges) / np.maximum(lengths[edges].prod(axis=1), 1e-12)
    return cosines


def class_distributions(graph: Graph, weights: FloatArray, inverse_decay: float) -> FloatArray:
    """p: how likely each node is of each class, N × C; certain for a node whose label is known.

    Args:
        graph: with the labels of a few nodes.
        weights: of its E edges in the propagation.
        inverse_decay: the regression's C.
    """
    assert graph.labels is not None
    known = np.flatnonzero(graph.labels >= 0)
    own = unit_attributes(graph)
    step = _averaging(graph, weights)
    rows = sp.csr_array(sp.hstack([own[known], step[known] @ step @ own]))
    model = LogisticRegression(C=inverse_decay, max_iter=200, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a regression that is not quite done will do
        model.fit(rows, graph.labels[known])
    # One row per class, also of two classes, where the regression has a single one for the second.
    slopes, offset = model.coef_, model.intercept_
    if len(model.classes_) == 2:
        slopes, offset = np.concatenate([0 * slopes, slopes]), np.concatenate([0 * offset, offset])
    first, second = slopes[:, : own.shape[1]].T, slopes[:, own.shape[1] :].T
    logits = own @ first + step @ (step @ (own @ second)) + offset
    return _with_labels(graph, known, model.classes_, logits)


def _with_labels(graph: Graph, known: IntArray, classes: IntArray, logits: FloatArray) -> FloatArray:
    """Softmax of the logits in the columns of their classes, and the labels of those that have one."""
    assert graph.labels is not None
    found = np.zeros((graph.num_nodes, graph.num_classes))
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    found[:, classes] = shares / shares.sum(axis=1, keepdims=True)
    found[known] = 0.0
    found[known, graph.labels[known]] = 1.0
    return found


def unit_attributes(graph: Graph) -> sp.csr_array:
    """X with rows of length 1; the identity where there are no attributes."""
    if graph.attributes is None:
        return sp.eye_array(graph.num_nodes, format="csr")
    lengths = np.sqrt(graph.attributes.multiply(graph.attributes).sum(axis=1))
    return sp.csr_array(sp.diags_array(1 / np.where(lengths > 0, lengths, 1.0)) @ graph.attributes)


def _averaging(graph: Graph, weights: FloatArray) -> sp.csr_array:
    """P = D⁻¹(A + I) of the weighted graph."""
    u, v = graph.edges.T
    places = np.concatenate([u, v]), np.concatenate([v, u])
    shape = graph.num_nodes, graph.num_nodes
    matrix = sp.coo_array((np.concatenate([weights, weights]), places), shape=shape).tocsr()
    matrix = matrix + sp.eye_array(graph.num_nodes, format="csr")
    return sp.csr_array(sp.diags_array(1 / matrix.sum(axis=1)) @ matrix)
