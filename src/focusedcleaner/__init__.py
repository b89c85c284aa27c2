"""Finds and removes the edges that an attacker planted in a graph.

>>> import focusedcleaner
>>> from focusedcleaner.datasets import synthetic
>>> sanitation = focusedcleaner.sanitizer("cld").sanitize(synthetic(200), budget="5%")
>>> sanitation.graph
Graph(200 nodes, 380 edges, 5 classes, 200 attributes)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from focusedcleaner.graph import Graph, Split
    from focusedcleaner.io import load_graph, save_graph
    from focusedcleaner.sanitizers import FocusedCleaner, Sanitation, sanitizer

    __version__: str

__all__ = ["FocusedCleaner", "Graph", "Sanitation", "Split", "__version__", "load_graph", "sanitizer", "save_graph"]

_HOMES = {
    "FocusedCleaner": "sanitizers",
    "Graph": "graph",
    "Sanitation": "sanitizers",
    "Split": "graph",
    "load_graph": "io",
    "sanitizer": "sanitizers",
    "save_graph": "io",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for: torch takes seconds, and help and errors can do without."""
    if name == "__version__":
        from importlib.metadata import version

        return version("focusedcleaner")
    if name in _HOMES:
        return getattr(import_module(f"focusedcleaner.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'focusedcleaner' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, "__version__"])
