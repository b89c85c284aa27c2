"""Features of edges that tell planted edges from genuine ones: named columns with a row per edge."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor
from torch.nn.functional import one_hot

from focusedcleaner.edge_features.class_agreement import class_agreement
from focusedcleaner.edge_features.class_regression import ClassRegression, with_known_labels
from focusedcleaner.edge_features.divergences import divergences
from focusedcleaner.edge_features.pair_features import clamped_log, labelled_ends, min_and_max, row_dot
from focusedcleaner.engine import Attributes, Structure
from focusedcleaner.engine.sparse import filled, row_products, shared_entries, unit_rows
from focusedcleaner.graph import FloatArray, Graph, Split
from focusedcleaner.surrogate import Implicit, Surrogate
from focusedcleaner.surrogate.metagradient import two_hop_gradient

INVERSE_DECAY = 10.0
"""Of the regressions that predict classes, as in the sanitizer ``agreement``."""
DTYPE = torch.float32
"""Of sparse products, which take a third of the time that they take in double precision."""
INNER = Implicit(tolerance=1e-2)
"""Training of the surrogates: gradients of a closer optimum rank edges no better."""


@dataclass(frozen=True)
class EdgeFeatures:
    """The features of every edge of one graph."""

    names: tuple[str, ...]
    table: FloatArray
    """E × len(names)."""
    classes: FloatArray
    """Class distribution of each node, N × C, by `class_agreement`; one-hot where the label is known."""

    def __getitem__(self, name: str) -> FloatArray:
        return self.table[:, self.names.index(name)]


class EdgeFeatureExtractor:
    """Extracts edge features of graphs over the same nodes; what depends on the nodes alone is computed once.

    The labels and the split are those of the given graph, as the defender knows them.
    """

    def __init__(self, graph: Graph) -> None:
        assert graph.labels is not None
        assert graph.split is not None
        self.labels, self.split, self.num_classes = graph.labels, graph.split, graph.num_classes
        self.class_names = graph.class_names
        known = np.flatnonzero(graph.labels >= 0)
        self.pooled = Split(known, np.empty(0, dtype=np.int64), np.setdiff1d(np.arange(graph.num_nodes), known))
        """A split that trains on every node with a known label."""
        self.operators = Attributes(graph, dtype=DTYPE), Attributes(graph, unit=True, dtype=DTYPE)
        """The attributes as they are and with rows of length 1."""
        self.attributes: sp.csr_array | FloatArray | None = None
        self.classes_by_attributes: FloatArray | None = None
        if graph.features is not None:
            x = unit_rows(graph.features)
            self.attributes = filled(x)
            model = LogisticRegression(C=INVERSE_DECAY, max_iter=300, tol=1e-3).fit(x[known], self.labels[known])
            self.classes_by_attributes = with_known_labels(graph, model.classes_, model.predict_proba(x))

    def extract(self, graph: Graph) -> EdgeFeatures:
        """Compute the features of every edge, with the labels and the split given to the constructor."""
        graph = replace(graph, labels=self.labels, split=self.split, class_names=self.class_names)
        structure, x = Structure(graph, dtype=DTYPE), self.attributes
        similarity = np.zeros(graph.num_edges) if x is None else row_products(x, x, graph.edges)
        regression = ClassRegression(graph, INVERSE_DECAY, structure=structure, attributes=self.operators[1])
        _, same_class, classes = class_agreement(
            regression, similarity, cosine_weight=8.0, left_out=0.15, repeats=3, seed=0
        )
        columns = {
            "agreement": clamped_log(same_class),
            **self._structural_features(graph, structure, classes),
            **self._attribute_features(graph, similarity, classes),
            **self._gradient_features(graph, structure, classes),
        }
        doubt = 1 - same_class
        if self.attributes is not None:
            doubt = doubt * (1 - np.minimum(columns["attribute_similarity"] / 0.3, 1))
        columns |= min_and_max("adjacent_doubt", *adjacent_edges(doubt, graph, mean=False))
        columns |= min_and_max("mean_adjacent_doubt", *adjacent_edges(doubt, graph, mean=True))
        return EdgeFeatures(tuple(columns), np.stack(list(columns.values()), axis=1), classes)

    def _structural_features(self, graph: Graph, structure: Structure, classes: FloatArray) -> dict[str, FloatArray]:
        """Degrees, common neighbours, labelled ends, and the classes of the other neighbours."""
        u, v = graph.edges.T
        adjacency, degrees = graph.adjacency().astype(float), graph.degrees.astype(float)
        entropy = -(classes * np.log(np.maximum(classes, 1e-12))).sum(axis=1)
        neighbours = adjacency @ classes
        at_u, at_v = neighbours[u] - classes[v], neighbours[v] - classes[u]
        others_u, others_v = np.maximum(degrees[u] - 1, 1), np.maximum(degrees[v] - 1, 1)
        shared = list(shared_entries(adjacency, adjacency, graph.edges))
        rarity = 1 / np.log(np.maximum(degrees, 2))
        like_other_end = row_dot(at_u, classes[v]) / others_u, row_dot(at_v, classes[u]) / others_v
        like_own_end = row_dot(at_u, classes[u]) / others_u, row_dot(at_v, classes[v]) / others_v
        return {
            "common_neighbours": np.concatenate([np.asarray(part.sum(axis=1)).ravel() for part in shared]),
            "adamic_adar": np.concatenate([part @ rarity for part in shared]),
            **labelled_ends(graph, graph.edges),
            **min_and_max("degree", np.log(degrees[u]), np.log(degrees[v])),
            **min_and_max("entropy", entropy[u], entropy[v]),
            **min_and_max("neighbours_like_other_end", *like_other_end),
            **min_and_max("neighbours_like_own_end", *like_own_end),
            **_divergence_features(structure, classes),
        }

    def _attribute_features(self, graph: Graph, similarity: FloatArray, classes: FloatArray) -> dict[str, FloatArray]:
        """Similarity of the ends' attributes to each other and to each other's neighbours."""
        x, own = self.attributes, self.classes_by_attributes
        if x is None or own is None:
            return {}
        u, v = graph.edges.T
        degrees = graph.degrees.astype(float)
        neighbours = graph.adjacency().astype(float) @ x
        to_u = (row_products(x, neighbours, graph.edges[:, ::-1]) - 1) / np.maximum(degrees[u] - 1, 1)
        to_v = (row_products(x, neighbours, graph.edges) - 1) / np.maximum(degrees[v] - 1, 1)
        crosswise = clamped_log(row_dot(own[u], classes[v])), clamped_log(row_dot(classes[u], own[v]))
        return {
            "attribute_similarity": similarity,
            "agreement_by_attributes": clamped_log(row_dot(own[u], own[v])),
            **min_and_max("agreement_crosswise", *crosswise),
            **min_and_max("similarity_to_neighbours", to_u, to_v),
        }

    def _gradient_features(self, graph: Graph, structure: Structure, classes: FloatArray) -> dict[str, FloatArray]:
        """The gradient of each edge: how far it moves surrogates that trust every edge from the robust prediction."""
        target = torch.from_numpy(classes).to(DTYPE)
        pooled = self._surrogate(graph.with_split(self.pooled), structure)
        fitted = pooled.fit()
        plain = fitted.probabilities.numpy()
        u, v = graph.edges.T
        error = (fitted.probabilities - target) / graph.num_nodes
        columns = {
            "plain_agreement": clamped_log(row_dot(plain[u], plain[v])),
            "gradient": _in_medians(pooled.meta_gradient(fitted, error).edges()),
            "direct_gradient": _in_medians(two_hop_gradient(pooled.structure, [(error, fitted.xw)]).edges()),
        }
        surrogate = self._surrogate(graph, structure)
        fitted = surrogate.fit()
        error = (fitted.probabilities - target) / graph.num_nodes
        columns["training_gradient"] = _in_medians(surrogate.meta_gradient(fitted, error).edges())
        if len(self.split.val):
            nodes = torch.tensor(self.split.val)
            truth = one_hot(torch.tensor(self.labels[self.split.val]), self.num_classes)
            error = torch.zeros_like(fitted.logits)
            error[nodes] = (fitted.probabilities[nodes] - truth) / len(nodes)
            columns["validation_gradient"] = _in_medians(surrogate.meta_gradient(fitted, error).edges())
        return columns

    def _surrogate(self, graph: Graph, structure: Structure) -> Surrogate:
        return Surrogate(
            graph, inner=INNER, form="sparse", structure=structure, attributes=self.operators[0], dtype=DTYPE
        )


def _divergence_features(structure: Structure, classes: FloatArray) -> dict[str, FloatArray]:
    """ClassDiv's three divergences at both ends of every edge."""
    smoothed = torch.from_numpy((1 - 1e-2) * classes + 1e-2 / classes.shape[1]).to(structure.dtype)
    u, v = structure.ends.numpy()
    columns: dict[str, FloatArray] = {}
    values = divergences(structure, smoothed).numpy()
    for name, column in zip(("prox1", "prox2", "div_js"), values.T, strict=True):
        columns |= min_and_max(name, column[u], column[v])
    return columns


def adjacent_edges(values: FloatArray, graph: Graph, *, mean: bool) -> tuple[FloatArray, FloatArray]:
    """For both ends of each edge, the sum or mean of the values of the other edges there."""
    u, v = graph.edges.T
    total = np.bincount(graph.edges.T.ravel(), np.concatenate([values, values]), graph.num_nodes)
    others = np.maximum(graph.degrees - 1, 1) if mean else np.ones(graph.num_nodes)
    return (total[u] - values) / others[u], (total[v] - values) / others[v]


def _in_medians(gradient: Tensor) -> FloatArray:
    """Divide a gradient by its median modulus, so that graphs can be compared."""
    values: FloatArray = gradient.double().numpy()
    median = float(np.median(np.abs(values)))
    return values / (median if median > 0 else 1.0)
