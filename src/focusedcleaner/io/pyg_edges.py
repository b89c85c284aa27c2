"""The edges of a PyG storage, as `edge_index` or as a sparse `adj_t`: read, selected and weighted.

A storage is a `Data` or what a `HeteroData` holds for one edge type.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import torch

Entries = tuple["torch.Tensor", "torch.Tensor", "torch.Tensor | None"]
"""Rows, columns and values of a sparse matrix, in the order in which it holds them."""


def to_numpy(tensor: torch.Tensor) -> Any:
    """The values of a tensor on any device; floating-point numbers become double."""
    array = tensor.detach().cpu()
    return (array.double() if array.dtype.is_floating_point else array).numpy()


def read_edges(stored: Mapping[str, Any]) -> tuple[IntArray, Any]:
    """The ends (2 × M: sources, targets) and the M weights, or None, of a storage's `edge_index` or `adj_t`."""
    index, weights = stored.get("edge_index"), stored.get("edge_weight")
    if index is None:
        if stored.get("adj_t") is None:
            raise InputError("it has no edge_index and no adj_t")
        targets, sources, values = _entries(stored["adj_t"])
        ends = np.stack([to_numpy(sources), to_numpy(targets)])
        weights = values if weights is None else weights
    elif index.ndim != 2 or index.shape[0] != 2 or index.dtype.is_floating_point or index.dtype.is_complex:
        raise InputError(f"edge_index must be 2 × M whole numbers, not {index.dtype} of shape {tuple(index.shape)}")
    else:
        ends = to_numpy(index)
    if weights is not None:
        weights = to_numpy(weights)
        if weights.size == ends.shape[1]:
            weights = weights.reshape(-1)
    return ends.astype(np.int64), weights


def matrix_shape(stored: Mapping[str, Any]) -> tuple[int, int] | None:
    """The shape of `adj_t`, targets × sources, where it holds the edges."""
    if stored.get("edge_index") is not None or stored.get("adj_t") is None:
        return None
    matrix = stored["adj_t"]
    rows, columns = matrix.sparse_sizes() if hasattr(matrix, "sparse_sizes") else matrix.shape[:2]
    return int(rows), int(columns)


def select_edges(store: Any, keys: Sequence[str], kept: BoolArray, parent: Any = None) -> None:
    """Drop edges from a storage, in place: from `edge_index` or `adj_t`, and from the edge tensors.

    Args:
        store: the storage, a copy of the user's.
        keys: the names of the values that have an entry per edge.
        kept: M values in the order of `read_edges`.
        parent: the `HeteroData` of a storage.
    """
    import torch
    from torch_geometric.utils import select

    if store.get("edge_index") is None:
        rows, columns, values = _entries(store["adj_t"])
        mask = torch.from_numpy(kept).to(rows.device)
        store["adj_t"] = _rebuilt(store["adj_t"], (rows[mask], columns[mask], None if values is None else values[mask]))
    for key in keys:
        value = store[key]
        dim = store.__cat_dim__(key, value) if parent is None else parent.__cat_dim__(key, value, store)
        if isinstance(value, np.ndarray):
            store[key] = np.compress(kept, value, dim)
        else:
            device = value.device if isinstance(value, torch.Tensor) else None
            store[key] = select(value, torch.from_numpy(kept).to(device), dim)


def insert_edges(store: Any, added: IntArray) -> None:
    """Append both directions of pairs (A × 2) to a storage's edges, in place; an entry of `adj_t` gets the value 1."""
    import torch

    pairs = torch.from_numpy(np.concatenate([added, added[:, ::-1]]).T.copy())
    if (index := store.get("edge_index")) is not None:
        store["edge_index"] = torch.cat([index, pairs.to(index)], 1)
        return
    rows, columns, values = _entries(store["adj_t"])
    pairs = pairs.to(rows)
    if values is not None:
        values = torch.cat([values, values.new_ones(pairs.shape[1], *values.shape[1:])])
    store["adj_t"] = _rebuilt(store["adj_t"], (torch.cat([rows, pairs[1]]), torch.cat([columns, pairs[0]]), values))


def weight_edges(store: Any, weights: FloatArray) -> None:
    """Multiply the weights of a storage's edges, in place; edges without weights get these, as float32.

    Args:
        store: the storage, a copy of the user's.
        weights: M factors in the order of `read_edges`.
    """
    import torch

    factors, given = torch.from_numpy(weights), store.get("edge_weight")
    if store.get("edge_index") is None:
        rows, columns, values = _entries(store["adj_t"])
        store["adj_t"] = _rebuilt(store["adj_t"], (rows, columns, _product(values, factors.to(rows.device))))
        if given is None:
            return
    else:
        factors = factors.to(store["edge_index"].device)
    store["edge_weight"] = _product(given, factors)


def _product(values: torch.Tensor | None, factors: torch.Tensor) -> torch.Tensor:
    """Weights times factors, as float32 unless the weights are of another floating-point type."""
    import torch

    if values is None:
        return factors.to(torch.float32)
    dtype = values.dtype if values.dtype.is_floating_point else torch.float32
    return (values.double() * factors.reshape(-1, *[1] * (values.ndim - 1))).to(dtype)


def _entries(matrix: Any) -> Entries:
    """The entries of torch_sparse's `SparseTensor`, or of a sparse tensor of any layout."""
    import torch

    if hasattr(matrix, "coo"):
        rows, columns, values = matrix.coo()
        return rows, columns, values
    if not isinstance(matrix, torch.Tensor) or matrix.layout == torch.strided or matrix.ndim < 2:
        raise InputError("adj_t must be a sparse matrix")
    listed = matrix.detach().to_sparse_coo()
    rows, columns = listed._indices()  # of an uncoalesced tensor, too
    return rows, columns, listed._values()


def _rebuilt(matrix: Any, entries: Entries) -> Any:
    """A matrix of the same kind, layout and shape with these entries."""
    import torch

    rows, columns, values = entries
    if hasattr(matrix, "coo"):
        return type(matrix)(row=rows, col=columns, value=values, sparse_sizes=matrix.sparse_sizes())
    assert values is not None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CS[RC] tensor support", UserWarning)  # torch's, once per process
        if matrix.layout == torch.sparse_csr:
            order = torch.argsort(rows * matrix.shape[1] + columns, stable=True)
            counts = torch.bincount(rows, minlength=matrix.shape[0])
            starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
            dtype = matrix.col_indices().dtype
            return torch.sparse_csr_tensor(
                starts.to(dtype), columns[order].to(dtype), values[order], matrix.shape, check_invariants=True
            )
        listed = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, matrix.shape, check_invariants=True)
        if matrix.layout == torch.sparse_coo:
            return listed.coalesce() if matrix.is_coalesced() else listed
        return listed.to_sparse(layout=matrix.layout)
