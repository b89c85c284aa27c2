"""Data sets of one's own, by name, beside the published ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from focusedcleaner.datasets import published
from focusedcleaner.datasets.download import Progress
from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.graph import Graph
from focusedcleaner.io.convert import as_graph
from focusedcleaner.registry import load_plugins

Loader = Callable[[], Any]
"""Returns a graph of any kind that `as_graph` takes."""
_LOADERS: dict[str, Loader] = {}


def register_dataset(name: str, loader: Loader) -> None:
    """Make a graph of your own available by name, to `load` and to the commands of the same process.

    Args:
        name: what `load` and a command take in place of a file.
        loader: called without arguments, each time the data set is loaded; returns a `Graph`, PyG `Data`, a NetworkX
            graph or a scipy adjacency.

    >>> from focusedcleaner.datasets import load, names, synthetic
    >>> register_dataset("small", lambda: synthetic(num_nodes=100))
    >>> load("small")
    Graph(100 nodes, 200 edges, 5 classes, 200 attributes)
    >>> names()
    ('cora', 'citeseer', 'polblogs', 'small')
    >>> del _LOADERS["small"]
    """
    if not name or not callable(loader):
        raise InputError("a data set needs a name and a function that returns its graph")
    if name in (*published.names(), *_LOADERS):
        raise InputError(f"there is already a data set {name!r}")
    _LOADERS[name] = loader


def registered_names() -> tuple[str, ...]:
    """The names that `register_dataset` added, in their order."""
    load_plugins()
    return tuple(_LOADERS)


def names() -> tuple[str, ...]:
    """The names that `load` takes: the published data sets, then the registered ones.

    >>> names()
    ('cora', 'citeseer', 'polblogs')
    """
    return *published.names(), *registered_names()


def load(name: str, *, progress: Progress | None = None) -> Graph:
    """Load a data set by name.

    A published one comes as the paper prepares it: undirected, no self-loops, the largest connected component. The file
    is taken from the folder that FOCUSEDCLEANER_DATA names, from the cache, or from the network, and its checksum is
    verified. Nodes are numbered in the order of the published file, which published splits and poisoned graphs refer
    to. The graph has no split. A registered one comes as its loader returns it.
    """
    if name in registered_names():
        with prefix_errors(name):
            return as_graph(_LOADERS[name]())
    if name not in published.names():
        raise InputError(f"there is no data set {name!r}; known are {', '.join(names())}")
    return published.load(name, progress=progress)
