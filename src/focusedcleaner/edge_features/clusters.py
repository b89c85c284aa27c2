"""Clusters of nodes, which stand for classes where no label is known, and the edge features that go with them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning

from focusedcleaner.edge_features.extractor import (
    DTYPE,
    Chosen,
    Columns,
    EdgeFeatureExtractor,
    EdgeFeatures,
    KnownSimilarity,
    adjacent_edges,
    in_parts,
    products_with_neighbours,
)
from focusedcleaner.edge_features.global_structure import embed
from focusedcleaner.edge_features.pair_features import PairFeatures, min_and_max, row_dot
from focusedcleaner.engine import Structure
from focusedcleaner.engine.sparse import row_products
from focusedcleaner.graph import UNKNOWN, FloatArray, Graph, IntArray, Split

MAX_CLUSTERS, NODES_PER_CLUSTER = 8, 30
"""Most clusters, and the nodes of a cluster at least, on average."""
LATENT_RANK = 64
"""Dimensions to which attributes are reduced."""
DISTRUSTED_SHARE = 0.3
"""Share of the edges, those between the least similar nodes, over which attributes are not averaged."""
CENTRAL_SHARE = 1 / 3
"""Share of each cluster that counts as labelled; the clusters of the other nodes are predicted from theirs."""
EMBEDDING_RANK = 32
"""Eigenvectors of the low-rank view of the graph."""
STRANGERS = 0.02
"""Similarity of attributes below which two nodes are strangers."""
LATENT_SEED = 0
"""The latent attributes are the same for every seed: only the start of an iteration is random."""


def with_clusters(graph: Graph, seed: int) -> Graph:
    """Return the graph with the clusters of its nodes as labels, known for the most central nodes only, and a split.

    If the labels of one class are known, such as confirmed frauds, that class is kept beside the clusters.

    Nodes are clustered by k-means, with attributes by these, averaged over neighbours with similar ones, so that
    planted edges have little say; without, by the leading eigenvectors of the regularized Laplacian.
    """
    rows = _smoothed_attributes(graph) if graph.features is not None else _eigenvectors(graph)
    found = find_clusters(rows, seed)
    labels = np.where(found.central, found.numbers, UNKNOWN)
    names = [str(number) for number in range(1, found.count + 1)]
    if graph.labels is not None:
        labels[graph.labels != UNKNOWN] = found.count
        names.append("labelled")
    split = Split.random(labels, seed=seed, train=0.1, val=0.1)
    return replace(graph, labels=labels, split=split, class_names=tuple(names))


@dataclass(frozen=True)
class Clusters:
    """Nodes in clusters."""

    numbers: IntArray
    """The cluster of each of N nodes."""
    central: np.ndarray
    """Which nodes are among the `CENTRAL_SHARE` of their cluster that is farthest from any other."""
    count: int


def find_clusters(rows: FloatArray, seed: int) -> Clusters:
    """Cluster the directions of N rows by k-means.

    >>> blobs = np.repeat([[1.0, 0.0], [0.0, 1.0]], 40, axis=0) + np.random.default_rng(0).normal(0, 0.1, (80, 2))
    >>> found = find_clusters(blobs, 0)
    >>> found.count, len(np.unique(found.numbers[:40])), int(found.central.sum())
    (2, 1, 26)
    """
    size = int(np.clip(len(rows) // NODES_PER_CLUSTER, 2, MAX_CLUSTERS))
    directions = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters
        model = KMeans(size, n_init=4, random_state=seed % 2**32).fit(directions)
    distances = np.sort(model.transform(directions), axis=1)
    numbers = np.unique(model.labels_, return_inverse=True)[1].astype(np.int64)
    if not numbers.any():  # all rows are equal: any two parts will do
        numbers = np.arange(len(rows)) % 2
    margin = distances[:, 1] - distances[:, 0]
    central = np.zeros(len(rows), dtype=bool)
    for number in range(numbers.max() + 1):
        members = np.flatnonzero(numbers == number)
        most = max(2, round(CENTRAL_SHARE * len(members)))
        central[members[np.argsort(-margin[members], kind="stable")[:most]]] = True
    return Clusters(numbers, central, int(numbers.max()) + 1)


def _eigenvectors(graph: Graph) -> FloatArray:
    embedding = embed(graph, np.ones(graph.num_edges), MAX_CLUSTERS)
    rows: FloatArray = embedding.vectors * np.abs(embedding.values)
    return rows


def _smoothed_attributes(graph: Graph) -> FloatArray:
    """Latent attributes plus twice their average over two steps along edges between similar nodes, N × rank."""
    pairs = PairFeatures(graph)
    assert pairs.tfidf is not None
    similarity = row_products(pairs.tfidf, pairs.tfidf, graph.edges)
    trusted = np.argsort(similarity, kind="stable")[int(DISTRUSTED_SHARE * graph.num_edges) :]
    u, v = graph.edges[trusted].T
    weights = np.maximum(similarity[trusted], 0) + 1e-3
    places = np.concatenate([u, v]), np.concatenate([v, u])
    shape = graph.num_nodes, graph.num_nodes
    adjacency = sp.coo_array((np.concatenate([weights, weights]), places), shape=shape).tocsr()
    sizes = np.maximum(np.asarray(adjacency.sum(axis=1)), 1e-12)[:, None]
    latent = around = latent_attributes(pairs.tfidf)
    for _ in range(2):
        around = (around + (adjacency @ around) / sizes) / 2
    return latent + 2 * around


def latent_attributes(attributes: sp.csr_array) -> FloatArray:
    """Reduce attributes (N × F) to at most `LATENT_RANK` dimensions by a truncated singular value decomposition."""
    if min(attributes.shape) <= LATENT_RANK + 1:
        dense: FloatArray = attributes.toarray()
        return dense
    reduced: FloatArray = TruncatedSVD(LATENT_RANK, random_state=LATENT_SEED).fit_transform(attributes)
    return reduced


class ClusterFeatureExtractor(EdgeFeatureExtractor):
    """Edge features of graphs whose labels are clusters; it relies more on attributes and structure than its base.

    Args:
        graph: as `with_clusters` returns it.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.tfidf = PairFeatures(graph).tfidf
        self.latent: FloatArray | None = None
        if self.tfidf is not None:
            latent = latent_attributes(self.tfidf)
            self.latent = latent / np.maximum(np.linalg.norm(latent, axis=1, keepdims=True), 1e-12)
            self._known_tfidf = KnownSimilarity(graph, self.tfidf)

    def extract(self, graph: Graph, rows: IntArray | None = None) -> EdgeFeatures:
        """Compute the features of every edge, or of those with the numbers ``rows``."""
        known = super().extract(graph, rows)
        chosen = slice(None) if rows is None else rows
        every = np.ones(graph.num_edges)
        embedding = embed(graph, every, min(EMBEDDING_RANK, graph.num_nodes))
        links, cosines = embedding.links(graph, every, chosen)
        columns = {"low_rank_link": links, "low_rank_cosine": cosines, **self._likeness(graph, chosen)}
        old = dict(zip(known.names, known.table.T, strict=True))
        return EdgeFeatures.of({**old, **columns}, known.classes)

    def _likeness(self, graph: Graph, chosen: Chosen) -> Columns:
        """How alike the attributes of both ends, and of their other neighbours, are: by rare attributes, and latent."""
        if self.tfidf is None or self.latent is None:
            return {}
        pairs = graph.edges[chosen]
        u, v = pairs.T
        others = [np.maximum(graph.degrees[end] - 1, 1.0) for end in (u, v)]
        similarity = self._known_tfidf.of(graph, self.tfidf)
        to_u, to_v = products_with_neighbours(graph, Structure(graph, dtype=DTYPE), self.tfidf, pairs)
        own = np.asarray(self.tfidf.multiply(self.tfidf).sum(axis=1)).ravel()
        to_u, to_v = (to_u - own[v]) / others[0], (to_v - own[u]) / others[1]
        strangers = (similarity < STRANGERS).astype(np.float64)
        around = graph.adjacency().astype(float) @ self.latent
        return {
            "tfidf_similarity": similarity[chosen],
            **min_and_max("tfidf_to_neighbours", to_u, to_v),
            **min_and_max("mean_adjacent_similarity", *adjacent_edges(similarity, graph, chosen, mean=True)),
            **min_and_max("adjacent_strangers", *adjacent_edges(strangers, graph, chosen, mean=False)),
            **in_parts(_latent_features, pairs, self.latent, around, graph.degrees),
        }


def _latent_features(pairs: IntArray, latent: FloatArray, around: FloatArray, degrees: IntArray) -> Columns:
    """How alike the latent attributes of both ends and of their other neighbours are; ``around`` sums the latter."""
    u, v = pairs.T
    others_u, others_v = (np.maximum(degrees[end] - 1, 1.0)[:, None] for end in (u, v))
    at_u, at_v = (around[u] - latent[v]) / others_u, (around[v] - latent[u]) / others_v
    return {
        "latent_similarity": row_dot(latent[u], latent[v]),
        **min_and_max("latent_to_neighbours", row_dot(latent[v], at_u), row_dot(latent[u], at_v)),
        "latent_between_neighbours": row_dot(at_u, at_v),
    }
