"""PyG data in their various forms, and one edge type of a HeteroData, there and back."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph, no_pairs
from focusedcleaner.io.convert import as_graph, from_pyg, to_pyg
from focusedcleaner.io.edit import check_insertable, with_changes, with_weights
from focusedcleaner.io.pyg import HeteroEdges

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PyG's own use of torch
    from torch_geometric.data import Data, HeteroData
    from torch_geometric.transforms import ToSparseTensor, ToUndirected

RATES = ("user", "rates", "item")


def sparse(data: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch calls its CSR layout a beta
        return ToSparseTensor(**options)(data.clone())


@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_coo])
def test_an_adjacency_in_place_of_the_index_is_the_same_graph(graph: Graph, layout: Any) -> None:
    data = to_pyg(graph)
    data.edge_attr = torch.arange(data.num_edges)
    other = sparse(data, layout=layout)
    assert "edge_index" not in other
    assert from_pyg(other) == graph
    removed = graph.edges[[3, 8]]
    changed = with_changes(other, graph, removed, no_pairs())
    assert from_pyg(changed) == graph.without_edges(removed)
    assert changed.adj_t.layout == layout
    assert changed.num_edges == data.num_edges - 4
    assert changed.removed_index.T.tolist() == removed.tolist()
    places = data.edge_index[:, changed.edge_attr]
    entries = changed.adj_t.to_sparse_coo().coalesce().indices()
    assert torch.equal(places.flip(0), entries), "edge tensors are still in the order of the edges"
    assert other.num_edges == data.num_edges


def test_weights_of_an_adjacency_are_read_and_multiplied(graph: Graph) -> None:
    data = to_pyg(graph)
    data.edge_weight = torch.full((data.num_edges,), 0.5)
    other = sparse(data)
    with pytest.warns(InputWarning, match="300 weights other than 1 were not used"):
        assert from_pyg(other) == graph
    weighted = with_weights(other, graph, np.linspace(0, 1, graph.num_edges))
    dense = weighted.adj_t.to_dense().numpy()
    np.testing.assert_allclose(dense[tuple(graph.edges.T)], 0.5 * np.linspace(0, 1, graph.num_edges), rtol=1e-6)
    assert (dense == dense.T).all()


def test_edges_are_inserted_into_an_adjacency(graph: Graph) -> None:
    data = sparse(to_pyg(graph))
    every = np.stack(np.triu_indices(graph.num_nodes, 1), axis=1)
    added = every[~graph.has_edges(every)][:3]
    check_insertable(data, graph, "gasoline")
    changed = with_changes(data, graph, no_pairs(), added)
    assert from_pyg(changed) == graph.with_edges(added)
    assert changed.added_index.shape == (2, 3)
    data.edge_attr = torch.ones(data.num_edges)
    with pytest.raises(InputError, match="gasoline inserts edges"):
        check_insertable(data, graph, "gasoline")


def test_an_adjacency_must_be_square() -> None:
    with pytest.raises(InputError, match="adj_t must be square, not 2 × 3"):
        from_pyg(Data(adj_t=torch.eye(2, 3).to_sparse()))


def test_one_hot_labels_are_classes(graph: Graph) -> None:
    data = to_pyg(graph)
    for kind in (torch.int64, torch.float32, torch.bool):
        data.y = torch.nn.functional.one_hot(torch.tensor(graph.labels)).to(kind)
        assert from_pyg(data) == graph


# HeteroData ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def shop() -> Any:
    """Four users and three items, with ratings and their reverse."""
    data = HeteroData()
    data["user"].num_nodes, data["item"].x = 4, torch.ones(3, 2)
    data[RATES].edge_index = torch.tensor([[0, 0, 1, 2, 3], [0, 1, 1, 2, 0]])
    data[RATES].edge_attr = torch.arange(5.0)
    data[RATES].time = list("abcde")
    data["user", "knows", "user"].edge_index = torch.tensor([[0, 1], [1, 0]])
    data["user"].y = torch.tensor([0, 1, 0, 1])
    return ToUndirected()(data)


def test_two_node_types_are_two_sides_of_one_graph(shop: Any) -> None:
    graph = as_graph(HeteroEdges.of(shop, list(RATES)))
    assert graph.edges.tolist() == [[0, 4], [0, 5], [1, 5], [2, 6], [3, 4]]
    assert graph.names == ("user 0", "user 1", "user 2", "user 3", "item 0", "item 1", "item 2")
    assert graph.notes == {"source_column": "user", "target_column": "item"}
    assert graph.labels is None
    assert graph.attributes is None


def test_removed_ratings_go_in_both_directions(shop: Any) -> None:
    edges = HeteroEdges.of(shop, RATES)
    graph = as_graph(edges)
    changed = with_changes(edges, graph, np.array([[0, 5], [3, 4]]), no_pairs())
    assert changed[RATES].edge_index.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert changed[RATES].edge_attr.tolist() == [0, 2, 3]
    assert changed[RATES].time == ["a", "c", "d"]
    assert changed[RATES].removed_edge_index.tolist() == [[0, 3], [1, 0]]
    reverse = changed["item", "rev_rates", "user"]
    assert reverse.edge_index.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert reverse.edge_attr.tolist() == [0, 2, 3]
    assert changed["user", "knows", "user"].num_edges == 2
    assert shop[RATES].num_edges == 5, "the input was changed"


def test_the_reverse_type_gives_the_same_graph(shop: Any) -> None:
    edges = HeteroEdges.of(shop, ("item", "rev_rates", "user"))
    assert edges.reverse == RATES
    graph = as_graph(edges)
    assert graph.notes == {"source_column": "item", "target_column": "user"}
    changed = with_changes(edges, graph, np.array([[0, 6]]), no_pairs())  # item 0, user 3
    assert changed[RATES].edge_index.tolist() == [[0, 0, 1, 2], [0, 1, 1, 2]]


def test_ratings_are_weighted_in_both_directions(shop: Any) -> None:
    edges = HeteroEdges.of(shop, RATES)
    weighted = with_weights(edges, as_graph(edges), np.linspace(0, 1, 5))
    assert weighted[RATES].edge_weight.tolist() == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert weighted["item", "rev_rates", "user"].edge_weight.tolist() == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert "edge_weight" not in shop[RATES]


def test_a_sparse_edge_type(shop: Any) -> None:
    del shop[RATES].time  # PyG's own transform can't sort a list
    dense = HeteroEdges.of(shop, RATES)
    edges = HeteroEdges.of(sparse(shop), RATES)
    graph = as_graph(edges)
    assert graph == as_graph(dense)
    del edges.data["item"].x
    assert as_graph(edges).num_nodes == 7
    changed = with_changes(edges, graph, np.array([[0, 5]]), no_pairs())
    rest = as_graph(HeteroEdges.of(changed, RATES))
    assert rest.edges.tolist() == [[0, 4], [1, 5], [2, 6], [3, 4]]
    assert changed[RATES].adj_t.layout == torch.sparse_csr
    assert changed[RATES].edge_attr.tolist() == [0, 4, 2, 3]  # by target
    assert changed[RATES].removed_index.tolist() == [[0], [1]]


def test_nodes_of_one_type_are_read_with_labels_and_masks(graph: Graph) -> None:
    data, cites = HeteroData(), ("paper", "cites", "paper")
    flat = to_pyg(graph)
    for key in ("x", "y", "train_mask", "val_mask", "test_mask"):
        data["paper"][key] = flat[key]
    data[cites].edge_index = flat.edge_index
    data["author", "writes", "paper"].edge_index = torch.tensor([[0], [0]])
    edges = HeteroEdges.of(data, cites)
    found = as_graph(edges)
    assert found.edges.tolist() == graph.edges.tolist()
    assert (found.labels == graph.labels).all()  # type: ignore[union-attr]
    assert found.split == graph.split
    changed = with_changes(edges, found, graph.edges[:2], no_pairs())
    assert changed[cites].num_edges == 2 * graph.num_edges - 4
    assert as_graph(HeteroEdges.of(data, ("author", "writes", "paper"))).num_nodes == 151


def test_an_edge_type_must_be_named(shop: Any) -> None:
    with pytest.raises(InputError) as error:
        as_graph(shop)
    assert str(error.value) == (
        "a HeteroData is sanitized one edge type at a time, edge_type=('user', 'rates', 'item'); its types are "
        "('user', 'rates', 'item'), ('user', 'knows', 'user'), ('item', 'rev_rates', 'user')"
    )
    for wrong in (("user", "buys", "item"), "rates", 3):
        with pytest.raises(InputError, match="the HeteroData has no edge type"):
            HeteroEdges.of(shop, wrong)


def test_what_two_node_types_can_not_have(shop: Any) -> None:
    edges = HeteroEdges.of(shop, RATES)
    with pytest.raises(InputError, match="masks, which are not read where nodes are of two types"):
        as_graph(edges, split=0)
    with pytest.raises(InputError, match="gasoline inserts edges, which a HeteroData can't be given"):
        check_insertable(edges, as_graph(edges), "gasoline")
