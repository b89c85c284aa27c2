"""The classes of nodes that the review page shows: known ones and predicted ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from focusedcleaner.edge_features.class_regression import SINGLE_PRECISION_FROM
from focusedcleaner.engine import one_thread
from focusedcleaner.graph import UNKNOWN, BoolArray, Graph, IntArray
from focusedcleaner.report.node_classes import has_clusters, node_classes, predicted_classes, visible_labels
from focusedcleaner.runs import Run
from focusedcleaner.surrogate import Surrogate


@dataclass(frozen=True)
class Classes:
    """The class of each node, −1 if there is none."""

    numbers: IntArray
    known: BoolArray
    """Whether a class is known rather than predicted."""


def known_classes(graph: Graph) -> Classes:
    """Return the labels of training and validation nodes; those of test nodes are not shown to reviewers."""
    labels = visible_labels(graph)
    return Classes(labels, labels != UNKNOWN)


def all_classes(graph: Graph) -> Classes:
    """Return the known classes, and the predictions of a surrogate trained on the graph for all other nodes.

    >>> from focusedcleaner.graph import Split
    >>> path = Graph(4, [[0, 1], [1, 2], [2, 3]], labels=[0, 1, 0, 1], split=Split([0, 3], [], [1, 2]))
    >>> all_classes(path).numbers, all_classes(path).known
    (array([0, 0, 1, 1]), array([ True, False, False,  True]))
    """
    classes = known_classes(graph)
    if graph.labels is None or graph.split is None or not len(graph.split.train):
        return classes
    precision = torch.float64 if graph.num_edges < SINGLE_PRECISION_FROM else torch.float32
    with one_thread():
        predicted = Surrogate(graph.without_test_labels(), dtype=precision).fit().logits.argmax(1).numpy()
    return Classes(np.where(classes.known, classes.numbers, predicted), classes.known)


def shown_classes(run: Run) -> Classes:
    """Return the classes of `all_classes` or, where the method found clusters in their place, the recorded clusters."""
    return Classes(*node_classes(run)) if has_clusters(run) else all_classes(run.graph)


def classes_of_ends(run: Run, classes: Classes) -> IntArray:
    """Return the classes of the removed edges' ends (R × 2): from ``classes``, else from the evidence, else −1."""
    ends, predicted = classes.numbers[run.removed].reshape(-1, 2), predicted_classes(run)
    return ends if predicted is None else np.where(ends == UNKNOWN, predicted, ends)
