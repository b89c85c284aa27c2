"""The way back into a user's own object keeps everything but the changed edges."""

from __future__ import annotations

import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph, no_pairs
from focusedcleaner.io.convert import as_graph, to_pyg
from focusedcleaner.io.edit import with_changes

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
