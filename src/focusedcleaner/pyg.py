"""Sanitation as a transform of PyTorch Geometric."""

from __future__ import annotations

import logging
import warnings
from typing import Any

from focusedcleaner.api import sanitize
from focusedcleaner.budget import Budget
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count
from focusedcleaner.sanitizers import AUTO, sanitizer

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # torch's, raised while torch_geometric is imported
    from torch_geometric.data import Data
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

    Args:
        method: a sanitizer's name, or "auto": the same rule as `focusedcleaner.sanitize` and the command line.
        budget: how many undirected edges may be removed: 500, 0.1, "10%" or "auto"; None for the method's default.
        seed: fixes everything random.
        **settings: the method's settings, such as ``tau``.

    >>> from focusedcleaner.datasets import synthetic
    >>> from focusedcleaner.io.convert import to_pyg
    >>> data = to_pyg(synthetic(num_nodes=200, seed=0))
    >>> cleaned = Sanitize("cld", budget=0.05)(data)
    >>> data.num_edges, cleaned.num_edges, cleaned.removed_edge_index.shape
    (800, 760, torch.Size([2, 20]))
    """

    def __init__(self, method: str = AUTO, budget: Budget | None = None, seed: int = 0, **settings: Any) -> None:
        self.method, self.budget, self.seed, self.settings = method, budget, seed, settings
        if method != AUTO:
            sanitizer(method, **settings)  # refuses a wrong setting before the pipeline starts

    def forward(self, data: Any) -> Data:
        if not isinstance(data, Data):
            raise InputError(f"Sanitize works on a PyG Data, not on {type(data).__name__}")
        result = sanitize(data, self.method, self.budget, seed=self.seed, **self.settings)
        level = logging.INFO if result.verdict.status in ("poisoned", "no sign") else logging.WARNING
        removed = f"{len(result.removed):,} of {count(result.poisoned.num_edges, 'edge')} removed"
        _LOG.log(level, "%s", " ".join(filter(None, (f"{result.headline}; {removed}.", result.verdict.explanation))))
        return result.data

    def __repr__(self) -> str:
        arguments = {"budget": self.budget, "seed": self.seed, **self.settings}
        return f"Sanitize({self.method!r}, {', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
