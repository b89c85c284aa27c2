"""Conversions from and to scipy, PyTorch Geometric and NetworkX; converting back returns an equal graph.

Classes without a node are the exception: `focusedcleaner.io.simplify.numbered_classes`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io.networkx import from_networkx, to_networkx
from focusedcleaner.io.node_text import checked_names
from focusedcleaner.io.pyg import HeteroEdges, from_hetero, from_pyg, to_pyg
from focusedcleaner.io.simplify import adjacency_edges, numbered_classes

__all__ = ["as_graph", "from_networkx", "from_pyg", "from_scipy", "to_networkx", "to_pyg", "to_scipy"]


def as_graph(data: Any, *, split: int | None = None, seed: int = 0) -> Graph:
    """Convert a PyG `Data`, a NetworkX graph or an N × N adjacency (scipy or numpy); a `Graph` is returned as it is.

    Labels and attributes that belong to a matrix come with it in a mapping, as `to_scipy` returns one. Of a PyG
    `HeteroData`, one edge type is a graph: `focusedcleaner.io.pyg.HeteroEdges`.

    Args:
        data: the object.
        split: of PyG masks with several columns, the one to use.
        seed: of what is drawn where PyG masks are missing.

    >>> as_graph(sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    Graph(3 nodes, 2 edges, 0 classes, 0 attributes)
    >>> as_graph([[0, 1]])
    Traceback (most recent call last):
    focusedcleaner.errors.InputError: a graph must be a Graph, a PyG Data, a NetworkX graph, ... not list
    """
    if isinstance(data, HeteroEdges):
        return from_hetero(data, split=split, seed=seed)
    if _is_hetero(data):
        return as_graph(HeteroEdges.of(data, None))
    if _is_instance(data, "torch_geometric.data", "Data"):
        return from_pyg(data, split=split, seed=seed)
    if split is not None:
        raise InputError("split chooses a column of PyG masks: leave it out for other graphs")
    if isinstance(data, Graph):
        return data
    if _is_instance(data, "networkx", "Graph"):
        return from_networkx(data)
    if sp.issparse(data) or isinstance(data, np.ndarray):
        return from_scipy(data)
    if isinstance(data, Mapping) and "adjacency" in data:
        return from_scipy(**data)
    kinds = "a Graph, a PyG Data, a NetworkX graph, a square scipy or numpy matrix or a mapping with one as 'adjacency'"
    raise InputError(f"a graph must be {kinds}, not {type(data).__name__}")


def one_edge_type(data: Any, edge_type: Sequence[str] | None) -> Any:
    """One edge type of a PyG `HeteroData`; anything else is returned as it is, and has no edge types."""
    if _is_hetero(data):
        return HeteroEdges.of(data, edge_type)
    if edge_type is not None:
        raise InputError(f"edge_type is for a PyG HeteroData, and this is a {type(data).__name__}: leave it out")
    return data


def _is_hetero(data: Any) -> bool:
    return _is_instance(data, "torch_geometric.data", "HeteroData")


def _is_instance(value: object, module: str, name: str) -> bool:
    """`isinstance` that does not import the module: without it, there are no instances."""
    return isinstance(value, getattr(sys.modules.get(module), name, ()))


def from_scipy(adjacency: Any, *, labels: ArrayLike | None = None, **parts: Any) -> Graph:
    """Convert an N × N adjacency, sparse or dense.

    Args:
        adjacency: the matrix.
        labels: N class numbers, −1 or NaN where unknown; if numbers are left out, those in use become class names.
        **parts: `attributes` (N × F), `split` and whatever else `Graph` takes.

    >>> from_scipy([[0, 1, 0], [1, 0, 1], [0, 1, 0]], labels=[0, 0, 1]).edges
    array([[0, 1],
           [1, 2]])
    """
    num_nodes, edges = adjacency_edges(adjacency, source="the adjacency")
    parts["names"] = checked_names(parts.get("names"))
    if labels is not None:
        labels, parts["class_names"] = numbered_classes(labels, parts.get("class_names"))
    return Graph(num_nodes, edges, labels=labels, **parts)


def to_scipy(graph: Graph) -> dict[str, Any]:
    """The symmetric 0/1 adjacency and the other parts by name: ``from_scipy(**to_scipy(graph)) == graph``."""
    names = ("attributes", "labels", "split", "names", "class_names", "attribute_names", "notes")
    return {"adjacency": graph.adjacency(), **{name: getattr(graph, name) for name in names}}
