"""The adjacency by rows against a dense one, and ids of nodes as a column."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.adjacency_rows import AdjacencyRows, StoredNames
from focusedcleaner.graph import Graph


@given(st.integers(1, 12), st.data())
def test_rows_are_those_of_the_dense_adjacency(nodes: int, data: st.DataObject) -> None:
    ends = st.integers(0, nodes - 1)
    edges = Graph.from_pairs(nodes, data.draw(st.lists(st.tuples(ends, ends)))).edges
    numbers = np.full((nodes, nodes), -1)
    for number, (u, v) in enumerate(edges.tolist()):
        numbers[u, v] = numbers[v, u] = number
    rows = AdjacencyRows.of(nodes, edges)
    for node in range(nodes):
        own = slice(rows.indptr[node], rows.indptr[node + 1])
        assert rows.indices[own].tolist() == np.flatnonzero(numbers[node] >= 0).tolist()
        assert rows.entry_edges[own].tolist() == numbers[node][numbers[node] >= 0].tolist()
    assert (rows.indptr.dtype, rows.indices.dtype, rows.num_nodes) == (np.int64, np.int32, nodes)


@pytest.fixture(params=["numbers", "texts"])
def names(request: pytest.FixtureRequest) -> StoredNames:
    if request.param == "numbers":
        return StoredNames(np.array([30, 7, -2]))
    return StoredNames(partial(pl.Series, "id", ["é", "a", "b"]))


def test_names_are_a_sequence(names: StoredNames) -> None:
    plain = tuple(names)
    assert names == plain
    assert names[0:2] == list(plain[:2])
    assert [names[node] for node in np.arange(3)] == list(plain)
    assert [type(name) for name in names] == [type(plain[0])] * 3
    assert names != plain[::-1]
    assert pickle.loads(pickle.dumps(names)) == names


def test_names_are_sorted_and_taken(names: StoredNames) -> None:
    assert list(names.take(names.order())) == sorted(names)
    assert list(names.take(np.array([2, 0]))) == [names[2], names[0]]


def test_a_graph_with_such_names_is_one_with_a_tuple(names: StoredNames) -> None:
    graph, plain = (Graph(3, [[0, 1], [1, 2]], names=one) for one in (names, tuple(names)))
    assert graph == plain
    assert np.array_equal(graph.canonical_order.nodes, plain.canonical_order.nodes)
    assert graph.in_canonical_order() == plain.in_canonical_order()
    assert graph.subgraph([2, 1]) == plain.subgraph([2, 1])


@pytest.mark.parametrize(("numbers", "counts"), [([0, 1, 2], True), ([2, 0, 1], False), ([0, 1, 3], True)])
def test_a_permutation_of_the_node_numbers_is_no_name(numbers: list[int], counts: bool) -> None:
    graph, plain = (Graph(3, [[0, 1]], names=one) for one in (StoredNames(np.array(numbers)), tuple(numbers)))
    assert graph._names_count == plain._names_count == counts
