"""What the children of a test process share: imported modules, a small graph and its run."""

from __future__ import annotations

import gc
import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.cli import main
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io import save_graph, save_split
from focusedcleaner.runs import write_run
from focusedcleaner.sanitizers import Jaccard

LAZY = (
    "networkx.readwrite.graphml",
    "polars",
    *(f"focusedcleaner.cli.{name}" for name in ("attack", "classify", "demo")),
)
COMMANDS = ("finished_runs", "info", "inputs", "reproduce", "review", "sanitize")


@pytest.fixture(scope="session", autouse=True)
def warm() -> None:
    """Import once what every child needs, and spare the children the collection of the parent's garbage."""
    for module in (*LAZY, *(f"focusedcleaner.cli.{name}" for name in COMMANDS)):
        importlib.import_module(module)
    with pytest.raises(SystemExit):
        main(["methods", "--json"])
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def small() -> Graph:
    """Two cliques of eight nodes with names, attributes, labels and a split, and two edges between them."""
    one = [(u, v) for u in range(8) for v in range(u + 1, 8)]
    pairs = [*one, *((u + 8, v + 8) for u, v in one), (0, 8), (3, 12)]
    return Graph.from_pairs(
        16,
        pairs,
        attributes=np.repeat(np.eye(2), 8, axis=0) + np.eye(16)[:, :2],
        labels=np.repeat([0, 1], 8),
        class_names=("ham", "spam"),
        names=tuple(f"n{node}" for node in range(16)),
        split=Split([0, 1, 8, 9], [2, 10], [3, 4, 5, 6, 7, 11, 12, 13, 14, 15]),
    )


@pytest.fixture(scope="session")
def sample(small: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with graph.npz, other.npz without names, split.json and a run."""
    folder = tmp_path_factory.mktemp("sample")
    save_graph(small, folder / "graph.npz")
    save_graph(small.subgraph(range(8)), folder / "other.npz")
    assert small.split is not None
    save_split(small.split, folder / "split.json")
    cleaned = Jaccard().sanitize(small, 4)
    left = cleaned.graph.edges[:3]
    scores = np.array([0.3, 0.2, 0.1])
    found = replace(cleaned, suspects=left, suspect_scores=scores, suspect_evidence={})
    write_run(found, folder / "RUN", source={"graph": "graph.npz"})
    return folder
