"""Clues of global structure: how well each edge fits the whole graph, seen through a few eigenvectors and classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from focusedcleaner.edge_features.class_regression import with_known_labels
from focusedcleaner.engine.sparse import leading_subspace
from focusedcleaner.graph import FloatArray, Graph, IntArray

RANK_PER_CLASS, MAX_RANK = 8, 64
"""Eigenvectors of the embedding; the classes are predicted from the first C alone, where little poison fits."""
PRIOR = 0.1
"""Prior share of planted edges."""
DEGREE_PRIOR = 0.5, 1.0
"""Edges that every node is given beforehand, in the model of the genuine edges and in that of the planted ones."""
COSINE_WEIGHT = 4.0
INVERSE_DECAY = 10.0
"""C of the logistic regression, on rows of length 1."""


def global_structure(graph: Graph) -> dict[str, FloatArray]:
    """Return a column per clue with a row per edge; E edges cost O(E·C) for C classes.

    - ``block_lift``: log of how many times more edges join the classes of both ends than their degrees explain; the
      compatibilities of the classes are learnt, so that they may be homophilous or not.
    - ``low_rank_link``, ``low_rank_cosine``: the entry of the edge in a low-rank adjacency matrix to which it did not
      contribute (`Embedding.links`), without the edges that the next clue suspects.
    - ``planted_ratio``: log p(edge | planted)/p(edge | genuine) (`planted_ratio`).
    - ``global_suspicion``: ``planted_ratio`` − `COSINE_WEIGHT` · ``low_rank_cosine``, a score to rank edges by.

    The labels of a few nodes must be known.
    """
    every = np.ones(graph.num_edges)
    classes = predicted_classes(graph, embed(graph, every, graph.num_classes))
    ratio = planted_ratio(graph, classes)
    trusted = expit(-ratio)
    links, cosines = embed(graph, trusted, min(RANK_PER_CLASS * graph.num_classes, MAX_RANK)).links(graph, trusted)
    return {
        "block_lift": _block_lift(graph, every, graph.degrees.astype(float), classes),
        "low_rank_link": links,
        "low_rank_cosine": cosines,
        "planted_ratio": ratio,
        "global_suspicion": ratio - COSINE_WEIGHT * cosines,
    }


@dataclass(frozen=True)
class Embedding:
    """Leading eigenpairs of M = (D + τI)^-½ A (D + τI)^-½, with τ the mean degree."""

    values: FloatArray
    """r eigenvalues, the largest modulus first."""
    vectors: FloatArray
    """N × r; only inner products of rows are used, which don't depend on signs and rotations."""
    scale: FloatArray
    """(d + τ)^-½ of N nodes."""

    def links(
        self, graph: Graph, weights: FloatArray, chosen: slice | IntArray = slice(None)
    ) -> tuple[FloatArray, FloatArray]:
        """Return what the rest of the graph says about each chosen edge: an estimate of A_uv, and the same as a cosine.

        With M⁻ the matrix without the edge and the projection Π = QQᵀ, the estimate is the mean of (M⁻Π)_uv and
        (ΠM⁻)_uv, which is Σ_k λ_k q_uk q_vk − m_uv (Π_uu + Π_vv)/2, divided by the scales of both ends. For the cosine
        it is divided by the lengths of q_u and q_v, weighted by |λ|.
        """
        u, v = graph.edges[chosen].T
        own = weights[chosen] * self.scale[u] * self.scale[v]
        projected = np.square(self.vectors).sum(axis=1)
        entries = (self.vectors[u] * self.values * self.vectors[v]).sum(axis=1)
        entries -= own * (projected[u] + projected[v]) / 2
        lengths = np.sqrt(np.square(self.vectors) @ np.abs(self.values))
        cosines = entries / np.maximum(lengths[u] * lengths[v], 1e-12)
        return entries / (self.scale[u] * self.scale[v]), cosines


def embed(graph: Graph, weights: FloatArray, rank: int) -> Embedding:
    """Embed the nodes by the regularized Laplacian of the graph with E edge weights.

    Without τ, eigenvectors settle on a few nodes of small degree. Qin, Rohe: "Regularized Spectral Clustering under the
    Degree-Corrected Stochastic Blockmodel", NeurIPS 2013 (https://arxiv.org/abs/1309.4111).
    """
    matrix = _weighted_adjacency(graph, weights)
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    scale = 1 / np.sqrt(np.maximum(degrees + degrees.mean(), 1e-12))
    scaled = sp.csr_array(sp.diags_array(scale) @ matrix @ sp.diags_array(scale))
    return Embedding(*leading_subspace(scaled, min(rank, graph.num_nodes)), scale)


def predicted_classes(graph: Graph, embedding: Embedding) -> FloatArray:
    """Predict the class distribution of each node, N × C, by a logistic regression on the directions of the embedding's
    rows; nodes with a known label get that label."""
    assert graph.labels is not None
    known = np.flatnonzero(graph.labels >= 0)
    rows = embedding.vectors * np.abs(embedding.values)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    model = LogisticRegression(C=INVERSE_DECAY, max_iter=300).fit(rows[known], graph.labels[known])
    return with_known_labels(graph, model.classes_, model.predict_proba(rows))


def planted_ratio(graph: Graph, classes: FloatArray) -> FloatArray:
    """Return log p(edge | planted)/p(edge | genuine) of every edge: one EM step of a mixture of three block models.

    Genuine edges follow a degree-corrected block model over the class distributions (N × C). Planted edges are, with
    equal prior, *scattered*, by a block model without degrees, or *gathered*, by a degree-corrected one whose degrees
    count planted edges alone, since many attackers plant at few nodes. The E-step before the first takes the `PRIOR`
    share of edges that are least likely to be genuine as scattered, and the share that joins the least compatible
    classes as gathered.

    Karrer, Newman: "Stochastic Blockmodels and Community Structure in Networks", Physical Review E 2011
    (https://arxiv.org/abs/1008.3926).
    """
    every = np.ones(graph.num_edges)
    degrees = graph.degrees.astype(float)
    lift = _block_lift(graph, every, degrees, classes)
    scattered, gathered = (
        _first_guess(doubt) for doubt in (-_log_density(graph, every, classes, DEGREE_PRIOR[0]), -lift)
    )
    genuine = _log_density(graph, every - scattered - gathered, classes, DEGREE_PRIOR[0])
    planted = np.logaddexp(
        _log_density(graph, scattered, classes, None), _log_density(graph, gathered, classes, DEGREE_PRIOR[1])
    )
    return planted - np.log(2) - genuine


def _first_guess(doubt: FloatArray) -> FloatArray:
    """Return half of the probability that an edge is planted: 0.9 for the most doubtful `PRIOR` share, else 0.02."""
    count = int(PRIOR * len(doubt))
    guess = np.full(len(doubt), 0.01)
    guess[np.argsort(-doubt, kind="stable")[:count]] = 0.45
    return guess


def _log_density(graph: Graph, weights: FloatArray, classes: FloatArray, degree_prior: float | None) -> FloatArray:
    """Return the log density of every edge under a block model fitted to the weighted edges, up to a common constant.

    The model is degree-corrected, with the edge itself left out of its ends' degrees, or, if ``degree_prior`` is None,
    treats all nodes of a class alike.
    """
    u, v = graph.edges.T
    if degree_prior is None:
        return _block_lift(graph, weights, np.ones(graph.num_nodes), classes) - 2 * np.log(graph.num_nodes)
    degrees = _weighted_degrees(graph, weights)
    ends = np.log(degrees[u] - weights + degree_prior) + np.log(degrees[v] - weights + degree_prior)
    return ends - 2 * np.log((degrees + degree_prior).sum()) + _block_lift(graph, weights, degrees, classes)


def _block_lift(graph: Graph, weights: FloatArray, degrees: FloatArray, classes: FloatArray) -> FloatArray:
    """Return log Σ_ab P_ua H_ab P_vb of every edge, with H_ab the weight of the edges between two classes relative to
    the weight expected of nodes with these degrees."""
    u, v = graph.edges.T
    found = classes.T @ (_weighted_adjacency(graph, weights) @ classes)
    totals = classes.T @ degrees
    expected = np.outer(totals, totals) * (found.sum() / totals.sum() ** 2)
    compatibility = (found + 1) / (expected + 1)
    lift: FloatArray = np.log(((classes[u] @ compatibility) * classes[v]).sum(axis=1))
    return lift


def _weighted_degrees(graph: Graph, weights: FloatArray) -> FloatArray:
    degrees: FloatArray = np.bincount(graph.edges.ravel(), np.repeat(weights, 2), graph.num_nodes).astype(float)
    return degrees


def _weighted_adjacency(graph: Graph, weights: FloatArray) -> sp.csr_array:
    u, v = graph.edges.T
    places = np.concatenate([u, v]), np.concatenate([v, u])
    shape = graph.num_nodes, graph.num_nodes
    return sp.coo_array((np.concatenate([weights, weights]), places), shape=shape).tocsr()
