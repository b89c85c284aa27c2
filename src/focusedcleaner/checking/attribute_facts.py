"""Whether the attributes of a graph tell anything: density, constant columns, and how alike linked nodes are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.graph import Graph, IntArray

SAMPLED_PAIRS = 10_000
"""Most linked pairs, and random ones, that are compared."""
SOMEWHAT, MUCH = 0.05, 0.15
"""Distances of `AttributeFacts.separation` from ½ from which linked nodes are somewhat and much more alike than others:
0.04 in a synthetic graph with few telling words, 0.06 in amazon_photo, 0.21 in dblp, 0.29 in Cora, 0.37 in Citeseer."""

Telling = Literal["hardly", "somewhat", "much"]


@dataclass(frozen=True)
class AttributeFacts:
    """What the attributes are, and what they tell about edges."""

    columns: int
    density: float
    """Share of values that are not 0."""
    empty_nodes: int
    """Nodes without a value other than 0."""
    constant_columns: int
    """Columns with one value at all nodes: they tell nothing."""
    linked_similarity: float | None
    """Mean cosine of the scaled attributes of two linked nodes, from a sample."""
    random_similarity: float | None
    """The same for random pairs of nodes with as many edges."""
    separation: float | None
    """Probability that a linked pair is more alike than a random one (the AUC): 0.5 if attributes tell nothing."""

    @property
    def telling(self) -> Telling:
        """How much attributes tell about which nodes are linked."""
        distance = 0.0 if self.separation is None else abs(self.separation - 0.5)
        return "much" if distance >= MUCH else "somewhat" if distance >= SOMEWHAT else "hardly"


def attribute_facts(graph: Graph, *, seed: int = 0) -> AttributeFacts | None:
    """Describe the attributes in O(entries) and a sample of pairs; None where there are none.

    >>> alike = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> facts = attribute_facts(Graph(4, [[0, 1], [2, 3]], attributes=alike))
    >>> facts.density, facts.constant_columns, facts.linked_similarity
    (0.5, 0, 1.0)
    """
    matrix = graph.attributes
    if matrix is None or not matrix.shape[1]:
        return None
    nodes, width = matrix.shape
    linked, random, separation = _similarities(graph, seed)
    return AttributeFacts(
        columns=int(width),
        density=float(matrix.nnz / (nodes * width)),
        empty_nodes=int((np.diff(matrix.indptr) == 0).sum()),
        constant_columns=_constant_columns(matrix.data, matrix.indices, nodes, width),
        linked_similarity=linked,
        random_similarity=random,
        separation=separation,
    )


def _constant_columns(values: np.ndarray, columns: np.ndarray, nodes: int, width: int) -> int:
    """Count the columns that are empty, or full of one value; a width of 10⁹ costs nothing."""
    place = columns
    if width > len(columns):
        _, place = np.unique(columns, return_inverse=True)
    sizes = np.bincount(place)
    least, most = np.full(len(sizes), np.inf), np.full(len(sizes), -np.inf)
    np.minimum.at(least, place, values)
    np.maximum.at(most, place, values)
    return int(width - np.count_nonzero(sizes) + ((sizes == nodes) & (least == most)).sum())


def _similarities(graph: Graph, seed: int) -> tuple[float | None, float | None, float | None]:
    """Return the mean cosine of linked pairs and of random ones, and the probability that the former is larger."""
    if graph.features is None or not graph.num_edges:
        return None, None, None
    rng = np.random.default_rng(seed)
    edges = graph.edges
    if graph.num_edges > SAMPLED_PAIRS:
        edges = edges[np.sort(rng.choice(graph.num_edges, SAMPLED_PAIRS, replace=False))]
    random = _random_pairs(graph, rng)
    if not len(random):
        return None, None, None
    linked, other = attribute_cosines(graph, edges), attribute_cosines(graph, random)
    # The Mann–Whitney statistic; ties count half.
    ranks = rankdata(np.concatenate([linked, other]))[: len(linked)]
    above = ranks.sum() - len(linked) * (len(linked) + 1) / 2
    return float(linked.mean()), float(other.mean()), float(above / (len(linked) * len(other)))


def _random_pairs(graph: Graph, rng: np.random.Generator) -> IntArray:
    """Join random ends of random edges, so that busy nodes are drawn as often as among linked pairs; P × 2."""
    ends = graph.edges.ravel()
    pairs = np.sort(ends[rng.integers(0, len(ends), (SAMPLED_PAIRS, 2))], axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return pairs[~graph.has_edges(pairs)]
