"""DICE against its definition."""

from __future__ import annotations

import numpy as np

from focusedcleaner.attacks import Dice
from focusedcleaner.datasets import synthetic


def test_dice_deletes_within_and_inserts_between_classes() -> None:
    graph = synthetic(300, seed=3)
    assert graph.labels is not None
    poisoning = Dice().poison(graph, 0.3, seed=1)
    assert (np.diff(graph.labels[poisoning.added], axis=1) != 0).all()
    assert (np.diff(graph.labels[poisoning.removed], axis=1) == 0).all()


def test_dice_leaves_nodes_of_unknown_class_alone() -> None:
    graph = synthetic(300, seed=3).without_test_labels()
    assert graph.labels is not None
    poisoning = Dice(0.1).poison(graph, 20, seed=1)
    assert (graph.labels[poisoning.added] >= 0).all()
    assert (graph.labels[poisoning.removed] >= 0).all()
