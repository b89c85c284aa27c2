"""Sanitation as a transform of PyTorch Geometric."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch

from focusedcleaner.budget import Budget
from focusedcleaner.errors import InputError
from focusedcleaner.graph import BoolArray, Graph, IntArray
from focusedcleaner.io.convert import from_pyg
from focusedcleaner.sanitizers import sanitizer

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PyG's own, of torch, when it is first imported
    from torch_geometric.data import Data
    from torch_geometric.transforms import BaseTransform

__all__ = ["Sanitize"]


class Sanitize(BaseTransform):
    """Removes the edges that an attacker most likely planted.

    The result is a copy in which both directions of the removed edges are gone from `edge_index`, and their rows from
    `edge_attr`, `edge_weight` and whatever else belongs to edges. `removed_edge_index` (2 × R) holds the removed edges
    once each, the most suspicious first. A method that inserts edges (gasoline) puts both directions of these at the
    end of `edge_index` and lists them in `added_edge_index`; it takes no data whose edges have attributes.

    Args:
        method: a sanitizer's name, as `focusedcleaner.sanitizer` takes it.
        budget: how many undirected edges may go: 500, 0.1, "10%" or "auto"; None for the method's default.
        seed: fixes whatever is random.
        **settings: of the method, such as ``tau``.

    >>> from focusedcleaner.io.convert import to_pyg
    >>> from focusedcleaner.datasets import synthetic
    >>> data = to_pyg(synthetic(num_nodes=200, seed=0))
    >>> cleaned = Sanitize("cld", budget=0.05)(data)
    >>> data.num_edges, cleaned.num_edges, cleaned.removed_edge_index.shape
    (800, 760, torch.Size([2, 20]))
    """

    def __init__(self, method: str = "cld", budget: Budget | None = None, seed: int = 0, **settings: object) -> None:
        self.method, self.budget, self.seed, self.settings = method, budget, seed, settings
        self._sanitizer = sanitizer(method, **settings)

    def forward(self, data: Any) -> Data:
        _check(data)
        if self._sanitizer.inserts and any(data.is_edge_attr(key) for key in data.to_dict() if key != "edge_index"):
            raise InputError(f"{self.method} inserts edges, but the data's edges have attributes that new ones lack")
        graph = from_pyg(data)
        sanitation = self._sanitizer.sanitize(graph, self.budget, seed=self.seed)
        device = data.edge_index.device
        kept = torch.from_numpy(~_among(data.edge_index.cpu().numpy(), graph, sanitation.removed)).to(device)
        cleaned = data.edge_subgraph(kept)
        cleaned.removed_edge_index = torch.from_numpy(sanitation.removed.T.copy()).to(device)
        if self._sanitizer.inserts:
            cleaned.added_edge_index = torch.from_numpy(sanitation.added.T.copy()).to(device)
            both = torch.cat([cleaned.added_edge_index, cleaned.added_edge_index.flip(0)], 1)
            cleaned.edge_index = torch.cat([cleaned.edge_index, both], 1)
        return cleaned

    def __repr__(self) -> str:
        given = {"budget": self.budget, "seed": self.seed, **self.settings}
        return f"Sanitize({self.method!r}, {', '.join(f'{key}={value!r}' for key, value in given.items())})"


def _check(data: Any) -> None:
    if not isinstance(data, Data):
        raise InputError(f"Sanitize works on a PyG Data, not on {type(data).__name__}")
    for needed, why in (("edge_index", "edges"), ("y", "labels"), ("train_mask", ""), ("val_mask", "")):
        if data.get(needed) is None:
            raise InputError(f"Sanitize needs {why or 'a split'}: the data has no {needed}")


def _among(edge_index: IntArray, graph: Graph, removed: IntArray) -> BoolArray:
    """Which columns of ``edge_index`` (2 × M) are removed edges, in either direction."""
    low, high = np.sort(edge_index, axis=0)
    gone: BoolArray = np.isin(low * graph.num_nodes + high, removed[:, 0] * graph.num_nodes + removed[:, 1])
    return gone
