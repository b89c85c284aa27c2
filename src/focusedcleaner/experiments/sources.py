"""From a source to a graph: data sets, published splits, published poison."""

from __future__ import annotations

import os
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

from focusedcleaner import datasets
from focusedcleaner.datasets.published import DATA, cache_folder
from focusedcleaner.errors import InputError
from focusedcleaner.experiments.cells import Poison, Source
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io import load_adjacency, load_split
from focusedcleaner.io.convert import from_scipy
from focusedcleaner.io.disk import checksum

SYNTHETIC = "synthetic-"
"""A data set of this name and a number is a small graph with so many nodes, which needs no file."""
_SPLITS = {"authors": "authors/{}_splits.json", "prognn": "prognn/{}_prognn_splits.json"}
_WHOSE = {"authors": "the FocusedCleaner authors' repository", "prognn": "github.com/ChandlerBang/Pro-GNN, folder meta"}


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
        raise InputError(f"there is no split {source.split!r}; there are authors, prognn and random NUMBER")
    path = _published_file(_SPLITS[kind].format(source.data), _WHOSE[kind])
    return graph.with_split(load_split(path, num_nodes=graph.num_nodes))


@lru_cache(maxsize=32)
def published_graph(poison: Poison) -> Graph:
    """The graph that Pro-GNN's authors poisoned with METTACK."""
    clean = clean_graph(poison.origin)
    path = _published_file(f"prognn/{poison.origin.data}_meta_adj_{poison.power:g}.npz", _WHOSE["prognn"])
    attacked = from_scipy(load_adjacency(path), attributes=clean.attributes, labels=clean.labels, split=clean.split)
    if attacked.num_nodes != clean.num_nodes:
        raise InputError(f"{path}: has {attacked.num_nodes:,} nodes, but {poison.origin.data} {clean.num_nodes:,}")
    return attacked


@lru_cache(maxsize=8)
def _without_split(data: str) -> Graph:
    if not data.startswith(SYNTHETIC):
        return datasets.load(data)
    size = data.removeprefix(SYNTHETIC)
    if not size.isdecimal() or int(size) < 50:
        raise InputError(f"a synthetic data set is named {SYNTHETIC}300, with at least 50 nodes, not {data!r}")
    return datasets.synthetic(int(size), homophily=0.85, seed=0, with_split=False).largest_component()


def _published_file(name: str, whose: str) -> Path:
    """A file in the data folder or in the cache, its checksum verified; it is not downloaded."""
    folder = os.environ.get(DATA)
    places = [Path(folder).expanduser()] if folder else []
    for path in (place / name for place in (*places, cache_folder())):
        if path.is_file():
            if checksum(path) != _checksums().get(name):
                raise InputError(f"{path} is not the published file: its SHA-256 is another one")
            return path
    raise InputError(
        f"{name} is in no folder that {DATA} names and not in the cache {cache_folder()}: get it from {whose}"
    )


@cache
def _checksums() -> dict[str, str]:
    text = (files("focusedcleaner.experiments") / "data" / "files.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text)["sha256"])
