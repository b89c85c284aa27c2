"""Conversion from and to PyTorch Geometric: `Data`, and one edge type of a `HeteroData`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.formatting import readable
from focusedcleaner.graph import PARTS, Graph, IntArray
from focusedcleaner.io.masks import read_masks, with_masks
from focusedcleaner.io.networkx import METADATA
from focusedcleaner.io.node_text import checked_names, checked_texts
from focusedcleaner.io.pyg_edges import matrix_shape, read_edges, to_numpy
from focusedcleaner.io.simplify import narrowed, numbered_classes, simple_edges

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data

EdgeType = tuple[str, str, str]


@dataclass(frozen=True)
class HeteroEdges:
    """One edge type of a PyG `HeteroData`, which is read as a graph of its own; `of` checks the type."""

    data: Any
    edge_type: EdgeType

    @classmethod
    def of(cls, data: Any, edge_type: Any) -> HeteroEdges:
        """The edges of one type, such as ``("user", "rates", "item")``."""
        types = list(data.edge_types)
        listed = ", ".join(readable(repr(one), 200) for one in types) or "none"
        if edge_type is None:
            example = f"edge_type={types[0]!r}" if types else "edge_type"
            raise InputError(f"a HeteroData is sanitized one edge type at a time, {example}; its types are {listed}")
        chosen = tuple(edge_type) if isinstance(edge_type, list | tuple) else edge_type
        if chosen not in types:
            raise InputError(f"the HeteroData has no edge type {edge_type!r}; its types are {listed}")
        return cls(data, chosen)

    @property
    def bipartite(self) -> bool:
        """Whether sources and targets are nodes of different types."""
        return self.edge_type[0] != self.edge_type[2]

    @property
    def reverse(self) -> EdgeType | None:
        """The type with the same edges the other way round, as PyG's `ToUndirected` names it, if there is one."""
        source, relation, target = self.edge_type
        forward = relation.removeprefix("rev_")
        other = (target, forward if forward != relation else f"rev_{relation}", source)
        return other if other in self.data.edge_types else None

    def num_nodes(self, side: int) -> int:
        """The number of nodes on one side, 0 (sources) or 2 (targets)."""
        stored = self.data[self.edge_type[side]].to_dict()
        edges = self.data[self.edge_type].to_dict()
        if (number := _stored_count(stored)) is not None:
            return number
        if (shape := matrix_shape(edges)) is not None:
            return shape[1 - side // 2]
        return int(read_edges(edges)[0][side // 2].max(initial=-1)) + 1

    def graph_ends(self, edge_type: EdgeType) -> IntArray:
        """The edges of this type, or of `reverse`, as pairs of the graph's node numbers, 2 × M."""
        ends, _ = read_edges(self.data[edge_type].to_dict())
        if not self.bipartite:
            return ends
        behind = self.num_nodes(0)
        offsets = [0, behind] if edge_type == self.edge_type else [behind, 0]
        return ends + np.array(offsets)[:, None]


def from_pyg(data: Data, *, split: int | None = None, seed: int = 0) -> Graph:
    """Convert a PyG `Data` with `edge_index` (2 × M) or a sparse `adj_t` and, if present, `x`, `y` and the three masks.

    `edge_weight` is read too; other edge data are not. `y` is N class numbers or N × C, one-hot. Missing masks are
    drawn: `focusedcleaner.io.masks.with_masks`.

    Args:
        data: the data.
        split: of masks with several columns, the one to use.
        seed: of what is drawn.
    """
    with prefix_errors("the PyG data"):
        return _graph(data.to_dict(), split, seed, "the PyG data")


def from_hetero(edges: HeteroEdges, *, split: int | None = None, seed: int = 0) -> Graph:
    """Convert the nodes and edges of one edge type; the other arguments are those of `from_pyg`.

    An edge type between nodes of one type is read as a `Data` would be. Between two types, only the edges are read: the
    graph has the sources first, then the targets, with names such as "user 3", and the two types in its notes.
    """
    source, _, target = edges.edge_type
    where = f"the edge type {readable(repr(edges.edge_type), 200)}"
    stored = edges.data[edges.edge_type].to_dict()
    with prefix_errors(where):
        if not edges.bipartite:
            return _graph({**edges.data[source].to_dict(), **stored}, split, seed, where)
        if split is not None:
            raise InputError("split chooses a column of masks, which are not read where nodes are of two types")
        sizes = edges.num_nodes(0), edges.num_nodes(2)
        pairs = edges.graph_ends(edges.edge_type).T
        simple = simple_edges(pairs, sum(sizes), source=where, both_ways=False, weights=read_edges(stored)[1])
        names = [
            f"{kind} {number}" for kind, size in zip((source, target), sizes, strict=True) for number in range(size)
        ]
        notes = {"source_column": source, "target_column": target}
        return Graph(sum(sizes), simple, names=checked_names(names), notes=notes)


def _graph(stored: Mapping[str, Any], split: int | None, seed: int, source: str) -> Graph:
    """The graph of the tensors of one node type and one edge type."""
    ends, weights = read_edges(stored)
    num_nodes = _num_nodes(stored, ends)
    edges = simple_edges(ends.T, num_nodes, source=source, both_ways=True, weights=weights)
    metadata = stored.get(METADATA) or {}
    labels, class_names = None, checked_texts(metadata.get("class_names"), "class name")
    if stored.get("y") is not None:
        labels, class_names = numbered_classes(to_numpy(stored["y"]), class_names)
    graph = Graph(
        num_nodes,
        edges,
        attributes=None if stored.get("x") is None else _attributes(stored["x"]),
        labels=labels,
        names=checked_names(stored.get("node_names")),
        class_names=class_names,
        attribute_names=checked_texts(metadata.get("attribute_names"), "attribute name"),
        notes=metadata.get("notes", {}),
    )
    return with_masks(graph, read_masks(stored, num_nodes, split), seed, source=source)


def _num_nodes(stored: Mapping[str, Any], ends: IntArray) -> int:
    """N, which is inferred from the other tensors if `num_nodes` is not set."""
    if (shape := matrix_shape(stored)) is not None:
        if shape[0] != shape[1]:
            raise InputError(f"adj_t must be square, not {shape[0]} × {shape[1]}")
        return shape[0]
    number = _stored_count(stored)
    return int(ends.max(initial=-1)) + 1 if number is None else number


def _stored_count(stored: Mapping[str, Any]) -> int | None:
    """The number of nodes, as `num_nodes` or another tensor says; None if none does."""
    if stored.get("num_nodes") is not None:
        return int(stored["num_nodes"])
    for name in ("x", "y", *(f"{part}_mask" for part in PARTS)):
        if stored.get(name) is not None:
            return int(stored[name].shape[0])
    return None


def to_pyg(graph: Graph, *, sparse: bool = False) -> Data:
    """Convert to a PyG `Data`: `edge_index` (2 × 2E, both directions), `x` (N × F), `y` (N, −1 unknown) and masks.

    Args:
        graph: the graph.
        sparse: whether `x` is a sparse tensor. It is float32 if that changes no value, else float64.
    """
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PyG's own use of torch, on first import
        from torch_geometric.data import Data

    adjacency = graph.adjacency().tocoo()
    data = Data(edge_index=torch.from_numpy(np.stack([adjacency.row, adjacency.col]).astype(np.int64)))
    data.num_nodes = graph.num_nodes
    if graph.attributes is not None:
        exact = narrowed(graph.attributes)
        data.x = _sparse_tensor(exact) if sparse else torch.from_numpy(exact.toarray())
    if graph.labels is not None:
        data.y = torch.tensor(graph.labels)
    if graph.split is not None:
        for part, nodes in zip(PARTS, graph.split.parts, strict=True):
            data[f"{part}_mask"] = torch.from_numpy(np.isin(np.arange(graph.num_nodes), nodes))
    if graph.names is not None:
        data.node_names = list(graph.names)
    names = {"class_names": graph.class_names, "attribute_names": graph.attribute_names}
    data[METADATA] = {**names, "notes": dict(graph.notes)}  # one dict: PyG would take a tuple of length N for node data
    return data


def _attributes(x: torch.Tensor) -> sp.csr_array:
    import torch

    if x.ndim != 2:
        raise InputError(f"x must be N × F, not of shape {tuple(x.shape)}")
    if x.layout == torch.strided:
        return sp.csr_array(to_numpy(x).astype(np.float64))
    entries = x.detach().to_sparse_coo().coalesce()
    row, col = to_numpy(entries.indices())
    return sp.csr_array((to_numpy(entries.values()).astype(np.float64), (row, col)), shape=tuple(x.shape))


def _sparse_tensor(matrix: sp.csr_array) -> torch.Tensor:
    import torch

    entries = matrix.tocoo()
    positions = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))
    return torch.sparse_coo_tensor(positions, torch.tensor(entries.data), entries.shape, check_invariants=True)
