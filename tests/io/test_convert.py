"""Graphs go to scipy, PyG and NetworkX and come back as they were."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph
from focusedcleaner.io.convert import from_networkx, from_pyg, from_scipy, to_networkx, to_pyg, to_scipy
from tests.io.test_round_trips import graphs, relaxed, split

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PyG's own, of torch
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


@relaxed
@given(graphs())
def test_networkx_loses_nothing(graph: Graph) -> None:
    assert from_networkx(to_networkx(graph)) == graph


def test_names_of_any_kind_and_notes_survive_in_memory() -> None:
    graph = Graph.from_pairs(2, [[0, 1]], names=((1, 2), "b"), notes={"source": "made up"})
    for back in (from_scipy(**to_scipy(graph)), from_pyg(to_pyg(graph)), from_networkx(to_networkx(graph))):
        assert back == graph
        assert back.notes == graph.notes


def test_names_that_are_numbers_stay_names() -> None:
    graph = Graph.from_pairs(2, [[0, 1]], names=(0, 1))
    assert from_networkx(to_networkx(graph)).names == (0, 1)


# scipy


def test_a_raw_matrix_is_made_simple_with_one_warning_that_counts() -> None:
    matrix = sp.coo_array(([2.0, 1, 1, 1, 0, 1], ([0, 1, 1, 2, 3, 3], [1, 2, 2, 2, 0, 1])), shape=(4, 4))
    with pytest.warns(InputWarning) as told:
        graph = from_scipy(matrix)
    assert graph.edges.tolist() == [[0, 1], [1, 2], [1, 3]]
    assert [str(warning.message) for warning in told] == [
        "the adjacency: 3 edges were given in one direction only and were made undirected, "
        "1 self-loop, 1 repeated edge and 1 weight-0 edge were dropped, 1 weight was set to 1"
    ]


@pytest.mark.parametrize(("weight", "told"), [(-1.0, "-1"), (np.nan, "nan"), (np.inf, "inf")])
def test_impossible_weights_are_refused(weight: float, told: str) -> None:
    with pytest.raises(InputError, match=f"edge 0–1 has weight {told}: weights must be finite and not negative"):
        from_scipy(sp.csr_array(np.array([[0, weight], [0, 0]])))


@pytest.mark.parametrize(
    ("adjacency", "told"),
    [(np.ones((2, 3)), "square, not 2 × 3"), (np.zeros((0, 0)), "empty"), (np.ones((2, 2), complex), "real number")],
)
def test_matrices_that_are_no_adjacency_are_refused(adjacency: np.ndarray, told: str) -> None:
    with pytest.raises(InputError, match=told):
        from_scipy(adjacency)


def test_labels_may_be_whole_floats_and_nothing_else() -> None:
    empty = sp.csr_array((3, 3))
    assert from_scipy(empty, labels=[1.0, np.nan, 0.0]).labels.tolist() == [1, -1, 0]  # type: ignore[union-attr]
    assert from_scipy(empty, labels=[[1], [1], [0]]).labels.tolist() == [1, 1, 0]  # type: ignore[union-attr]
    for wrong, told in (
        ([0.5, 0, 0], "0.5 is not a whole"),
        (["a"] * 3, "class number"),
        ([np.inf, 0, 0], "inf is not"),
    ):
        with pytest.raises(InputError, match=told):
            from_scipy(empty, labels=wrong)


# PyG


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
    with pytest.warns(InputWarning, match="1 edge was given in one direction only .*, 1 weight was set to 1"):
        assert from_pyg(data).num_edges == 2


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (Data(x=torch.ones(3, 1)), "no edge_index"),
        (HeteroData(), "no edge_index"),
        (Data(edge_index=PATH.T.contiguous()), "2 × M"),
        (Data(edge_index=PATH.float()), "whole numbers"),
        (Data(edge_index=PATH, num_nodes=2), "names node 2"),
        (Data(edge_index=PATH, x=torch.ones(3)), "N × F"),
        (Data(edge_index=PATH, x=torch.tensor([[0.0], [torch.nan], [0.0]])), "finite: node 1"),
        (Data(edge_index=PATH, y=torch.ones(3, 2)), "one class number a node"),
        (Data(edge_index=PATH, y=torch.tensor([0, 1]), num_nodes=3), "2 labels for 3 nodes"),
        (Data(edge_index=PATH, train_mask=torch.ones(3, 10, dtype=torch.bool)), "train_mask has 10 columns"),
        (Data(edge_index=PATH, train_mask=torch.ones(3)), "true or false"),
        (Data(edge_index=PATH, train_mask=PATH[0] > 5, num_nodes=3), "each of 3 nodes"),
        (Data(edge_index=PATH, train_mask=PATH[0, :3] < 5, val_mask=PATH[0, :3] < 5), "node 0 twice"),
        (Data(edge_index=PATH, edge_weight=torch.tensor([1.0, 1, -1, 1])), "weight -1"),
        (Data(edge_index=PATH, edge_weight=torch.ones(3)), "one real number an edge"),
    ],
)
def test_pyg_data_that_make_no_graph_are_refused(data: Data, told: str) -> None:
    with pytest.raises(InputError, match=told):
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


# NetworkX


def test_a_graph_of_ones_own_is_read_by_its_data() -> None:
    own = nx.Graph()
    own.add_node("ann", label="spam", split="train", age=30, town="Bern")
    own.add_node("bob", height=1.5, split="test")
    own.add_edge("ann", "bob")
    graph = from_networkx(own)
    assert graph.names == ("ann", "bob")
    assert graph.class_names == ("spam",)
    assert graph.labels.tolist() == [0, -1]  # type: ignore[union-attr]
    assert graph.split == split([0], [], [1])
    assert graph.attribute_names == ("age", "height")
    assert graph.attributes.toarray().tolist() == [[30, 0], [0, 1.5]]  # type: ignore[union-attr]


def test_nodes_taken_out_after_conversion_are_simply_gone() -> None:
    other = to_networkx(Graph.from_pairs(3, [[0, 1], [1, 2]], labels=[0, 1, 1]))
    other.remove_node(0)
    assert from_networkx(other) == Graph.from_pairs(2, [[0, 1]], labels=[1, 1], names=(1, 2))


def test_directed_weighted_parallel_networkx_graphs_are_warned_of() -> None:
    with pytest.warns(InputWarning, match="1 edge was given in one direction only"):
        from_networkx(nx.DiGraph([(0, 1)]))
    with pytest.warns(InputWarning, match="1 repeated edge was dropped, 1 weight was set to 1"):
        from_networkx(nx.MultiGraph([(0, 1, {"weight": 2}), (1, 0)]))
    assert from_networkx(nx.DiGraph([(0, 1), (1, 0)])).num_edges == 1


@pytest.mark.parametrize(
    ("node", "told"),
    [
        ({"split": "dev"}, "'dev': it must be train, val, test or empty"),
        ({"age": float("inf")}, "finite"),
        ({"age": 10**400}, "too large"),
    ],
)
def test_networkx_node_data_that_make_no_sense_are_refused(node: dict[str, object], told: str) -> None:
    other = nx.Graph()
    other.add_node(0, **node)
    with pytest.raises(InputError, match=told):
        from_networkx(other)


def test_a_label_that_is_no_class_is_refused() -> None:
    other = to_networkx(Graph.from_pairs(1, [], labels=[0], class_names=("a",)))
    other.nodes[0]["label"] = "b"
    with pytest.raises(InputError, match="'b' is not among the class names"):
        from_networkx(other)


@pytest.mark.parametrize("names", [("x", "x"), ("x", "label")])
def test_attributes_that_names_can_not_tell_apart_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(InputError, match="told apart"):
        to_networkx(Graph.from_pairs(1, [], attributes=[[1.0, 2.0]], attribute_names=names))
