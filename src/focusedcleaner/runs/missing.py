"""``missing.csv`` in a run folder: the proposals, with the evidence for each."""

from __future__ import annotations

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.io.disk import prefix_errors, write_files
from focusedcleaner.restore.missing import Missing
from focusedcleaner.runs import MISSING, Run, edges_csv, read_edges


def write_missing(run: Run, missing: Missing) -> None:
    """Write a run's proposals, whole or not at all; earlier ones are replaced."""
    write_files({run.path / MISSING: edges_csv(run.graph, missing.pairs, missing.scores, missing.evidence)})


def read_missing(run: Run) -> IntArray | None:
    """The proposed pairs (M × 2, the likeliest first); None where none have been asked for."""
    path = run.path / MISSING
    if not path.exists():
        return None
    pairs, _ = read_edges(path, run.graph)
    with prefix_errors(path):
        if np.isin(Graph.from_pairs(run.graph.num_nodes, pairs).edge_keys, run.graph.edge_keys).any():
            raise InputError("proposes an edge that the cleaned graph has: it is not this run's; run restore again")
    return pairs
