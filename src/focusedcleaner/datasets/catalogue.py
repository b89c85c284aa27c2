"""Which data sets are known: their sizes as the paper reports them, their checksums, and how they are prepared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph

Found = Literal["FOCUSEDCLEANER_DATA", "cache", "download"]
REPOSITORY = "danielzuegner/gnn-meta-attack"


@dataclass(frozen=True)
class DatasetInfo:
    """What is known about a named data set.

    Args:
        name: what it is called.
        num_nodes: N after preparation; the other sizes likewise.
        num_edges: E, each undirected edge once.
        num_classes: C.
        num_attributes: F, 0 where nodes have no attributes.
        sha256: of the file at ``path``, or of the file that would be downloaded.
        source: where the file comes from, for people.
        path: where the file is now, or None.
        found: the place that ``path`` is in; "download" where the file is not on this machine yet.
    """

    name: str
    num_nodes: int
    num_edges: int
    num_classes: int
    num_attributes: int
    sha256: str
    source: str = f"github.com/{REPOSITORY}, folder data"
    path: Path | None = None
    found: Found = "download"

    @property
    def filename(self) -> str:
        return f"{self.name}.npz"

    @property
    def sizes(self) -> str:
        """The four sizes in words."""
        return _in_words(self.num_nodes, self.num_edges, self.num_classes, self.num_attributes)


CATALOGUE = {
    entry.name: entry
    for entry in (
        DatasetInfo("cora", 2485, 5069, 7, 1433, "398a5c8f949a4f2a3c8fb248f777d2756c654de714762d6a18c04eaa19a96271"),
        DatasetInfo(
            "citeseer", 2110, 3668, 6, 3703, "36e9a5bbe84eaa0c3c6b226f8b27450bb79246a5df22c375b3bacddb856efa8e"
        ),
        DatasetInfo("polblogs", 1222, 16714, 2, 0, "cd0983c2b1caa3bbe2703a4e316f97bb1dccd33f98800d3d8e4bbe51cc86941b"),
    )
}


def names() -> tuple[str, ...]:
    """The data sets that can be loaded by name.

    >>> names()
    ('cora', 'citeseer', 'polblogs')
    """
    return tuple(CATALOGUE)


def look_up(name: str) -> DatasetInfo:
    """The catalogue's entry.

    >>> look_up("coral")
    Traceback (most recent call last):
    focusedcleaner.errors.InputError: there is no data set 'coral'; known are cora, citeseer, polblogs
    """
    if name not in CATALOGUE:
        raise InputError(f"there is no data set {name!r}; known are {', '.join(CATALOGUE)}")
    return CATALOGUE[name]


def prepare(entry: DatasetInfo, whole: Graph) -> Graph:
    """The largest component of the whole graph, numbered in its old order, its sizes checked."""
    component = whole.largest_component()
    notes = {"dataset": entry.name, "source": entry.source}
    graph = replace(component, names=None, split=None, notes=notes)
    num_classes = len(np.unique(graph.known_labels))
    sizes = _in_words(graph.num_nodes, graph.num_edges, num_classes, graph.num_attributes)
    if sizes != entry.sizes:
        raise InputError(f"{entry.name} should have {entry.sizes} after preparation, but has {sizes}")
    return graph


def _in_words(nodes: int, edges: int, classes: int, attributes: int) -> str:
    return f"{nodes:,} nodes, {edges:,} edges, {classes} classes, {attributes:,} attributes"
