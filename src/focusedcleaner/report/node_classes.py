"""The classes of nodes that a report and a review show: known, predicted, or clusters in their place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from focusedcleaner.graph import UNKNOWN, BoolArray, Graph, IntArray
from focusedcleaner.runs import Run


def visible_labels(graph: Graph) -> IntArray:
    """Return the labels that may be shown (N, −1 elsewhere): those of training and validation nodes.

    >>> visible_labels(Graph(2, [[0, 1]]))
    array([-1, -1])
    """
    visible = graph if graph.labels is None or graph.split is None else graph.without_test_labels()
    return np.full(graph.num_nodes, UNKNOWN) if visible.labels is None else visible.labels


def has_clusters(run: Run) -> bool:
    """Whether the method found clusters in place of classes, since no label is known."""
    column = run.evidence.get("clusters_u")
    return column is not None and column.ndim == 2 and bool((visible_labels(run.poisoned) == UNKNOWN).all())


def with_cluster_names(run: Run) -> Graph:
    """The run's input graph; where the method found clusters, these have the names of classes."""
    if not has_clusters(run):
        return run.poisoned
    number = run.evidence["clusters_u"].shape[1]
    return replace(run.poisoned, labels=None, class_names=tuple(f"cluster {one + 1}" for one in range(number)))


def node_classes(run: Run) -> tuple[IntArray, BoolArray]:
    """Return the class of each node (N, −1 if unknown) and whether it is known (N).

    The ends of flagged edges have the class, or the cluster, that the method last predicted, if its evidence says so.
    """
    classes = visible_labels(run.poisoned).copy()
    known = classes != UNKNOWN
    predicted = predicted_classes(run)
    if predicted is not None:
        nodes, last = np.unique(run.removed.ravel()[::-1], return_index=True)
        classes[nodes] = np.where(known[nodes], classes[nodes], predicted.ravel()[::-1][last])
    return classes, known


def predicted_classes(run: Run) -> IntArray | None:
    """Return the classes of the removed edges' ends (R × 2) that the method predicted; None without such evidence."""
    kind = "clusters" if has_clusters(run) else "classes"
    distributions = [run.evidence.get(f"{kind}_{end}") for end in "uv"]
    if any(one is None or one.ndim != 2 for one in distributions):
        return None
    return np.column_stack([one.argmax(axis=1) for one in distributions if one is not None])
