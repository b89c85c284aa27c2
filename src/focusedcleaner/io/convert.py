"""Graphs as other libraries hold them: scipy, PyTorch Geometric, NetworkX. There and back, nothing is lost."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray, Split
from focusedcleaner.io.disk import prefix_errors
from focusedcleaner.io.networkx import ABOUT, from_networkx, to_networkx
from focusedcleaner.io.simplify import PARTS, adjacency_edges, narrowed, simple_edges, whole_labels

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data

__all__ = ["ScipyGraph", "as_graph", "from_networkx", "from_pyg", "from_scipy", "to_networkx", "to_pyg", "to_scipy"]


def as_graph(data: Any) -> Graph:
    """Return a `Graph` as it is, and convert PyG `Data`, a NetworkX graph or a scipy adjacency to one."""
    if isinstance(data, Graph):
        return data
    if sp.issparse(data):
        return from_scipy(data)
    if hasattr(data, "edge_index"):
        return from_pyg(data)
    if hasattr(data, "adjacency") and hasattr(data, "nodes"):
        return from_networkx(data)
    raise InputError(f"a graph must be a Graph, PyG Data, NetworkX graph or scipy matrix, not {type(data).__name__}")


# scipy ---------------------------------------------------------------------------------------------------------------


class ScipyGraph(TypedDict):
    """A graph's parts, as `from_scipy` takes them."""

    adjacency: sp.csr_array
    attributes: sp.csr_array | None
    labels: IntArray | None
    split: Split | None
    names: tuple[Hashable, ...] | None
    class_names: tuple[str, ...] | None
    attribute_names: tuple[str, ...] | None
    notes: Mapping[str, str]


def from_scipy(
    adjacency: Any,
    *,
    attributes: Any = None,
    labels: ArrayLike | None = None,
    split: Split | None = None,
    names: Sequence[Hashable] | None = None,
    class_names: Sequence[str] | None = None,
    attribute_names: Sequence[str] | None = None,
    notes: Mapping[str, str] | None = None,
) -> Graph:
    """Make a graph of an N × N adjacency, sparse or dense, an N × F attribute matrix and N labels (−1 or NaN: unknown).

    >>> from_scipy([[0, 1, 0], [1, 0, 1], [0, 1, 0]], labels=[0, 0, 1]).edges
    array([[0, 1],
           [1, 2]])
    """
    num_nodes, edges = adjacency_edges(adjacency, source="the adjacency")
    return Graph(
        num_nodes,
        edges,
        attributes=attributes,
        labels=None if labels is None else whole_labels(labels),
        split=split,
        names=None if names is None else tuple(names),
        class_names=None if class_names is None else tuple(class_names),
        attribute_names=None if attribute_names is None else tuple(attribute_names),
        notes=notes or {},
    )


def to_scipy(graph: Graph) -> ScipyGraph:
    """Give a graph's parts, the adjacency symmetric and 0/1: ``from_scipy(**to_scipy(graph)) == graph``."""
    return ScipyGraph(
        adjacency=graph.adjacency(),
        attributes=graph.attributes,
        labels=graph.labels,
        split=graph.split,
        names=graph.names,
        class_names=graph.class_names,
        attribute_names=graph.attribute_names,
        notes=graph.notes,
    )


# PyTorch Geometric ---------------------------------------------------------------------------------------------------


def from_pyg(data: Data) -> Graph:
    """Make a graph of a PyG `Data` with `edge_index` (2 × M) and, where they are there, `x`, `y` and the three masks.

    `edge_weight` is read too; other edge data are not.
    """
    stored: dict[str, Any] = data.to_dict()
    with prefix_errors("the PyG data"):
        ends, num_nodes = _edge_index(stored)
        weights = stored.get("edge_weight")
        edges = simple_edges(
            ends,
            num_nodes,
            source="the PyG data",
            both_ways=True,
            weights=None if weights is None else _numpy(weights).reshape(-1),
        )
        about = stored.get(ABOUT) or {}
        return Graph(
            num_nodes,
            edges,
            attributes=None if stored.get("x") is None else _attributes_of_x(stored["x"]),
            labels=None if stored.get("y") is None else whole_labels(_numpy(stored["y"])),
            split=_split_of_masks(stored, num_nodes),
            names=None if stored.get("node_names") is None else tuple(stored["node_names"]),
            class_names=about.get("class_names"),
            attribute_names=about.get("attribute_names"),
            notes=about.get("notes", {}),
        )


def to_pyg(graph: Graph, *, sparse: bool = False) -> Data:
    """Make a PyG `Data`: `edge_index` (2 × 2E, both directions), `x` (N × F), `y` (N, −1 unknown) and masks.

    Args:
        graph: the graph.
        sparse: whether `x` is a sparse tensor. It is float32 where that changes no value, float64 otherwise.
    """
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PyG's own, of torch, when it is first imported
        from torch_geometric.data import Data

    both = graph.adjacency().tocoo()
    data = Data(edge_index=torch.from_numpy(np.stack([both.row, both.col]).astype(np.int64)))
    data.num_nodes = graph.num_nodes
    if graph.attributes is not None:
        data.x = _tensor(graph.attributes, sparse=sparse)
    if graph.labels is not None:
        data.y = torch.tensor(graph.labels)
    if graph.split is not None:
        for part in PARTS:
            mask = torch.zeros(graph.num_nodes, dtype=torch.bool)
            mask[torch.tensor(getattr(graph.split, part))] = True
            data[f"{part}_mask"] = mask
    if graph.names is not None:
        data.node_names = list(graph.names)
    # In one dict: PyG takes a tuple that happens to have N members for node data.
    data[ABOUT] = {
        "class_names": graph.class_names,
        "attribute_names": graph.attribute_names,
        "notes": dict(graph.notes),
    }
    return data


def _numpy(tensor: torch.Tensor) -> Any:
    array = tensor.detach().cpu()
    return (array.double() if array.dtype.is_floating_point else array).numpy()


def _edge_index(stored: dict[str, Any]) -> tuple[IntArray, int]:
    """Read the M × 2 ends and N, which PyG may leave to be guessed from what there is."""
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


def _attributes_of_x(x: torch.Tensor) -> sp.csr_array:
    import torch

    if x.ndim != 2:
        raise InputError(f"x must be N × F, not of shape {tuple(x.shape)}")
    if x.layout == torch.strided:
        return sp.csr_array(_numpy(x).astype(np.float64))
    entries = x.detach().to_sparse_coo().coalesce()
    row, col = _numpy(entries.indices())
    return sp.csr_array((_numpy(entries.values()).astype(np.float64), (row, col)), shape=tuple(x.shape))


def _tensor(matrix: sp.csr_array, *, sparse: bool) -> torch.Tensor:
    import torch

    exact = narrowed(matrix)
    if not sparse:
        return torch.from_numpy(exact.toarray())
    entries = exact.tocoo()
    places = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))
    return torch.sparse_coo_tensor(places, torch.tensor(entries.data), entries.shape, check_invariants=True)


def _split_of_masks(stored: dict[str, Any], num_nodes: int) -> Split | None:
    """Read the three masks; where one is there, one that is not selects nobody."""
    masks = {part: stored.get(f"{part}_mask") for part in PARTS}
    if all(mask is None for mask in masks.values()):
        return None
    parts = []
    for part, mask in masks.items():
        if mask is not None and mask.ndim != 1:
            raise InputError(f"{part}_mask has {mask.shape[-1]} columns, one a split: choose one of them")
        chosen = np.zeros(num_nodes, dtype=bool) if mask is None else _numpy(mask)
        if chosen.dtype != np.bool_ or len(chosen) != num_nodes:
            raise InputError(f"{part}_mask must be true or false for each of {num_nodes} nodes")
        parts.append(np.flatnonzero(chosen))
    return Split(*parts)
