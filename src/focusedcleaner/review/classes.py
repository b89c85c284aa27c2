"""The classes of nodes as the page shows them: known where the defender knows them, predicted elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from focusedcleaner.engine import one_thread
from focusedcleaner.graph import UNKNOWN, BoolArray, Graph, IntArray
from focusedcleaner.runs import Run
from focusedcleaner.sanitizers.focused import SINGLE_PRECISION_FROM
from focusedcleaner.surrogate import Surrogate


@dataclass(frozen=True)
class Classes:
    """A class for each node, −1 where there is none."""

    numbers: IntArray
    known: BoolArray
    """Whose class is known rather than predicted."""


def known_classes(graph: Graph) -> Classes:
    """The labels of training and validation nodes: a test node's is not for the eyes of whoever judges its edges."""
    if graph.labels is None:
        return Classes(np.full(graph.num_nodes, UNKNOWN), np.zeros(graph.num_nodes, dtype=bool))
    seen = graph.labels if graph.split is None else graph.without_test_labels().labels
    assert seen is not None
    return Classes(seen, seen != UNKNOWN)


def all_classes(graph: Graph) -> Classes:
    """The known classes, and for all other nodes what the surrogate, trained on the graph, predicts.

    >>> from focusedcleaner.graph import Split
    >>> path = Graph(4, [[0, 1], [1, 2], [2, 3]], labels=[0, 1, 0, 1], split=Split([0, 3], [], [1, 2]))
    >>> all_classes(path).numbers, all_classes(path).known
    (array([0, 0, 1, 1]), array([ True, False, False,  True]))
    """
    known = known_classes(graph)
    if graph.labels is None or graph.split is None or not len(graph.split.train):
        return known
    precision = torch.float64 if graph.num_edges < SINGLE_PRECISION_FROM else torch.float32
    with one_thread():
        predicted = Surrogate(graph.without_test_labels(), dtype=precision).fit().logits.argmax(1).numpy()
    return Classes(np.where(known.known, known.numbers, predicted), known.known)


def classes_of_ends(run: Run, known: Classes) -> IntArray:
    """R × 2 classes of the removed edges' ends: known, or the likeliest by the run's own evidence, or −1."""
    ends = known.numbers[run.removed].reshape(-1, 2)
    for column, name in enumerate(("classes_u", "classes_v")):
        if name in run.evidence and run.evidence[name].ndim == 2:
            likeliest = run.evidence[name].argmax(axis=1)
            ends[:, column] = np.where(ends[:, column] == UNKNOWN, likeliest, ends[:, column])
    return ends
