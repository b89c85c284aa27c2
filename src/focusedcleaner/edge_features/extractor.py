"""What speaks for an edge having been planted: a row of named numbers for every edge of a graph."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor
from torch.nn.functional import one_hot

from focusedcleaner.edge_features.class_agreement import class_agreement, unit_attributes
from focusedcleaner.edge_features.divergences import divergences
from focusedcleaner.edge_features.pair_features import batches, clamped_log, min_and_max, row_dot, row_products
from focusedcleaner.engine import Structure
from focusedcleaner.graph import FloatArray, Graph, IntArray, Split
from focusedcleaner.surrogate import Surrogate
from focusedcleaner.surrogate.metagradient import chained


@dataclass(frozen=True)
class EdgeFeatures:
    """The clues of every edge of one graph."""

    names: tuple[str, ...]
    table: FloatArray
    """E × len(names)."""
    classes: FloatArray
    """N × C: how likely each node is of each class, with suspicious edges left out; certain where it is known."""

    def __getitem__(self, name: str) -> FloatArray:
        column: FloatArray = self.table[:, self.names.index(name)]
        return column


class EdgeFeatureExtractor:
    """Collects clues about graphs over the same nodes: what depends on the nodes alone is computed once.

    Args:
        graph: one of them, with the labels that the defender knows.
    """

    def __init__(self, graph: Graph) -> None:
        assert graph.labels is not None
        assert graph.split is not None
        self.labels, self.split, self.num_classes = graph.labels, graph.split, graph.num_classes
        known = np.flatnonzero(graph.labels >= 0)
        self.pooled = Split(known, np.empty(0, dtype=np.int64), np.setdiff1d(np.arange(graph.num_nodes), known))
        """A split that trains on every node with a known label."""
        self.attributes = None if graph.attributes is None else unit_attributes(graph)
        self.by_attributes = None if self.attributes is None else self._classes_by_attributes(known)

    def clues(self, graph: Graph) -> EdgeFeatures:
        """Look at every edge of a graph; its labels are taken from the graph that the examiner began with."""
        graph = replace(graph, labels=self.labels, split=self.split)
        found = class_agreement(graph, cosine_weight=8.0, left_out=0.15, repeats=3, inverse_decay=10.0, seed=0)
        classes = found.classes
        columns = {
            "agreement": clamped_log(found.agreement),
            **self._structural(graph, classes),
            **self._of_attributes(graph, classes),
            **self._of_gradients(graph, classes),
        }
        doubt = 1 - found.agreement
        if self.attributes is not None:
            doubt = doubt * (1 - np.minimum(columns["attribute_similarity"] / 0.3, 1))
        columns |= min_and_max("doubt_beside", *_beside(doubt, graph, mean=False))
        columns |= min_and_max("mean_doubt_beside", *_beside(doubt, graph, mean=True))
        return EdgeFeatures(tuple(columns), np.stack(list(columns.values()), axis=1), classes)

    def _classes_by_attributes(self, known: IntArray) -> FloatArray:
        """How likely each node is of each class by its attributes alone, N × C."""
        assert self.attributes is not None
        model = LogisticRegression(C=10.0, max_iter=300, tol=1e-3).fit(self.attributes[known], self.labels[known])
        found = np.zeros((self.attributes.shape[0], self.num_classes))
        found[:, model.classes_] = model.predict_proba(self.attributes)
        found[known] = 0.0
        found[known, self.labels[known]] = 1.0
        return found

    def _structural(self, graph: Graph, classes: FloatArray) -> dict[str, FloatArray]:
        """Degrees, common neighbours, who is labelled, and what the other neighbours say."""
        u, v = graph.edges.T
        adjacency, degrees = graph.adjacency().astype(float), graph.degrees.astype(float)
        trained, validated = (np.isin(np.arange(graph.num_nodes), part) for part in (self.split.train, self.split.val))
        entropy = -(classes * np.log(np.maximum(classes, 1e-12))).sum(axis=1)
        around = adjacency @ classes
        at_u, at_v = around[u] - classes[v], around[v] - classes[u]
        others_u, others_v = np.maximum(degrees[u] - 1, 1), np.maximum(degrees[v] - 1, 1)
        shared = [adjacency[part[:, 0]].multiply(adjacency[part[:, 1]]) for part in batches(graph.edges)]
        rarity = 1 / np.log(np.maximum(degrees, 2))
        return {
            "common_neighbours": np.concatenate([np.asarray(part.sum(axis=1)).ravel() for part in shared]),
            "rare_common_neighbours": np.concatenate([part @ rarity for part in shared]),
            "training_ends": trained[u].astype(float) + trained[v],
            "validation_ends": validated[u].astype(float) + validated[v],
            **min_and_max("degree", np.log(degrees[u]), np.log(degrees[v])),
            **min_and_max("uncertainty", entropy[u], entropy[v]),
            **min_and_max(
                "neighbours_for_it", row_dot(at_u, classes[v]) / others_u, row_dot(at_v, classes[u]) / others_v
            ),
            **min_and_max(
                "neighbours_alike", row_dot(at_u, classes[u]) / others_u, row_dot(at_v, classes[v]) / others_v
            ),
            **_divergence_clues(graph, classes),
        }

    def _of_attributes(self, graph: Graph, classes: FloatArray) -> dict[str, FloatArray]:
        """Likeness of the ends' attributes, to each other and to each other's neighbours."""
        if self.attributes is None or self.by_attributes is None:
            return {}
        u, v = graph.edges.T
        own, degrees = self.by_attributes, graph.degrees.astype(float)
        around = sp.csr_array(graph.adjacency().astype(float) @ self.attributes)
        alike = row_products(self.attributes, self.attributes, graph.edges)
        to_u = (row_products(self.attributes, around, graph.edges[:, ::-1]) - 1) / np.maximum(degrees[u] - 1, 1)
        to_v = (row_products(self.attributes, around, graph.edges) - 1) / np.maximum(degrees[v] - 1, 1)
        return {
            "attribute_similarity": alike,
            "agreement_by_attributes": clamped_log(row_dot(own[u], own[v])),
            **min_and_max(
                "agreement_crosswise",
                clamped_log(row_dot(own[u], classes[v])),
                clamped_log(row_dot(classes[u], own[v])),
            ),
            **min_and_max("attributes_beside", to_u, to_v),
        }

    def _of_gradients(self, graph: Graph, classes: FloatArray) -> dict[str, FloatArray]:
        """What each edge does to surrogates that trust every edge: how far it pulls them from the robust view."""
        target = torch.from_numpy(classes)
        everyone = Surrogate(graph.with_split(self.pooled))
        fitted = everyone.fit()
        plain = fitted.probabilities.numpy()
        u, v = graph.edges.T
        pull = (fitted.probabilities - target) / graph.num_nodes
        columns = {
            "plain_agreement": clamped_log(row_dot(plain[u], plain[v])),
            "gradient": _scaled(everyone.meta_gradient(fitted, pull).edges()),
            "direct_gradient": _scaled(chained(everyone.structure, [(pull, fitted.xw)]).edges()),
        }
        trained = Surrogate(graph)
        fitted = trained.fit()
        pull = (fitted.probabilities - target) / graph.num_nodes
        columns["training_gradient"] = _scaled(trained.meta_gradient(fitted, pull).edges())
        if len(self.split.val):
            nodes = torch.tensor(self.split.val)
            truth = one_hot(torch.tensor(self.labels[self.split.val]), self.num_classes)
            pull = torch.zeros_like(fitted.logits)
            pull[nodes] = (fitted.probabilities[nodes] - truth) / len(nodes)
            columns["validation_gradient"] = _scaled(trained.meta_gradient(fitted, pull).edges())
        return columns


# Small mathematics ----------------------------------------------------------------------------------------------------


def _divergence_clues(graph: Graph, classes: FloatArray) -> dict[str, FloatArray]:
    """ClassDiv's three divergences, at both ends of every edge."""
    softened = torch.from_numpy((1 - 1e-2) * classes + 1e-2 / classes.shape[1])
    found = divergences(Structure(graph), softened).numpy()
    u, v = graph.edges.T
    columns: dict[str, FloatArray] = {}
    for name, column in zip(("prox1", "prox2", "div_js"), found.T, strict=True):
        columns |= min_and_max(name, column[u], column[v])
    return columns


def _beside(values: FloatArray, graph: Graph, *, mean: bool) -> tuple[FloatArray, FloatArray]:
    """For both ends of each edge, the sum or mean of the values of the other edges there."""
    u, v = graph.edges.T
    total = np.bincount(graph.edges.T.ravel(), np.concatenate([values, values]), graph.num_nodes)
    others = np.maximum(graph.degrees - 1, 1) if mean else np.ones(graph.num_nodes)
    return (total[u] - values) / others[u], (total[v] - values) / others[v]


def _scaled(gradient: Tensor) -> FloatArray:
    """A gradient in units of its median modulus, so that graphs can be compared."""
    values: FloatArray = gradient.numpy()
    unit = float(np.median(np.abs(values)))
    return values / (unit if unit > 0 else 1.0)
