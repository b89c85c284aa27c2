"""Graph and Split: what they refuse, what they keep, what they make of themselves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from tests.strategies import labelled_graphs


def test_arrays_are_copied_and_read_only() -> None:
    edges, labels = np.array([[0, 1], [1, 2]]), np.array([0, 1, 1])
    attributes = sp.csr_array(np.eye(3))
    graph = Graph(3, edges, attributes=attributes, labels=labels)
    edges[0, 0], labels[0], attributes.data[0] = 1, 5, 9.0
    assert graph.edges[0, 0] == 0
    assert graph.labels is not None
    assert graph.attributes is not None
    assert graph.labels[0] == 0
    assert graph.attributes.data[0] == 1.0
    for array in (graph.edges, graph.labels, graph.attributes.data, graph.degrees, graph.edge_keys):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Graph(0, []), "no nodes"),
        (lambda: Graph(2, [[0, 2]]), "node 2, but nodes are numbered 0 to 1"),
        (lambda: Graph(2, [[-1, 1]]), "node -1"),
        (lambda: Graph(3, [[1, 0]]), "from_pairs"),
        (lambda: Graph(3, [[0, 1], [0, 1]]), "from_pairs"),
        (lambda: Graph(3, [[1, 1]]), "from_pairs"),
        (lambda: Graph(3, [[0.5, 1.0]]), "whole numbers"),
        (lambda: Graph(3, [[0, 1]], labels=[0, 1]), "2 labels for 3 nodes"),
        (lambda: Graph(3, [[0, 1]], labels=[0, 1, -2]), "negative"),
        (lambda: Graph(3, [[0, 1]], attributes=np.eye(2)), "attributes for 2 nodes"),
        (lambda: Graph(2, [[0, 1]], attributes=[[1.0, 2.0], [np.nan, np.inf]]), r"node 1 has a NaN .* \(2 in all\)"),
        (lambda: Graph(2, [[0, 1]], attributes=np.array([["a"], ["b"]])), "read as numbers"),
        (lambda: Graph(2, [[0, 1]], names=["a"]), "1 names where 2"),
        (lambda: Graph(2, [[0, 1]], names=["a", "a"]), "same name"),
        (lambda: Graph(2, [[0, 1]], labels=[0, 3], class_names=["a"]), "1 class names, but a label is 3"),
        (lambda: Graph(2, [[0, 1]], split=Split([0], [], [5])), "node 5"),
        (lambda: Split([0, 1], [1], [2]), "node 1 twice"),
        (lambda: Split([-1], [], []), "start at 0"),
        (lambda: Split([[0]], [], []), "flat"),
        (lambda: Split.random([0, 1], train=0.9, val=0.5), "not possible"),
    ],
)
def test_invalid_graphs_and_splits_are_refused(make: object, says: str) -> None:
    assert callable(make)
    with pytest.raises(InputError, match=says):
        make()


@settings(deadline=None, max_examples=40)
@given(graph=labelled_graphs(), seed=st.integers(0, 100))
def test_adding_and_removing_edges(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    some = graph.edges[rng.random(graph.num_edges) < 0.4]
    fewer = graph.without_edges(some[:, ::-1])
    assert fewer.num_edges == graph.num_edges - len(some)
    assert fewer.with_edges(some) == graph
    assert np.array_equal(graph.added_edges(fewer), some)
    assert len(fewer.added_edges(graph)) == 0
    assert (graph.adjacency().sum(axis=1) == graph.degrees).all()


def test_fingerprint_follows_what_a_method_can_see() -> None:
    graph = Graph(3, [[0, 1], [1, 2]], labels=[0, 1, 1], split=Split([0], [1], [2]), names=["a", "b", "c"])
    same = Graph(3, [[0, 1], [1, 2]], labels=[0, 1, 1], split=Split([0], [1], [2]))
    assert graph.fingerprint() == same.fingerprint()
    others = [
        graph.without_edges([[0, 1]]),
        graph.with_split(Split([0], [2], [1])),
        Graph(3, [[0, 1], [1, 2]], labels=[0, 0, 1], split=Split([0], [1], [2])),
        Graph(3, [[0, 1], [1, 2]], attributes=np.eye(3), labels=[0, 1, 1], split=Split([0], [1], [2])),
    ]
    assert len({graph.fingerprint(), *(other.fingerprint() for other in others)}) == 5


def test_without_test_labels_keeps_all_classes() -> None:
    graph = Graph(4, [[0, 1]], labels=[0, 1, 2, 3], split=Split([0], [1], [2, 3]))
    seen = graph.without_test_labels()
    assert seen.labels is not None
    assert seen.labels.tolist() == [0, 1, -1, -1]
    assert seen.num_classes == 4
    with pytest.raises(InputError, match="split"):
        Graph(2, [[0, 1]], labels=[0, 1]).without_test_labels()


def test_largest_component_keeps_order_names_and_split() -> None:
    graph = Graph(
        6, [[0, 5], [1, 2], [2, 4]], labels=[0, 1, 2, 3, 4, 5], split=Split([0, 4], [1], [2, 5]), attributes=np.eye(6)
    )
    part = graph.largest_component()
    assert part.names == (1, 2, 4)
    assert part.edges.tolist() == [[0, 1], [1, 2]]
    assert part.labels is not None
    assert part.labels.tolist() == [1, 2, 4]
    assert part.split == Split([2], [0], [1])
    assert part.largest_component() is part


def test_homophily_counts_known_labels_only() -> None:
    assert Graph(4, [[0, 1], [1, 2], [2, 3]], labels=[0, 0, 1, -1]).homophily == 0.5
    assert np.isnan(Graph(2, [[0, 1]], labels=[0, -1]).homophily)
    assert np.isnan(Graph(2, [[0, 1]]).homophily)


@settings(deadline=None, max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 40), min_size=2, max_size=5),
    unknown=st.integers(0, 30),
    seed=st.integers(0, 100),
)
def test_random_splits_are_stratified(sizes: list[int], unknown: int, seed: int) -> None:
    labels = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.full(unknown, -1)])
    split = Split.random(labels, seed=seed)
    assert split == Split.random(labels, seed=seed)
    together = np.concatenate([split.train, split.val, split.test])
    assert np.array_equal(np.sort(together), np.arange(len(labels)))
    assert (labels[split.train] >= 0).all()
    assert (labels[split.val] >= 0).all()
    share = 0.5 if unknown else 0.1
    assert len(split.train) == round(share * sum(sizes))
    for number, size in enumerate(sizes):
        count = int((labels[split.train] == number).sum())
        assert abs(count - share * size) <= 1
