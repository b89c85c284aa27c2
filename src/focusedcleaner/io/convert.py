"""Conversions from and to scipy, PyTorch Geometric and NetworkX; converting back returns an equal graph.

Classes without a node are the exception: `focusedcleaner.io.simplify.numbered_classes`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.graph import PARTS, Graph, IntArray, Split
from focusedcleaner.io.networkx import METADATA, from_networkx, to_networkx
from focusedcleaner.io.node_text import checked_names, checked_texts
from focusedcleaner.io.simplify import adjacency_edges, narrowed, numbered_classes, simple_edges

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data

__all__ = ["as_graph", "from_networkx", "from_pyg", "from_scipy", "to_networkx", "to_pyg", "to_scipy"]


def as_graph(data: Any) -> Graph:
    """Convert a PyG `Data`, a NetworkX graph or an N × N adjacency (scipy or numpy); a `Graph` is returned as it is.

    Labels and attributes that belong to a matrix come with it in a mapping, as `to_scipy` returns one.

    >>> as_graph(sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    Graph(3 nodes, 2 edges, 0 classes, 0 attributes)
    >>> as_graph([[0, 1]])
    Traceback (most recent call last):
    focusedcleaner.errors.InputError: a graph must be a Graph, a PyG Data, a NetworkX graph, ... not list
    """
    if isinstance(data, Graph):
        return data
    if _is_instance(data, "torch_geometric.data", "Data"):
        return from_pyg(data)
    if _is_instance(data, "networkx", "Graph"):
        return from_networkx(data)
    if sp.issparse(data) or isinstance(data, np.ndarray):
        return from_scipy(data)
    if isinstance(data, Mapping) and "adjacency" in data:
        return from_scipy(**data)
    kinds = "a Graph, a PyG Data, a NetworkX graph, a square scipy or numpy matrix or a mapping with one as 'adjacency'"
    raise InputError(f"a graph must be {kinds}, not {type(data).__name__}")


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


def from_pyg(data: Data) -> Graph:
    """Convert a PyG `Data` with `edge_index` (2 × M) and, if present, `x`, `y` and the three masks.

    `edge_weight` is read too; other edge data are not.
    """
    stored: dict[str, Any] = data.to_dict()
    with prefix_errors("the PyG data"):
        ends, num_nodes = _edge_index(stored)
        weights = None if stored.get("edge_weight") is None else _numpy(stored["edge_weight"]).reshape(-1)
        edges = simple_edges(ends, num_nodes, source="the PyG data", both_ways=True, weights=weights)
        metadata = stored.get(METADATA) or {}
        labels, class_names = None, checked_texts(metadata.get("class_names"), "class name")
        if stored.get("y") is not None:
            labels, class_names = numbered_classes(_numpy(stored["y"]), class_names)
        return Graph(
            num_nodes,
            edges,
            attributes=None if stored.get("x") is None else _attributes(stored["x"]),
            labels=labels,
            split=_split(stored, num_nodes),
            names=checked_names(stored.get("node_names")),
            class_names=class_names,
            attribute_names=checked_texts(metadata.get("attribute_names"), "attribute name"),
            notes=metadata.get("notes", {}),
        )


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


def _numpy(tensor: torch.Tensor) -> Any:
    array = tensor.detach().cpu()
    return (array.double() if array.dtype.is_floating_point else array).numpy()


def _edge_index(stored: dict[str, Any]) -> tuple[IntArray, int]:
    """The M × 2 ends and N, which is inferred from the other tensors if `num_nodes` is not set."""
    index = stored.get("edge_index")
    if index is None:
        raise InputError("it has no edge_index")
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.is_floating_point or index.dtype.is_complex:
        raise InputError(f"edge_index must be 2 × M whole numbers, not {index.dtype} of shape {tuple(index.shape)}")
    ends: IntArray = _numpy(index).astype(np.int64).T
    if stored.get("num_nodes") is not None:
        return ends, int(stored["num_nodes"])
    for name in ("x", "y", *(f"{part}_mask" for part in PARTS)):
        if stored.get(name) is not None:
            return ends, int(stored[name].shape[0])
    return ends, int(ends.max(initial=-1)) + 1


def _attributes(x: torch.Tensor) -> sp.csr_array:
    import torch

    if x.ndim != 2:
        raise InputError(f"x must be N × F, not of shape {tuple(x.shape)}")
    if x.layout == torch.strided:
        return sp.csr_array(_numpy(x).astype(np.float64))
    entries = x.detach().to_sparse_coo().coalesce()
    row, col = _numpy(entries.indices())
    return sp.csr_array((_numpy(entries.values()).astype(np.float64), (row, col)), shape=tuple(x.shape))


def _sparse_tensor(matrix: sp.csr_array) -> torch.Tensor:
    import torch

    entries = matrix.tocoo()
    positions = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))
    return torch.sparse_coo_tensor(positions, torch.tensor(entries.data), entries.shape, check_invariants=True)


def _split(stored: dict[str, Any], num_nodes: int) -> Split | None:
    """The split of the three masks; if one is present, a missing one selects no node."""
    parts: dict[str, Any] = dict.fromkeys(PARTS, ())
    masks = {part: stored[f"{part}_mask"] for part in PARTS if stored.get(f"{part}_mask") is not None}
    for part, mask in masks.items():
        if mask.ndim != 1:
            raise InputError(f"{part}_mask has {mask.shape[-1]} columns, one for each split: choose one of them")
        selected = _numpy(mask)
        if selected.dtype != np.bool_ or len(selected) != num_nodes:
            raise InputError(f"{part}_mask must be true or false for each of {num_nodes} nodes")
        parts[part] = np.flatnonzero(selected)
    return Split(**parts) if masks else None
