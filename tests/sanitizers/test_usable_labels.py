"""Which labels self-attack uses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import UNKNOWN, Graph, Split
from focusedcleaner.sanitizers.usable_labels import usable_labels

NODES = 60


@pytest.fixture(scope="module")
def graph() -> Graph:
    return synthetic(NODES, num_attributes=0, seed=0)


def labelled(graph: Graph, labels: list[int]) -> Graph:
    return replace(graph, labels=np.array(labels), split=None, class_names=None).with_drawn_split(0)


def test_enough_labels_stay_as_they_are(graph: Graph) -> None:
    whole = labelled(graph, [node % 3 for node in range(30)] + [UNKNOWN] * 30)
    assert usable_labels(whole) == (whole, [])
    assert usable_labels(replace(graph, labels=None, split=None, class_names=None))[1] == []


def test_too_few_labels_are_left_out(graph: Graph) -> None:
    few, notes = usable_labels(labelled(graph, [node % 2 for node in range(19)] + [UNKNOWN] * 41))
    assert (few.labels, few.split, few.num_classes) == (None, None, 0)
    assert notes == ["19 labelled nodes are too few to use: at least 20 are needed, so clusters stand for classes"]


def test_a_class_with_one_label_is_left_out(graph: Graph) -> None:
    seen, notes = usable_labels(labelled(graph, [0, 1] * 12 + [2] + [UNKNOWN] * 35))
    assert seen.labels is not None
    assert seen.split is not None
    assert seen.labels[24] == UNKNOWN
    assert 24 in seen.split.test
    assert notes == ["classes with a single labelled node are left out: class 2"]
    seen.check_labelled("a test")


def test_one_class_is_kept_without_a_split(graph: Graph) -> None:
    marked = replace(labelled(graph, [0] * 25 + [UNKNOWN] * 35), class_names=("fraud",))
    seen, notes = usable_labels(marked)
    assert seen.split is None
    assert np.array_equal(seen.known_labels, np.zeros(25))
    assert notes == [
        "fraud is the only class with labels: it is one class, and clusters of the unlabelled nodes are the others"
    ]


@given(st.lists(st.integers(UNKNOWN, 6), min_size=NODES, max_size=NODES))
def test_what_is_left_can_be_used(labels: list[int]) -> None:
    base = synthetic(NODES, num_attributes=0, seed=0)
    drawn = labelled(base, labels)
    seen, _ = usable_labels(drawn if drawn.split is not None else drawn.with_split(Split([], [], range(NODES))))
    if seen.split is None:
        assert len(np.unique(seen.known_labels)) <= 1
    else:
        assert len(seen.known_labels) >= 20
        assert np.bincount(seen.known_labels)[np.unique(seen.known_labels)].min() >= 2
        known = np.concatenate([seen.split.train, seen.split.val])
        assert seen.labels is not None
        assert set(np.flatnonzero(seen.labels >= 0)) == set(known.tolist())
