"""Labels and how classes are linked: coverage, homophily, and the compatibility of every two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp

from focusedcleaner.formatting import class_name
from focusedcleaner.graph import UNKNOWN, FloatArray, Graph, IntArray

LARGEST_TABLE = 8
"""Classes up to which the compatibility is shown as a table."""
LARGEST_MATRIX = 50
"""Classes up to which the compatibility is kept as a matrix."""

Coverage = Literal["none", "one class", "some", "all"]


@dataclass(frozen=True)
class ClassLabels:
    """The labels of one class."""

    name: str
    labelled: int
    """Nodes whose class is known to be this one."""
    training: int | None
    validation: int | None
    """Of these, the training and validation nodes; None without a split."""


@dataclass(frozen=True)
class ClassLinks:
    """Where the edges of one class lead."""

    name: str
    share_within: float
    """Share of its edges that stay in the class; an edge within it counts from both ends."""
    partner: str
    """The class that most of its edges lead to, perhaps itself."""
    partner_share: float


def coverage(graph: Graph) -> Coverage:
    """Say which labels are known; "one class" where only nodes of a single class are marked and others are not.

    >>> coverage(Graph(3, [[0, 1]], labels=[0, -1, 0])), coverage(Graph(2, [[0, 1]], labels=[0, 1]))
    ('one class', 'all')
    """
    known = graph.known_labels
    if not len(known):
        return "none"
    if len(known) < graph.num_nodes and known.min() == known.max():
        return "one class"
    return "all" if len(known) == graph.num_nodes else "some"


def class_labels(graph: Graph) -> tuple[ClassLabels, ...]:
    """Count the labels of every class, those without any included."""
    if graph.labels is None:
        return ()
    labels, classes, split = graph.labels, graph.num_classes, graph.split

    def counted(nodes: IntArray) -> IntArray:
        known = labels[nodes]
        return np.bincount(known[known != UNKNOWN], minlength=classes)

    total = np.bincount(graph.known_labels, minlength=classes).tolist()
    train, val = ([None] * classes, [None] * classes) if split is None else (counted(split.train), counted(split.val))
    return tuple(
        ClassLabels(class_name(graph, number), total[number], _whole(train[number]), _whole(val[number]))
        for number in range(classes)
    )


def _whole(number: np.int64 | None) -> int | None:
    return None if number is None else int(number)


def edge_counts(graph: Graph) -> sp.csr_array:
    """Count the edges between classes, C × C: YᵀAY, where Y are the one-hot labels and unknown ones are left out.

    The matrix is symmetric, and an edge within a class counts twice, once from each end.
    """
    size = graph.num_classes
    if graph.labels is None or not size:
        return sp.csr_array((size, size))
    ends = graph.labels[graph.edges]
    u, v = ends[(ends != UNKNOWN).all(axis=1)].T
    ones = np.ones(2 * len(u))
    return sp.coo_array((ones, (np.concatenate([u, v]), np.concatenate([v, u]))), shape=(size, size)).tocsr()


def chance_homophily(counts: sp.csr_array) -> float | None:
    """Return the share of edges that would be within a class by chance, Σ_c (share of edge ends in c)²."""
    ends = np.asarray(counts.sum(axis=1)).ravel()
    return float(np.square(ends / ends.sum()).sum()) if ends.sum() else None


def compatibility(counts: sp.csr_array) -> FloatArray:
    """Divide the edges between every two classes by those that chance would give, C × C:

        M_cd · Σ_kl M_kl / (Σ_k M_ck · Σ_k M_kd),

    1 where classes are linked as often as by chance; NaN for a class without edges.
    """
    table = counts.toarray()
    ends = table.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return table * ends.sum() / np.outer(ends, ends)


def class_links(graph: Graph, counts: sp.csr_array) -> tuple[ClassLinks, ...]:
    """Say where the edges of each class lead; classes without edges to labelled nodes are left out."""
    ends = np.asarray(counts.sum(axis=1)).ravel()
    within = counts.diagonal()
    rows = []
    for number in np.flatnonzero(ends).tolist():
        start, stop = counts.indptr[number : number + 2]
        values, columns = counts.data[start:stop], counts.indices[start:stop]
        # Of several classes with equally many edges, the class itself and then the lowest number.
        best = np.lexsort((columns, columns != number, -values))[0]
        partner = class_name(graph, int(columns[best]))
        share, other = float(within[number] / ends[number]), float(values[best] / ends[number])
        rows.append(ClassLinks(class_name(graph, number), share, partner, other))
    return tuple(rows)
