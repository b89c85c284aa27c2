"""The way back: a user's own graph object with some edges removed and others added.

`focusedcleaner.io.convert.as_graph` reads PyG, NetworkX and scipy objects; `with_changes` applies the result to them.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from focusedcleaner.errors import InputError
from focusedcleaner.graph import BoolArray, FloatArray, Graph, IntArray, pair_keys
from focusedcleaner.io.pyg import HeteroEdges
from focusedcleaner.io.pyg_edges import insert_edges, read_edges, select_edges, weight_edges

_SECOND_COPIES = {"adj", "adj_t"}
"""Where a PyG storage may hold its edges again."""


def with_changes(data: Any, graph: Graph, removed: IntArray, added: IntArray) -> Any:
    """Return a copy of ``data``, of the same kind, with edges removed and added; ``data`` itself is not changed.

    Whatever belongs to the other edges stays: PyG's `edge_attr` and all other edge tensors, NetworkX edge data, the
    weights of a matrix. Both directions of a removed edge go; of a `HeteroData`, also from the reverse edge type.

    Args:
        data: a Graph, a PyG `Data`, one edge type of a `HeteroData`, a NetworkX graph, a scipy or numpy matrix, or a
            mapping with one as `adjacency`.
        graph: the Graph that was read from it.
        removed: R × 2 pairs u < v.
        added: A × 2 pairs u < v that the graph lacks.

    >>> with_changes(np.array([[0, 5, 1], [5, 0, 0], [1, 0, 0]]), Graph(3, [[0, 1], [0, 2]]), np.array([[0, 2]]), [])
    array([[0, 5, 0],
           [5, 0, 0],
           [0, 0, 0]])
    """
    removed, added = (np.asarray(pairs, dtype=np.int64).reshape(-1, 2) for pairs in (removed, added))
    if isinstance(data, Graph):
        return data.without_edges(removed).with_edges(added)
    if sp.issparse(data) or isinstance(data, np.ndarray):  # before mappings, which a dok_array is too
        return _matrix(data, removed, added)
    if isinstance(data, Mapping):
        return {**data, "adjacency": _matrix(data["adjacency"], removed, added)}
    if isinstance(data, HeteroEdges):
        return _hetero(data, graph, removed, added)
    return (_pyg if hasattr(data, "edge_index") else _networkx)(data, graph, removed, added)


def check_insertable(data: Any, graph: Graph, who: str) -> None:
    """Refuse a PyG `Data` whose edges have attributes, which an inserted edge would lack, and a `HeteroData`."""
    if isinstance(data, HeteroEdges):
        raise InputError(f"{who} inserts edges, which a HeteroData can't be given: choose another method")
    if hasattr(data, "edge_index") and set(_edge_keys(data, graph)) - {"edge_index"}:
        raise InputError(f"{who} inserts edges, but the data's edges have attributes that new edges lack")


def _matrix(matrix: Any, removed: IntArray, added: IntArray) -> Any:
    if not sp.issparse(matrix):
        changed = np.array(matrix, subok=True)
        for pairs, value in ((removed, 0), (added, 1)):
            changed[pairs, pairs[:, ::-1]] = value
        return changed
    entries = matrix.tocoo()
    kept = ~_among(np.stack([entries.row, entries.col]), removed, matrix.shape[0])
    rows, columns = np.concatenate([added, added[:, ::-1]]).T
    rows, columns = np.append(entries.row[kept], rows), np.append(entries.col[kept], columns)
    values = np.append(entries.data[kept], np.ones(2 * len(added), dtype=entries.dtype))
    return type(entries)((values, (rows, columns)), shape=entries.shape).asformat(matrix.format)


def _networkx(network: Any, graph: Graph, removed: IntArray, added: IntArray) -> Any:
    nodes = list(network)
    changed = network.copy()
    for u, v in np.concatenate([removed, added]).tolist():  # an added edge may replace one of weight 0
        for ends in ((nodes[u], nodes[v]), (nodes[v], nodes[u])):
            while changed.has_edge(*ends):  # a multigraph may have several
                changed.remove_edge(*ends)
    for u, v in added.tolist():
        changed.add_edge(nodes[u], nodes[v])
        if changed.is_directed():
            changed.add_edge(nodes[v], nodes[u])
    return changed


def _pyg(data: Any, graph: Graph, removed: IntArray, added: IntArray) -> Any:
    import torch

    if len(added):
        check_insertable(data, graph, "the method")
    ends, _ = read_edges(data.to_dict())
    changed = _sized(data, graph)
    select_edges(changed, _edge_keys(data, graph), ~_among(ends, removed, graph.num_nodes))
    prefix = _without_second_copy(changed)
    changed[f"removed_{prefix}index"] = torch.from_numpy(removed.T.copy()).to(_device(data))
    if len(added):
        changed[f"added_{prefix}index"] = torch.from_numpy(added.T.copy()).to(_device(data))
        insert_edges(changed, added)
    return changed


def _hetero(edges: HeteroEdges, graph: Graph, removed: IntArray, added: IntArray) -> Any:
    import torch

    if len(added):
        raise InputError("the method inserts edges, which a HeteroData can't be given: choose another")
    changed = copy.copy(edges.data)
    for edge_type in filter(None, (edges.edge_type, edges.reverse)):
        store = changed[edge_type]
        keys = [key for key in store.keys() if key not in _SECOND_COPIES and store.is_edge_attr(key)]  # noqa: SIM118
        gone = _among(edges.graph_ends(edge_type), removed, graph.num_nodes)
        select_edges(store, keys, ~gone, parent=changed)
        _without_second_copy(store)
    store = changed[edges.edge_type]
    numbers = removed - np.array([0, edges.num_nodes(0) if edges.bipartite else 0])
    prefix = _without_second_copy(store)
    store[f"removed_{prefix}index"] = torch.from_numpy(numbers.T.copy())
    return changed


def with_weights(data: Any, graph: Graph, weights: FloatArray) -> Any:
    """Return a copy of ``data``, of the same kind, with the weight of every edge multiplied; nothing is removed.

    Both directions of an edge get the same factor. PyG: `edge_weight`, or the values of `adj_t`, as float32 where there
    were none. NetworkX: the edge data "weight", 1 where there was none. A matrix: its values. A `Graph` has no weights
    and is returned as it is.

    Args:
        data: as in `with_changes`.
        graph: the Graph that was read from it.
        weights: E factors, in the order of the graph's edges.

    >>> with_weights(np.array([[0, 4, 1], [4, 0, 0], [1, 0, 0]]), Graph(3, [[0, 1], [0, 2]]), np.array([0.5, 1]))
    array([[0., 2., 1.],
           [2., 0., 0.],
           [1., 0., 0.]])
    """
    if isinstance(data, Graph):
        return data
    if sp.issparse(data) or isinstance(data, np.ndarray):
        return _weighted_matrix(data, graph, weights)
    if isinstance(data, Mapping):
        return {**data, "adjacency": _weighted_matrix(data["adjacency"], graph, weights)}
    if isinstance(data, HeteroEdges):
        changed = copy.copy(data.data)
        for edge_type in filter(None, (data.edge_type, data.reverse)):
            weight_edges(changed[edge_type], _factors(data.graph_ends(edge_type), graph, weights))
            _without_second_copy(changed[edge_type])
        return changed
    if hasattr(data, "edge_index"):
        changed = copy.copy(data)
        weight_edges(changed, _factors(read_edges(data.to_dict())[0], graph, weights))
        _without_second_copy(changed)
        return changed
    changed, nodes = data.copy(), {node: number for number, node in enumerate(data)}
    edges = [(nodes[u], nodes[v], fields) for u, v, fields in changed.edges(data=True)]
    ends = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2).T
    for (_, _, fields), factor in zip(edges, _factors(ends, graph, weights).tolist(), strict=True):
        fields["weight"] = fields.get("weight", 1) * factor
    return changed


def _weighted_matrix(matrix: Any, graph: Graph, weights: FloatArray) -> Any:
    entries = sp.coo_array(matrix) if not sp.issparse(matrix) else matrix.tocoo()
    values = entries.data * _factors(np.stack([entries.row, entries.col]), graph, weights)
    if entries.dtype.kind == "f":
        values = values.astype(entries.dtype)
    weighted = type(entries)((values, (entries.row, entries.col)), shape=entries.shape)
    return weighted.asformat(matrix.format) if sp.issparse(matrix) else weighted.toarray()


def _factors(ends: IntArray, graph: Graph, weights: FloatArray) -> FloatArray:
    """The weight of each of M pairs (2 × M) in either direction; 1 for pairs that are no edges, such as self-loops."""
    pairs = np.sort(ends.astype(np.int64), axis=0).T
    known = graph.has_edges(pairs)
    factors = np.ones(len(pairs))
    factors[known] = weights[graph.edge_numbers(pairs[known])]
    return factors


def _sized(data: Any, graph: Graph) -> Any:
    """A shallow copy of a PyG `Data` that knows its number of nodes even if the last ones lose their edges."""
    sized = copy.copy(data)
    if data.get("x") is None:
        sized.num_nodes = graph.num_nodes
    return sized


def _edge_keys(data: Any, graph: Graph) -> list[str]:
    """The keys of a PyG `Data` that belong to its edges, by their length; where N = M, by "edge" in their name."""
    sized = _sized(data, graph)
    ambiguous = graph.num_nodes == sized.num_edges
    keys = [key for key in sized.to_dict() if key not in _SECOND_COPIES]
    return [key for key in keys if sized.is_edge_attr(key) and ("edge" in key or not ambiguous)]


def _without_second_copy(store: Any) -> str:
    """Delete `adj` and `adj_t` beside an `edge_index`: they hold the old edges.

    Returns "edge_" where there is an `edge_index`: beside `adj_t` alone, PyG would count the edges of any other name
    with "edge" in it.
    """
    kept = set() if store.get("edge_index") is not None else {"adj_t"}
    for key in (_SECOND_COPIES - kept) & set(store.keys()):
        del store[key]
    return "" if kept else "edge_"


def _device(data: Any) -> Any:
    return (data.adj_t if data.get("edge_index") is None else data.edge_index).device


def _among(ends: IntArray, pairs: IntArray, num_nodes: int) -> BoolArray:
    """Which columns of ``ends`` (2 × M) are one of the pairs, in either direction."""
    ordered = np.sort(ends.astype(np.int64), axis=0).T
    return np.isin(pair_keys(ordered, num_nodes), pair_keys(pairs, num_nodes))
