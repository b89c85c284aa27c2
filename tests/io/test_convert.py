"""Conversions from and to scipy and PyG."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph
from focusedcleaner.io.convert import as_graph, from_networkx, from_pyg, from_scipy, to_networkx, to_pyg, to_scipy
from tests.io.helpers import graphs, relaxed, split

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PyG's own use of torch
    from torch_geometric.data import Data, HeteroData


PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


@relaxed
@given(graphs())
def test_scipy_loses_nothing(graph: Graph) -> None:
    assert from_scipy(**to_scipy(graph)) == graph


@relaxed
@given(graphs())
def test_pyg_loses_nothing(graph: Graph) -> None:
    assert from_pyg(to_pyg(graph)) == graph
    assert from_pyg(to_pyg(graph, sparse=True)) == graph


def test_names_of_any_kind_and_notes_survive_in_memory() -> None:
    graph = Graph.from_pairs(2, [[0, 1]], names=((1, 2), "b"), notes={"source": "made up"})
    for back in (from_scipy(**to_scipy(graph)), from_pyg(to_pyg(graph)), from_networkx(to_networkx(graph))):
        assert back == graph
        assert back.notes == graph.notes


def test_to_pyg_is_what_pyg_expects() -> None:
    graph = Graph.from_pairs(3, [[0, 1], [1, 2]], attributes=np.eye(3), labels=[0, 1, -1], split=split([0], [1], [2]))
    data = to_pyg(graph)
    assert data.validate()
    assert torch.equal(data.edge_index, PATH)
    assert data.x.dtype == torch.float32
    assert data.y.tolist() == [0, 1, -1]
    assert data.val_mask.tolist() == [False, True, False]


def test_x_is_float64_only_where_float32_would_change_it() -> None:
    assert to_pyg(Graph.from_pairs(1, [], attributes=[[0.1]])).x.dtype == torch.float64
    assert to_pyg(Graph.from_pairs(1, [], attributes=[[0.5]])).x.dtype == torch.float32


def test_bare_pyg_data_is_enough() -> None:
    graph = from_pyg(Data(edge_index=PATH))
    assert graph == Graph.from_pairs(3, [[0, 1], [1, 2]])


def test_masks_that_are_missing_select_nobody() -> None:
    graph = from_pyg(Data(edge_index=PATH, train_mask=torch.tensor([True, False, False])))
    assert graph.split == split([0], [], [])


def test_pyg_direction_and_weight_are_warned_of() -> None:
    data = Data(edge_index=PATH[:, :3], edge_weight=torch.tensor([1.0, 1.0, 0.5]), num_nodes=3)
    with pytest.warns(
        InputWarning, match="1 edge was given in one direction only .*, 1 weight other than 1 was not used"
    ):
        assert from_pyg(data).num_edges == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Data(x=torch.ones(3, 1)), "no edge_index"),
        (HeteroData(), "no edge_index"),
        (Data(edge_index=PATH.T.contiguous()), "2 × M"),
        (Data(edge_index=PATH.float()), "whole numbers"),
        (Data(edge_index=PATH, num_nodes=2), "names node 2"),
        (Data(edge_index=PATH, x=torch.ones(3)), "N × F"),
        (Data(edge_index=PATH, x=torch.tensor([[0.0], [torch.nan], [0.0]])), "finite: node 1"),
        (Data(edge_index=PATH, y=torch.ones(3, 2)), "3 nodes have several classes"),
        (Data(edge_index=PATH, y=torch.ones(3, 2, 2)), "one class number per node"),
        (Data(edge_index=PATH, y=torch.tensor([0, 1]), num_nodes=3), "2 labels for 3 nodes"),
        (Data(edge_index=PATH, train_mask=torch.ones(3, 10, dtype=torch.bool)), "train_mask has 10 columns"),
        (Data(edge_index=PATH, train_mask=torch.ones(3)), "true or false"),
        (Data(edge_index=PATH, train_mask=PATH[0] > 5, num_nodes=3), "each of 3 nodes"),
        (Data(edge_index=PATH, train_mask=PATH[0, :3] < 5, val_mask=PATH[0, :3] < 5), "node 0 twice"),
        (Data(edge_index=PATH, edge_weight=torch.tensor([1.0, 1, -1, 1])), "weight -1"),
        (Data(edge_index=PATH, edge_weight=torch.ones(3)), "one real number per edge"),
    ],
)
def test_invalid_pyg_data_are_refused(data: Data, message: str) -> None:
    with pytest.raises(InputError, match=message):
        from_pyg(data)


def test_a_sparse_x_of_either_layout_is_read() -> None:
    dense = torch.tensor([[0.0, 2.0], [0.0, 0.0], [1.0, 0.0]])
    expected = from_pyg(Data(edge_index=PATH, x=dense))
    assert expected.attributes.toarray().tolist() == dense.tolist()  # type: ignore[union-attr]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch calls its CSR layout a beta
        layouts = [dense.to_sparse_coo(), dense.to_sparse_csr()]
    for sparse in layouts:
        assert from_pyg(Data(edge_index=PATH, x=sparse)) == expected


@pytest.mark.parametrize(
    "data",
    [
        Graph(3, [[0, 1], [1, 2]]),
        Data(edge_index=PATH),
        nx.path_graph(3),
        nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 1)]),
        sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
        sp.coo_matrix([[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
        np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
    ],
    ids=lambda data: type(data).__name__,
)
def test_as_graph_takes_every_supported_kind(data: Any) -> None:
    assert as_graph(data) == Graph(3, [[0, 1], [1, 2]])


def test_as_graph_returns_a_graph_as_it_is() -> None:
    graph = Graph(3, [[0, 1], [1, 2]])
    assert as_graph(graph) is graph


@pytest.mark.parametrize("data", [PATH, [[0, 1]], "graph.npz", None], ids=lambda data: type(data).__name__)
def test_as_graph_refuses_other_types_by_name(data: object) -> None:
    with pytest.raises(InputError) as error:
        as_graph(data)
    assert str(error.value) == (
        "a graph must be a Graph, a PyG Data, a NetworkX graph, a square scipy or numpy matrix "
        "or a mapping with one as 'adjacency', "
        f"not {type(data).__name__}"
    )


def test_as_graph_refuses_a_column_of_masks_where_there_are_none() -> None:
    with pytest.raises(InputError, match="split chooses a column of PyG masks"):
        as_graph(nx.path_graph(3), split=0)


def test_as_graph_refuses_a_matrix_that_is_not_square() -> None:
    with pytest.raises(InputError, match="square, not 2 × 3"):
        as_graph(np.ones((2, 3)))


def test_as_graph_imports_neither_pyg_nor_networkx() -> None:
    code = (
        "import sys, numpy; from focusedcleaner.io.convert import as_graph; as_graph(numpy.zeros((2, 2)));"
        "print([name for name in ('torch', 'torch_geometric', 'networkx') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
