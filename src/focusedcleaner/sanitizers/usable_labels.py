"""The labels that self-attack can use: those of too small classes are left out, and so are too few labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from focusedcleaner.formatting import class_name, count
from focusedcleaner.graph import UNKNOWN, Graph, IntArray, Split
from focusedcleaner.sanitizers.checks import FEWEST_LABELS

FEWEST_OF_A_CLASS = 2
"""Labelled nodes that a class needs: one to train, one to compare with."""


def usable_labels(graph: Graph) -> tuple[Graph, list[str]]:
    """Leave out the labels that are of no use, and say so.

    - Classes with one labelled node are left out.
    - Fewer than 20 labels are left out: the graph is then judged by its clusters.
    - Labels of one class, such as confirmed frauds among unlabelled accounts, are kept, without a split.

    Args:
        graph: as the defender sees it.

    Returns:
        The graph with two classes or more, with one, or without labels; and what was left out, a sentence each.

    >>> path = Graph(3, [[0, 1], [1, 2]], labels=[0, 1, -1], split=Split([0], [1], [2]))
    >>> usable_labels(path)
    (Graph(3 nodes, 2 edges, 0 classes, 0 attributes), ['2 labelled nodes are too few to use: ...'])
    """
    if graph.labels is None:
        return graph, []
    classes, sizes = np.unique(graph.known_labels, return_counts=True)
    small = classes[sizes < FEWEST_OF_A_CLASS]
    total = int(sizes[sizes >= FEWEST_OF_A_CLASS].sum())
    if total < FEWEST_LABELS:
        if not len(graph.known_labels):
            return graph.unlabelled(), []
        few = f"{count(len(graph.known_labels), 'labelled node')} are too few to use"
        return graph.unlabelled(), [f"{few}: at least {FEWEST_LABELS} are needed, so clusters stand for classes"]
    notes = []
    if len(small):
        lonely = ", ".join(class_name(graph, int(number)) for number in small[:3]) + (" …" if len(small) > 3 else "")
        notes.append(f"classes with a single labelled node are left out: {lonely}")
        graph = _only(graph, np.isin(graph.labels, small, invert=True))
    if len(classes) - len(small) == 1:
        marked = f"{class_name(graph, int(graph.known_labels[0]))} is the only class with labels"
        notes.append(f"{marked}: it is one class, and clusters of the unlabelled nodes are the others")
        graph = replace(graph, split=None)
    return graph, notes


def _only(graph: Graph, kept: np.ndarray) -> Graph:
    """The graph with the labels of these nodes (N) only; the others are neither for training nor for validation."""
    assert graph.labels is not None
    assert graph.split is not None

    def part(nodes: IntArray) -> IntArray:
        return nodes[kept[nodes]]

    train, val = part(graph.split.train), part(graph.split.val)
    test = np.setdiff1d(np.arange(graph.num_nodes), np.concatenate([train, val]))
    return replace(graph, labels=np.where(kept, graph.labels, UNKNOWN), split=Split(train, val, test))
