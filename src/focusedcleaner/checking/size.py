"""What the time and the memory of a method depend on, and how fast this machine is."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np
import scipy.sparse as sp

from focusedcleaner.graph import Graph

TRAINING_SHARE = 0.1
"""Share of the nodes that train where a split is drawn."""


@dataclass(frozen=True)
class Size:
    """The size of a graph as its methods feel it."""

    nodes: int
    edges: int
    classes: int
    training_nodes: int
    columns: int
    """Of the scaled attributes; without any, the nodes themselves are the columns."""
    entries: int
    """Non-zero values of the scaled attributes."""
    neighbour_entries: int
    """Σ_v d_v·(entries of v): the work of averaging attributes over neighbours."""
    two_hop_paths: int
    """Σ_v d_v²: the work of finding common neighbours."""

    def to_dict(self) -> dict[str, int]:
        return asdict(self)


def size_of(graph: Graph) -> Size:
    """Measure a graph in O(N + E + entries).

    >>> size_of(Graph(3, [[0, 1], [1, 2]], attributes=[[1, 0], [1, 0], [0, 1]], labels=[0, 0, 1])).two_hop_paths
    6
    """
    degrees, features = graph.degrees.astype(np.int64), graph.features
    entries = np.zeros(graph.num_nodes, dtype=np.int64) if features is None else np.diff(features.indptr)
    split = graph.split
    training = int(TRAINING_SHARE * graph.num_nodes) if split is None else len(split.train)
    return Size(
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        classes=graph.num_classes,
        training_nodes=training,
        columns=graph.num_nodes if features is None else int(features.shape[1]),
        entries=int(entries.sum()),
        neighbour_entries=int((degrees * entries).sum()),
        two_hop_paths=int((degrees**2).sum()),
    )


@cache
def unit_of_time() -> float:
    """Return the CPU seconds of a sparse product on this machine: 300,000 entries by 16 columns, the best of 40."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 30_000, (2, 300_000))
    values = np.ones(300_000, dtype=np.float32)
    matrix = sp.coo_array((values, (rows, columns)), shape=(30_000, 30_000)).tocsr()
    thin = rng.random((30_000, 16), dtype=np.float32)
    times = []
    for _ in range(40):
        start = time.thread_time()
        matrix @ thin
        times.append(time.thread_time() - start)
    return max(min(times), 1e-6)
