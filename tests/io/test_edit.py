"""The way back into a user's own object keeps everything but the changed edges."""

from __future__ import annotations

import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph, no_pairs
from focusedcleaner.io.convert import as_graph, to_pyg
from focusedcleaner.io.edit import check_insertable, with_changes, with_weights
from tests.io.helpers import relaxed

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PyG's own use of torch
    from torch_geometric.data import Data

few = settings(relaxed, max_examples=40)
REMOVED, ADDED = np.array([[0, 1]]), np.array([[0, 3]])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_a_matrix_keeps_weights_format_and_kind(form: str, kind: Any) -> None:
    dense = np.array([[0, 2, 3, 0], [2, 0, 0, 0], [3, 0, 0, 4], [0, 0, 4, 0]], dtype=np.int32)
    matrix = kind(dense).asformat(form)
    graph = Graph(4, [[0, 1], [0, 2], [2, 3]])
    changed = with_changes(matrix, graph, REMOVED, ADDED)
    expected = dense.copy()
    expected[0, 1] = expected[1, 0] = 0
    expected[0, 3] = expected[3, 0] = 1
    np.testing.assert_array_equal(changed.toarray(), expected)
    assert (changed.format, changed.dtype) == (form, dense.dtype)
    assert isinstance(changed, sp.sparray) == isinstance(matrix, sp.sparray)
    np.testing.assert_array_equal(matrix.toarray(), dense)
    np.testing.assert_array_equal(with_changes(dense, graph, REMOVED, ADDED), expected)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_keeps_names_and_edge_data(kind: Any) -> None:
    network = kind([("a", "b", {"since": 1}), ("b", "a", {"since": 2}), ("b", "c", {"since": 3}), ("c", "d", {})])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # edges in one direction, or repeated
        graph = as_graph(network)
    changed = with_changes(network, graph, REMOVED, ADDED)
    assert type(changed) is kind
    assert not changed.has_edge("a", "b")
    assert not changed.has_edge("b", "a")
    assert changed.has_edge("a", "d")
    assert [data for _, _, data in changed.edges(data=True) if data] == [{"since": 3}]
    assert network.has_edge("a", "b")


def test_pyg_drops_both_directions_and_their_rows(graph: Graph) -> None:
    data = to_pyg(graph)
    data.edge_attr = torch.arange(data.num_edges).reshape(-1, 1)
    removed = graph.edges[[0, 7]]
    changed = with_changes(data, graph, removed, no_pairs())
    assert changed.num_edges == data.num_edges - 4
    assert changed.removed_edge_index.T.tolist() == removed.tolist()
    kept = changed.edge_attr.ravel()
    assert torch.equal(data.edge_index[:, kept], changed.edge_index)
    with pytest.raises(InputError, match="attributes that new edges lack"):
        with_changes(data, graph, removed, ADDED)


WEIGHTS = {
    np.bool_: [True, False],
    np.int8: [0, 1, 7],
    np.int64: [0, 1, 7],
    np.float32: [0.0, 1.0, 0.125],
    np.float64: [0.0, 1.0, 0.125],
}
"""Weights whose sums are exact, in whatever order a format adds up repeated entries."""


@st.composite
def raw_edges(draw: st.DrawFn, weights: Any) -> tuple[int, list[tuple[int, int, Any]]]:
    """Up to six nodes, and edges in one or both directions, repeated or not, self-loops, weights of 0."""
    size = draw(st.integers(2, 6))
    node = st.integers(0, size - 1)
    return size, draw(st.lists(st.tuples(node, node, st.sampled_from(weights)), max_size=12))


def read(data: Any) -> Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        return as_graph(data)


@st.composite
def changes(draw: st.DrawFn, graph: Graph, adds: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Some edges to remove and some pairs to add."""
    removed = draw(st.lists(st.sampled_from(graph.edges.tolist()), unique_by=tuple)) if graph.num_edges else []
    every = np.stack(np.triu_indices(graph.num_nodes, 1), axis=1)
    lacking = every[~graph.has_edges(every)].tolist()
    added = draw(st.lists(st.sampled_from(lacking), unique_by=tuple)) if lacking and adds else []
    return np.array(removed, dtype=np.int64).reshape(-1, 2), np.array(added, dtype=np.int64).reshape(-1, 2)


def expected(graph: Graph, removed: np.ndarray, added: np.ndarray) -> Graph:
    return graph.without_edges(removed).with_edges(added)


@relaxed
@given(data=st.data())
def test_any_matrix_loses_and_gains_these_edges_and_keeps_the_rest(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(list(WEIGHTS)))
    size, edges = data.draw(raw_edges(WEIGHTS[dtype]))
    rows, columns, values = (np.array([edge[part] for edge in edges]) for part in range(3))
    positions = rows.astype(int), columns.astype(int)
    form = data.draw(st.sampled_from(["bsr", "coo", "csc", "csr", "dia", "dok", "lil", "dense", "nested"]))
    kind = data.draw(st.sampled_from([sp.coo_array, sp.coo_matrix]))
    matrix = kind((values.astype(dtype), positions), shape=(size, size))
    before = matrix.toarray()
    if form == "nested":
        source: Any = {"adjacency": before.tolist(), "notes": {"a": "b"}}
    else:
        source = before.copy() if form == "dense" else matrix.asformat(form)
    graph = read(source)
    removed, added = data.draw(changes(graph))
    changed = with_changes(source, graph, removed, added)
    assert read(changed) == expected(graph, removed, added)
    if form == "nested":
        assert source["adjacency"] == before.tolist()
        source, changed = before.copy(), changed["adjacency"].astype(dtype)
    assert (type(changed), changed.dtype) == (type(source), dtype)
    after, untouched = (value if isinstance(value, np.ndarray) else value.toarray() for value in (changed, source))
    np.testing.assert_array_equal(untouched, before)
    for pairs, value in ((removed, 0), (added, 1)):
        before[pairs, pairs[:, ::-1]] = value
    np.testing.assert_array_equal(after, before)


@few
@given(data=st.data())
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_any_networkx_graph_loses_and_gains_these_edges_and_keeps_the_rest(kind: Any, data: st.DataObject) -> None:
    size, edges = data.draw(raw_edges([0, 1, 2.5]))
    names: Any = data.draw(
        st.sampled_from([list(range(size)), list("fedcba"[:size]), [(node,) for node in range(size)]])
    )
    network = kind(about="a graph")
    network.add_nodes_from((name, {"colour": str(name)}) for name in names)
    network.add_edges_from(
        (names[u], names[v], {"weight": weight, "number": number}) for number, (u, v, weight) in enumerate(edges)
    )
    before = network.copy()
    graph = read(network)
    removed, added = data.draw(changes(graph))
    changed = with_changes(network, graph, removed, added)
    assert type(changed) is kind
    assert read(changed) == expected(graph, removed, added)
    assert nx.utils.graphs_equal(network, before)
    assert (changed.graph, list(changed.nodes(data=True))) == (network.graph, list(network.nodes(data=True)))
    gone = {frozenset((names[u], names[v])) for u, v in np.concatenate([removed, added]).tolist()}
    kept = [edge for edge in network.edges(data=True) if frozenset(edge[:2]) not in gone]
    assert [edge for edge in changed.edges(data=True) if frozenset(edge[:2]) not in gone] == kept


@relaxed
@given(data=st.data())
def test_any_pyg_data_loses_and_gains_these_edges_and_keeps_the_rest(data: st.DataObject) -> None:
    size, edges = data.draw(raw_edges([0.0, 1.0, 2.5]))
    weighted = data.draw(st.booleans())
    index = torch.tensor([edge[:2] for edge in edges], dtype=data.draw(st.sampled_from([torch.int32, torch.int64])))
    source = Data(edge_index=index.reshape(-1, 2).T.contiguous())
    parts = data.draw(st.sets(st.sampled_from(["x", "y", "num_nodes", "node_names"])))
    if "x" in parts:
        source.x = torch.ones(size, 2)
    if "y" in parts:
        source.y = torch.arange(size)
    if "num_nodes" in parts or not parts - {"node_names"}:
        source.num_nodes = size
    if "node_names" in parts:
        source.node_names = [f"node {node}" for node in range(size)]
    if weighted:
        source.edge_weight = torch.tensor([edge[2] for edge in edges])
        source.edge_times = np.arange(len(edges))
        source.edge_words = [str(number) for number in range(len(edges))]
    before = source.clone()
    graph = read(source)
    removed, added = data.draw(changes(graph, adds=not weighted))
    changed = with_changes(source, graph, removed, added)
    assert read(changed) == expected(graph, removed, added)
    assert (changed.num_nodes, changed.edge_index.dtype) == (size, index.dtype)
    assert changed.removed_edge_index.T.tolist() == removed.tolist()
    assert source.keys() == before.keys()
    assert torch.equal(source.edge_index, before.edge_index)
    gone = removed.tolist()
    kept = [number for number, (u, v, _) in enumerate(edges) if sorted((u, v)) not in gone]
    assert torch.equal(changed.edge_index[:, : len(kept)], source.edge_index[:, kept])
    if weighted:
        assert torch.equal(changed.edge_weight, source.edge_weight[kept])
        assert changed.edge_times.tolist() == kept
        assert changed.edge_words == [str(number) for number in kept]
    for part in parts - {"num_nodes"}:
        assert changed[part] is source[part]


def test_pyg_data_keeps_no_second_copy_of_the_removed_edges() -> None:
    path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    data = Data(edge_index=path, x=torch.ones(3, 1), adj_t=torch.eye(3).to_sparse())
    changed = with_changes(data, read(data), np.array([[0, 1]]), no_pairs())
    assert "adj_t" not in changed
    assert "adj_t" in data


def test_names_of_as_many_nodes_as_edges_are_no_edge_attributes() -> None:
    data = to_pyg(Graph(4, [[0, 1], [2, 3]], names=tuple("abcd")))
    graph = as_graph(data)
    check_insertable(data, graph, "gasoline")
    data.edge_attr = torch.ones(4)
    with pytest.raises(InputError, match="gasoline inserts edges"):
        check_insertable(data, graph, "gasoline")


@few
@given(data=st.data())
@pytest.mark.parametrize("kind", ["csr", "coo", "dense", "nested", nx.Graph, nx.MultiDiGraph, "pyg"])
def test_weights_of_any_kind_are_multiplied_in_both_directions(kind: Any, data: st.DataObject) -> None:
    size, edges = data.draw(raw_edges([1.0, 2.0, 0.125]))
    unique = {(u, v): weight for u, v, weight in edges}
    dense = np.zeros((size, size))
    for (u, v), weight in unique.items():
        dense[u, v] = weight
    source: Any = dense.copy()
    if kind == "pyg":
        index = torch.tensor(list(unique), dtype=torch.int64).reshape(-1, 2).T
        source = Data(edge_index=index, edge_weight=torch.tensor(list(unique.values())), num_nodes=size)
    elif isinstance(kind, type):
        source = kind()
        source.add_nodes_from(range(size))
        source.add_weighted_edges_from((u, v, weight) for (u, v), weight in unique.items())
        dense = nx.to_numpy_array(source)
    elif kind != "dense":
        source = {"adjacency": dense.tolist()} if kind == "nested" else sp.coo_array(dense).asformat(kind)
    graph = read(source)
    factors = np.array(
        data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=len(graph.edges), max_size=len(graph.edges)))
    )
    every = np.ones((size, size))
    for (u, v), factor in zip(graph.edges.tolist(), factors, strict=True):
        every[u, v] = every[v, u] = factor
    weighted = with_weights(source, graph, factors)
    assert type(weighted) is type(source)
    if kind == "pyg":
        found = np.zeros((size, size))
        found[tuple(weighted.edge_index.numpy())] = weighted.edge_weight.numpy()
    elif isinstance(kind, type):
        found = nx.to_numpy_array(weighted)
    else:
        matrix = weighted["adjacency"] if kind == "nested" else weighted
        found = matrix.toarray() if sp.issparse(matrix) else matrix
    np.testing.assert_allclose(found, dense * every)
    assert read(source) == graph, "the input was changed"


def test_whole_weights_become_fractions() -> None:
    weighted = with_weights(sp.csr_array([[0, 3], [3, 0]]), Graph(2, [[0, 1]]), np.array([0.5]))
    assert weighted.toarray().tolist() == [[0, 1.5], [1.5, 0]]
    graph = Graph(2, [[0, 1]])
    assert with_weights(graph, graph, np.array([0.5])) is graph
