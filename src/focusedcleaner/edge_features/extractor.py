"""Features of edges that tell planted edges from genuine ones: named columns with a row per edge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor
from torch.nn.functional import one_hot

from focusedcleaner.edge_features.class_agreement import class_agreement
from focusedcleaner.edge_features.class_regression import ClassRegression, surrogate_form, with_known_labels
from focusedcleaner.edge_features.divergences import divergences
from focusedcleaner.edge_features.pair_features import clamped_log, labelled_nodes, min_and_max, row_dot
from focusedcleaner.engine import Attributes, Structure
from focusedcleaner.engine.parallel import map_blocks
from focusedcleaner.engine.sparse import filled, row_products, shared_entries, unit_rows
from focusedcleaner.engine.structure import COLUMNS
from focusedcleaner.graph import FloatArray, Graph, IntArray, Split
from focusedcleaner.surrogate import Implicit, Surrogate
from focusedcleaner.surrogate.metagradient import two_hop_gradient

INVERSE_DECAY = 10.0
"""Of the regressions that predict classes, as in the sanitizer ``agreement``."""
DTYPE = torch.float32
"""Of sparse products, which take a third of the time that they take in double precision."""
INNER = Implicit(tolerance=1e-2)
"""Training of the surrogates: gradients of a closer optimum rank edges no better."""
PAIRS = 2**17
"""Pairs whose features are computed at once."""
DENSE_COLUMNS = 512
"""Attributes up to which they are made dense, some at a time, in graphs of several blocks."""
SINGLE_PRECISION_ROWS = 2_000_000
"""Rows from which a table of features is kept in single precision."""

Columns = Mapping[str, FloatArray]
Chosen = slice | IntArray
"""Numbers of edges, or all."""


@dataclass(frozen=True)
class EdgeFeatures:
    """The features of edges of one graph."""

    names: tuple[str, ...]
    table: FloatArray
    """A row per edge, all of them or those that were asked for."""
    classes: FloatArray
    """Class distribution of each node, N × C, by `class_agreement`; one-hot where the label is known."""

    @classmethod
    def of(cls, columns: Columns, classes: FloatArray) -> EdgeFeatures:
        """Put columns into a table."""
        size = len(next(iter(columns.values())))
        table = np.empty((size, len(columns)), dtype=np.float64 if size < SINGLE_PRECISION_ROWS else np.float32)
        for place, column in enumerate(columns.values()):
            table[:, place] = column
        return cls(tuple(columns), table, classes)

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
            self._known_similarity = KnownSimilarity(graph, self.attributes)
            model = LogisticRegression(C=INVERSE_DECAY, max_iter=300, tol=1e-3).fit(x[known], self.labels[known])
            self.classes_by_attributes = with_known_labels(graph, model.classes_, model.predict_proba(x))

    def extract(self, graph: Graph, rows: IntArray | None = None) -> EdgeFeatures:
        """Compute the features of every edge, or of those numbered ``rows``, with the labels and the split given to the
        constructor."""
        graph = replace(graph, labels=self.labels, split=self.split, class_names=self.class_names)
        structure = Structure(graph, dtype=DTYPE)
        similarity = self._similarity(graph)
        regression = ClassRegression(graph, INVERSE_DECAY, structure=structure, attributes=self.operators[1])
        _, same_class, classes = class_agreement(
            regression, similarity, cosine_weight=8.0, left_out=0.15, repeats=3, seed=0
        )
        chosen = slice(None) if rows is None else rows
        pairs = graph.edges[chosen]
        columns = {
            "agreement": clamped_log(same_class[chosen]),
            **in_parts(_structural_features, pairs, _Ends.of(graph, structure, classes)),
            **self._attribute_features(graph, structure, pairs, similarity[chosen], classes),
            **self._gradient_features(graph, structure, pairs, chosen, classes),
        }
        doubt = 1 - same_class
        if self.attributes is not None:
            doubt = doubt * (1 - np.minimum(similarity / 0.3, 1))
        columns |= min_and_max("adjacent_doubt", *adjacent_edges(doubt, graph, chosen, mean=False))
        columns |= min_and_max("mean_adjacent_doubt", *adjacent_edges(doubt, graph, chosen, mean=True))
        return EdgeFeatures.of(columns, classes)

    def _similarity(self, graph: Graph) -> FloatArray:
        """Return the cosine of both ends' attributes for every edge; 0 without attributes."""
        if self.attributes is None:
            return np.zeros(graph.num_edges)
        return self._known_similarity.of(graph, self.attributes)

    def _attribute_features(
        self, graph: Graph, structure: Structure, pairs: IntArray, similarity: FloatArray, classes: FloatArray
    ) -> Columns:
        """Similarity of the ends' attributes to each other and to each other's neighbours."""
        x, own = self.attributes, self.classes_by_attributes
        if x is None or own is None:
            return {}
        degrees = graph.degrees.astype(float)
        u, v = pairs.T
        to_u, to_v = products_with_neighbours(graph, structure, x, pairs)
        to_u, to_v = (to_u - 1) / np.maximum(degrees[u] - 1, 1), (to_v - 1) / np.maximum(degrees[v] - 1, 1)
        return {
            "attribute_similarity": similarity,
            **in_parts(_attribute_agreement, pairs, own, classes),
            **min_and_max("similarity_to_neighbours", to_u, to_v),
        }

    def _gradient_features(
        self, graph: Graph, structure: Structure, pairs: IntArray, chosen: Chosen, classes: FloatArray
    ) -> Columns:
        """The gradient of each edge: how far it moves surrogates that trust every edge from the robust prediction."""
        target = torch.from_numpy(classes).to(DTYPE)
        pooled = self._surrogate(graph.with_split(self.pooled), structure)
        fitted = pooled.fit()
        plain = fitted.probabilities.numpy()
        error = (fitted.probabilities - target) / graph.num_nodes
        columns = {
            **in_parts(_plain_agreement, pairs, plain),
            "gradient": _in_medians(pooled.meta_gradient(fitted, error).edges(), chosen),
            "direct_gradient": _in_medians(two_hop_gradient(pooled.structure, [(error, fitted.xw)]).edges(), chosen),
        }
        surrogate = self._surrogate(graph, structure)
        fitted = surrogate.fit()
        error = (fitted.probabilities - target) / graph.num_nodes
        columns["training_gradient"] = _in_medians(surrogate.meta_gradient(fitted, error).edges(), chosen)
        if len(self.split.val):
            nodes = torch.tensor(self.split.val)
            truth = one_hot(torch.tensor(self.labels[self.split.val]), self.num_classes)
            error = torch.zeros_like(fitted.logits)
            error[nodes] = (fitted.probabilities[nodes] - truth) / len(nodes)
            columns["validation_gradient"] = _in_medians(surrogate.meta_gradient(fitted, error).edges(), chosen)
        return columns

    def _surrogate(self, graph: Graph, structure: Structure) -> Surrogate:
        attributes = self.operators[0]
        form = surrogate_form(structure, attributes, self.num_classes)
        return Surrogate(graph, inner=INNER, form=form, structure=structure, attributes=attributes, dtype=DTYPE)


class KnownSimilarity:
    """Cosines of the ends' attributes for the edges of one graph, looked up for others that have most of these edges.

    Args:
        graph: whose edges are known.
        rows: the attributes in rows of length 1, N × F.
    """

    def __init__(self, graph: Graph, rows: sp.csr_array | FloatArray) -> None:
        self.graph, self.values = graph, row_products(rows, rows, graph.edges)

    def of(self, graph: Graph, rows: sp.csr_array | FloatArray) -> FloatArray:
        """Return the cosine for every edge of a graph over the same nodes."""
        known = self.graph.has_edges(graph.edges)
        values = np.empty(graph.num_edges)
        values[known] = self.values[self.graph.edge_numbers(graph.edges[known])]
        values[~known] = row_products(rows, rows, graph.edges[~known])
        return values


@dataclass(frozen=True)
class _Ends:
    """Values of nodes, from which the structural features of pairs are made."""

    classes: FloatArray
    around: FloatArray
    """Sum of the neighbours' class distributions, N × C."""
    degrees: FloatArray
    adjacency: sp.csr_array
    labelled: dict[str, FloatArray]
    """1 at training nodes, and at validation nodes."""
    divergences: FloatArray
    """ClassDiv's three divergences, N × 3."""

    @classmethod
    def of(cls, graph: Graph, structure: Structure, classes: FloatArray) -> _Ends:
        adjacency = graph.adjacency().astype(float)
        smoothed = torch.from_numpy((1 - 1e-2) * classes + 1e-2 / classes.shape[1]).to(structure.dtype)
        return cls(
            classes,
            adjacency @ classes,
            graph.degrees.astype(float),
            adjacency,
            labelled_nodes(graph),
            divergences(structure, smoothed).numpy(),
        )


def _structural_features(pairs: IntArray, ends: _Ends) -> Columns:
    """Degrees, common neighbours, labelled ends, and the classes of the other neighbours."""
    u, v = pairs.T
    classes, degrees = ends.classes, ends.degrees
    entropy_u, entropy_v = (-(classes[end] * np.log(np.maximum(classes[end], 1e-12))).sum(axis=1) for end in (u, v))
    at_u, at_v = ends.around[u] - classes[v], ends.around[v] - classes[u]
    others_u, others_v = np.maximum(degrees[u] - 1, 1), np.maximum(degrees[v] - 1, 1)
    shared = list(shared_entries(ends.adjacency, ends.adjacency, pairs))
    rarity = 1 / np.log(np.maximum(degrees, 2))
    like_other_end = row_dot(at_u, classes[v]) / others_u, row_dot(at_v, classes[u]) / others_v
    like_own_end = row_dot(at_u, classes[u]) / others_u, row_dot(at_v, classes[v]) / others_v
    columns = {
        "common_neighbours": np.concatenate([np.asarray(part.sum(axis=1)).ravel() for part in shared]),
        "adamic_adar": np.concatenate([part @ rarity for part in shared]),
        **{name: of_node[u] + of_node[v] for name, of_node in ends.labelled.items()},
        **min_and_max("degree", np.log(degrees[u]), np.log(degrees[v])),
        **min_and_max("entropy", entropy_u, entropy_v),
        **min_and_max("neighbours_like_other_end", *like_other_end),
        **min_and_max("neighbours_like_own_end", *like_own_end),
    }
    for name, column in zip(("prox1", "prox2", "div_js"), ends.divergences.T, strict=True):
        columns |= min_and_max(name, column[u], column[v])
    return columns


def _attribute_agreement(pairs: IntArray, own: FloatArray, classes: FloatArray) -> Columns:
    """Whether the classes that attributes alone suggest agree with each other, and with those of the other end."""
    u, v = pairs.T
    crosswise = clamped_log(row_dot(own[u], classes[v])), clamped_log(row_dot(classes[u], own[v]))
    return {
        "agreement_by_attributes": clamped_log(row_dot(own[u], own[v])),
        **min_and_max("agreement_crosswise", *crosswise),
    }


def _plain_agreement(pairs: IntArray, classes: FloatArray) -> Columns:
    u, v = pairs.T
    return {"plain_agreement": clamped_log(row_dot(classes[u], classes[v]))}


def in_parts(kernel: Callable[..., Columns], pairs: IntArray, *shared: Any) -> dict[str, FloatArray]:
    """Compute columns with a row per pair (P × 2), `PAIRS` of them at a time."""
    parts = map_blocks(kernel, np.split(pairs, range(PAIRS, len(pairs), PAIRS)), *shared)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def products_with_neighbours(
    graph: Graph, structure: Structure, x: sp.csr_array | FloatArray, pairs: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return Σ_j x_v·x_j over the neighbours j of u, and Σ_j x_u·x_j over those of v, for pairs (u, v) (P × 2).

    In large graphs with few attributes, some columns of X are dense at a time.
    """
    if len(structure.blocks) > 1 and x.shape[1] <= DENSE_COLUMNS:
        to_u = to_v = np.zeros(len(pairs))
        for start in range(0, x.shape[1], COLUMNS):
            part = x[:, start : start + COLUMNS]
            columns = torch.from_numpy(part if isinstance(part, np.ndarray) else part.toarray()).to(structure.dtype)
            columns = columns.contiguous()
            found = in_parts(_cross_products, pairs, columns.numpy(), structure.neighbour_sum(columns).numpy())
            to_u, to_v = to_u + found["u"], to_v + found["v"]
        return to_u, to_v
    neighbours = graph.adjacency().astype(float) @ x
    return row_products(x, neighbours, pairs[:, ::-1]), row_products(x, neighbours, pairs)


def _cross_products(pairs: IntArray, x: FloatArray, sums: FloatArray) -> Columns:
    u, v = pairs.T
    return {"u": row_dot(x[v], sums[u]), "v": row_dot(x[u], sums[v])}


def adjacent_edges(
    values: FloatArray, graph: Graph, chosen: Chosen = slice(None), *, mean: bool
) -> tuple[FloatArray, FloatArray]:
    """For both ends of each chosen edge, the sum or mean of the values of the other edges there."""
    u, v = graph.edges[chosen].T
    total = np.bincount(graph.edges.T.ravel(), np.concatenate([values, values]), graph.num_nodes)
    others = np.maximum(graph.degrees - 1, 1) if mean else np.ones(graph.num_nodes)
    own = values[chosen]
    return (total[u] - own) / others[u], (total[v] - own) / others[v]


def _in_medians(gradient: Tensor, chosen: Chosen) -> FloatArray:
    """Divide a gradient by its median modulus, so that graphs can be compared; return that of the chosen edges."""
    values: FloatArray = gradient.double().numpy()
    median = float(np.median(np.abs(values)))
    return values[chosen] / (median if median > 0 else 1.0)
