"""The graphs of cells: data sets with published splits, published poison, and graphs rebuilt from earlier results."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from focusedcleaner import datasets
from focusedcleaner.attacks.base import added_and_removed
from focusedcleaner.budget import edges_allowed
from focusedcleaner.datasets.published import DATA, cache_folder
from focusedcleaner.errors import InputError
from focusedcleaner.experiments.cells import SYNTHETIC, Arrays, Cell, Poison, Pruning, Sanitation, Source
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io import load_adjacency, load_split
from focusedcleaner.io.convert import from_scipy
from focusedcleaner.io.disk import checksum

ArraysOf = Callable[[Cell], Arrays]
"""Returns the arrays of a computed cell."""
_SPLITS = {"authors": "authors/{}_splits.json", "prognn": "prognn/{}_prognn_splits.json"}
_ORIGIN = {"authors": "the FocusedCleaner authors' repository", "prognn": "github.com/ChandlerBang/Pro-GNN"}


def cell_graph(cell: Poison | Sanitation | Pruning, arrays: ArraysOf) -> Graph:
    """The graph that an attack or a sanitation produced."""
    if not isinstance(cell, Poison):
        changes = arrays(cell)
        graph = cell_graph(cell.graph, arrays).without_edges(changes["removed"])
        return graph.with_edges(changes["added"]) if len(changes.get("added", ())) else graph
    clean = clean_graph(cell.source)
    if not cell.computed:
        return clean if cell.method == "none" else published_graph(cell)
    flips = arrays(cell.full_run)["flips"].astype("int64").reshape(-1, 2)
    if cell.full_run != cell:
        flips = flips[: edges_allowed(cell.power, clean.num_edges, what="power")]
    added, removed = added_and_removed(clean, flips)
    return clean.without_edges(removed).with_edges(added)


@lru_cache(maxsize=64)
def clean_graph(source: Source) -> Graph:
    """The clean graph with its split.

    >>> clean_graph(Source("synthetic-100", "random 0")).split.train[:3]
    array([ 5, 20, 36])
    """
    graph = _without_split(source.data)
    kind, _, number = source.split.partition(" ")
    if kind == "random":
        assert graph.labels is not None
        return graph.with_split(Split.random(graph.labels, seed=int(number or 0)))
    if kind not in _SPLITS:
        raise InputError(f"there is no split {source.split!r}; the splits are authors, prognn and random NUMBER")
    path = _published_file(_SPLITS[kind].format(source.data), _ORIGIN[kind])
    return graph.with_split(load_split(path, num_nodes=graph.num_nodes))


@lru_cache(maxsize=32)
def published_graph(poison: Poison) -> Graph:
    """The graph that Pro-GNN's authors poisoned with METTACK."""
    clean, data = clean_graph(poison.source), poison.source.data
    path = _published_file(f"prognn/{data}_meta_adj_{poison.power:g}.npz", _ORIGIN["prognn"])
    poisoned = from_scipy(load_adjacency(path), attributes=clean.attributes, labels=clean.labels, split=clean.split)
    if poisoned.num_nodes != clean.num_nodes:
        raise InputError(f"{path}: has {poisoned.num_nodes:,} nodes, but {data} has {clean.num_nodes:,}")
    return poisoned


@lru_cache(maxsize=8)
def _without_split(data: str) -> Graph:
    if not data.startswith(SYNTHETIC):
        return datasets.load(data)
    size = data.removeprefix(SYNTHETIC)
    if not size.isdecimal() or int(size) < 50:
        raise InputError(f"a synthetic data set is named {SYNTHETIC}300, with at least 50 nodes, not {data!r}")
    return datasets.synthetic(int(size), homophily=0.85, seed=0, with_split=False).largest_component()


def _published_file(name: str, origin: str) -> Path:
    """A file in the data folder or in the cache, with its checksum verified; it is not downloaded."""
    folder = os.environ.get(DATA)
    folders = [*([Path(folder).expanduser()] if folder else []), cache_folder()]
    path = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if path is None:
        searched = f"neither in the folder {DATA} nor in the cache {cache_folder()}"
        raise InputError(f"{name} is {searched}: get it from {origin}")
    known = tomllib.loads((files("focusedcleaner.experiments") / "data" / "files.toml").read_text(encoding="utf-8"))
    if checksum(path) != known["sha256"].get(name):
        raise InputError(f"{path} is not the published file: its SHA-256 differs")
    return path
