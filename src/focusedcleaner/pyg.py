"""Sanitation as a transform of PyTorch Geometric."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from typing import Any

from focusedcleaner.api import run_sanitizer
from focusedcleaner.budget import Budget
from focusedcleaner.errors import InputError
from focusedcleaner.sanitizers import AUTO, check_offers, sanitizer

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # torch's, raised while torch_geometric is imported
    from torch_geometric.data import Data, HeteroData
    from torch_geometric.transforms import BaseTransform

__all__ = ["Sanitize"]

_LOG = logging.getLogger("focusedcleaner")


class Sanitize(BaseTransform):
    """Removes the edges that an attacker most likely planted.

    The result is a copy of the data. Both directions of the removed edges are gone from `edge_index`, and their rows
    from `edge_attr`, `edge_weight` and all other edge tensors. `removed_edge_index` (2 × R) holds the removed edges
    once each, the most suspicious first. A method that inserts edges (gasoline) appends both directions to
    `edge_index` and lists them in `added_edge_index`; it refuses data whose edges have attributes.

    The verdict goes to the log "focusedcleaner": as a warning if it is "uncertain" or "not suitable", since nothing is
    removed then unless a budget is given, and as information otherwise.

    With ``soft``, no edge is removed: `edge_weight` is 1 − the probability that an edge was planted, times the weight
    that it had. A `HeteroData` is cleaned in one edge type and its reverse. Data without `edge_index` keep the form of
    their `adj_t`; the removed edges are then in `removed_index`.

    Args:
        method: a sanitizer's name, or "auto": the same rule as `focusedcleaner.sanitize` and the command line.
        budget: how many undirected edges may be removed: 500, 0.1, "10%" or "auto"; None for the method's default.
        seed: fixes everything random.
        soft: weight edges instead of removing them, with a method that gives probabilities.
        split: of masks with several columns, the one to use.
        edge_type: of a `HeteroData`, the edge type to clean, such as ``("user", "rates", "item")``.
        **settings: the method's settings, such as ``tau``.

    >>> from focusedcleaner.datasets import synthetic
    >>> from focusedcleaner.io.convert import to_pyg
    >>> data = to_pyg(synthetic(num_nodes=200, seed=0))
    >>> cleaned = Sanitize("cld", budget=0.05)(data)
    >>> data.num_edges, cleaned.num_edges, cleaned.removed_edge_index.shape
    (800, 760, torch.Size([2, 20]))
    """

    def __init__(
        self,
        method: str = AUTO,
        budget: Budget | None = None,
        seed: int = 0,
        *,
        soft: bool = False,
        split: int | None = None,
        edge_type: Sequence[str] | None = None,
        **settings: Any,
    ) -> None:
        self.method, self.budget, self.seed, self.settings = method, budget, seed, settings
        self.soft, self.split, self.edge_type = soft, split, edge_type
        if method != AUTO:  # refuses what is wrong before the pipeline starts
            check_offers(sanitizer(method, **settings), soft=soft, budget=budget)

    def forward(self, data: Any) -> Data | HeteroData:
        """Clean the data; PyG's `BaseTransform` calls this with a copy."""
        if not isinstance(data, Data | HeteroData):
            raise InputError(f"Sanitize works on a PyG Data or HeteroData, not on {type(data).__name__}")
        result = run_sanitizer(
            data,
            self.method,
            self.budget,
            self.settings,
            seed=self.seed,
            soft=self.soft,
            split=self.split,
            edge_type=self.edge_type,
        )
        level = logging.INFO if result.status in ("poisoned", "no sign") else logging.WARNING
        _LOG.log(level, "%s", result.summary)
        return result.data

    def __repr__(self) -> str:
        arguments = {"budget": self.budget, "seed": self.seed}
        chosen = {"soft": self.soft or None, "split": self.split, "edge_type": self.edge_type}
        arguments |= {key: value for key, value in chosen.items() if value is not None} | self.settings
        return f"Sanitize({self.method!r}, {', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
