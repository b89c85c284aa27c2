"""From what a user typed to a graph, and to a record of what it was read from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from focusedcleaner import datasets
from focusedcleaner.cli.console import note, progress_bar, warnings_as_notes
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io import SUFFIXES, load_adjacency, load_graph, load_split
from focusedcleaner.io.disk import checksum
from focusedcleaner.runs import GRAPH, RECORD, read_record


@dataclass(frozen=True)
class GraphSource:
    """What the user typed to name a graph."""

    graph: str
    nodes: Path | None = None
    adjacency: Path | None = None
    split: Path | None = None
    largest_component: bool = False
    force_split: bool = False

    def read(self) -> Graph:
        """The graph, with what the options change of it; `InputWarning`s become notes."""
        with warnings_as_notes():
            graph = self._whole()
            if self.adjacency is not None:
                graph = _with_adjacency(graph, self.adjacency)
            if self.split is not None:
                graph = self._split_anew(graph, self.split)
        return graph.largest_component() if self.largest_component else graph

    def _split_anew(self, graph: Graph, path: Path) -> Graph:
        """The graph with the split of a file, which must not contradict its own unless that is meant."""
        split = load_split(path, num_nodes=graph.num_nodes)
        if graph.split is not None and graph.split != split and not self.force_split:
            raise InputError(
                f"{path}: is another split than the one that {self.graph} carries, which it may have been poisoned "
                "for: leave out --split, or add --force-split"
            )
        return graph.with_split(split)

    def _whole(self) -> Graph:
        path = self._file()
        if path.is_file():
            if path != Path(self.graph) and read_record(Path(self.graph))["status"] != "complete":
                note(f"{self.graph} was interrupted: its graph is cleaned in part")
            return load_graph(path, nodes=self.nodes)
        if self.nodes is not None:
            raise InputError(f"--nodes goes with an edge list (.csv), and {self.graph} is none")
        if self.graph in datasets.names():
            with progress_bar(f"Fetching {self.graph}", bytes_=True) as progress:
                return datasets.load(self.graph, progress=progress)
        if path.is_dir():
            raise InputError(f"{self.graph}: is a folder, but not a run folder: it has no {RECORD}")
        if path.suffix or len(path.parts) > 1:
            raise InputError(f"{self.graph}: there is no such file")
        raise InputError(
            f"there is no file and no data set {self.graph!r}; data sets are {', '.join(datasets.names())}, "
            f"files end in {', '.join(SUFFIXES)}"
        )

    def _file(self) -> Path:
        """The file that was named: of a run folder, the cleaned graph."""
        path = Path(self.graph)
        return path / GRAPH if (path / RECORD).is_file() else path

    def record(self) -> dict[str, Any]:
        """What was typed, with the checksums of the files."""
        typed: dict[str, Any] = {"graph": self.graph}
        files = {"graph": self._file(), "nodes": self.nodes, "adjacency": self.adjacency, "split": self.split}
        for option, path in files.items():
            if path is not None and path.is_file():
                typed[option] = self.graph if option == "graph" else str(path)
                typed[f"{option}_sha256" if option != "graph" else "sha256"] = checksum(path)
        if "sha256" not in typed:
            typed["sha256"] = datasets.info(self.graph).sha256
        return {**typed, "largest_component": self.largest_component}


def _with_adjacency(graph: Graph, path: Path) -> Graph:
    matrix = load_adjacency(path).tocoo()
    if matrix.shape[0] != graph.num_nodes:
        raise InputError(f"{path}: is an adjacency of {matrix.shape[0]:,} nodes, but the graph has {graph.num_nodes:,}")
    pairs = np.column_stack([matrix.row, matrix.col])
    return replace(graph, edges=Graph.from_pairs(graph.num_nodes, pairs).edges)


def with_some_split(graph: Graph, seed: int) -> Graph:
    """The graph with a split, drawn where it has none and has labels to draw from."""
    if graph.split is not None or not len(graph.known_labels):
        return graph
    split = Split.random(graph.labels, seed=seed)  # type: ignore[arg-type]
    sizes = f"{len(split.train):,} nodes for training, {len(split.val):,} for validation, {len(split.test):,} to test"
    note(f"the graph has no split, so one was drawn (seed {seed}): {sizes}")
    return graph.with_split(split)
