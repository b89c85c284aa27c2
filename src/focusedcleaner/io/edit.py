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
from focusedcleaner.graph import BoolArray, Graph, IntArray, pair_keys


def with_changes(data: Any, graph: Graph, removed: IntArray, added: IntArray) -> Any:
    """Return a copy of ``data``, of the same kind, with edges removed and added; ``data`` itself is not changed.

    Whatever belongs to the other edges stays: PyG's `edge_attr` and all other edge tensors, NetworkX edge data, the
    weights of a matrix. Both directions of a removed edge go.

    Args:
        data: a Graph, a PyG `Data`, a NetworkX graph, a scipy or numpy matrix, or a mapping with one as `adjacency`.
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
    return (_pyg if hasattr(data, "edge_index") else _networkx)(data, graph, removed, added)


def check_insertable(data: Any, graph: Graph, who: str) -> None:
    """Refuse a PyG `Data` whose edges have attributes, which an inserted edge would lack."""
    if hasattr(data, "edge_index") and len(_edge_keys(data, graph)) > 1:
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
    from torch_geometric.utils import select

    if len(added):
        check_insertable(data, graph, "the method")
    device, dtype = data.edge_index.device, data.edge_index.dtype
    kept = ~_among(data.edge_index.cpu().numpy(), removed, graph.num_nodes)
    mask = torch.from_numpy(kept).to(device)
    changed = _sized(data, graph)
    for key in _edge_keys(data, graph):
        value, dim = data[key], data.__cat_dim__(key, data[key])
        changed[key] = np.compress(kept, value, dim) if isinstance(value, np.ndarray) else select(value, mask, dim)
    for key in {"adj", "adj_t"} & set(changed.keys()):
        del changed[key]  # a second copy of the edges, with the removed ones
    changed.removed_edge_index = torch.from_numpy(removed.T.copy()).to(device)
    if len(added):
        changed.added_edge_index = torch.from_numpy(added.T.copy()).to(device)
        both = torch.cat([changed.added_edge_index, changed.added_edge_index.flip(0)], 1).to(dtype)
        changed.edge_index = torch.cat([changed.edge_index, both], 1)
    return changed


def _sized(data: Any, graph: Graph) -> Any:
    """A shallow copy of a PyG `Data` that knows its number of nodes even if the last ones lose their edges."""
    sized = copy.copy(data)
    if data.get("x") is None:
        sized.num_nodes = graph.num_nodes
    return sized


def _edge_keys(data: Any, graph: Graph) -> list[str]:
    """The keys of a PyG `Data` that belong to its edges, by their length; where N = M, by "edge" in their name."""
    sized = _sized(data, graph)
    ambiguous = graph.num_nodes == data.edge_index.shape[1]
    return [key for key in sized.to_dict() if sized.is_edge_attr(key) and ("edge" in key or not ambiguous)]


def _among(ends: IntArray, pairs: IntArray, num_nodes: int) -> BoolArray:
    """Which columns of ``ends`` (2 × M) are one of the pairs, in either direction."""
    ordered = np.sort(ends.astype(np.int64), axis=0).T
    return np.isin(pair_keys(ordered, num_nodes), pair_keys(pairs, num_nodes))
