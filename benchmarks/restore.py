"""Restore: recall of the edges that MinMax removed, in a list of that length; resumable, fills docs/restore.md.

python -m benchmarks.restore [--only citeseer]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.common import Results, Section, cells_main, gcn_accuracy, markdown_table
from focusedcleaner.attacks import attack
from focusedcleaner.experiments.cells import Source
from focusedcleaner.experiments.compute import clean_graph
from focusedcleaner.graph import pair_keys
from focusedcleaner.restore import missing_edges
from focusedcleaner.sanitizers import sanitizer

PAGE = Section("restore.md")
POWERS = (0.25, 0.2, 0.15)
SEEDS, GCNS = 3, 5


def cells() -> Iterator[tuple[str, float]]:
    """Data set and power."""
    for power in POWERS:
        yield from ((name, power) for name in ("citeseer", "cora"))


def measure(name: str, power: float) -> dict[str, Any]:
    """Propose as many edges as were removed, on the graph cleaned by `self-attack` with its own budget."""
    clean = clean_graph(Source(name, "authors"))
    poisoning = attack("minmax").poison(clean, power)
    done = sanitizer("self-attack").sanitize(poisoning.graph, "auto")
    cut = pair_keys(poisoning.removed, clean.num_nodes)
    proposals = [missing_edges(done.graph, len(cut), seed=seed, excluded=done.removed) for seed in range(SEEDS)]
    hits = [int(np.isin(pair_keys(one.pairs, clean.num_nodes), cut).sum()) for one in proposals]
    pairs = clean.num_nodes * (clean.num_nodes - 1) // 2 - done.graph.num_edges
    return {
        "cut": len(cut),
        "hits": float(np.mean(hits)),
        "chance": len(cut) ** 2 / pairs,
        "candidates": proposals[0].candidates,
        "poisoned": gcn_accuracy(poisoning.graph, GCNS),
        "cleaned": gcn_accuracy(done.graph, GCNS),
        "restored": gcn_accuracy(done.graph.with_edges(proposals[0].pairs), GCNS),
        "truly restored": gcn_accuracy(done.graph.with_edges(poisoning.removed), GCNS),
    }


def table(results: Results) -> str:
    """A row per poisoned graph."""
    head = ["graph, power", "cut", "`restore` finds", "by chance", "GCN poisoned", "cleaned"]
    rows = []
    for name in ("citeseer", "cora"):
        for power in sorted(POWERS):
            cell = results.cells.get(f"{name} | {power:g}")
            if cell is None:
                continue
            share = f"{cell['hits']:.1f} ({cell['hits'] / cell['cut']:.1%})"
            gcns = (f"{100 * cell[key]:.1f}" for key in ("poisoned", "cleaned", "restored", "truly restored"))
            rows.append([f"{name}, {power:.0%}", str(cell["cut"]), share, f"{cell['chance']:.2f}", *gcns])
    return markdown_table([*head, "with the proposals", "with the edges that were cut"], rows)


if __name__ == "__main__":
    sys.exit(cells_main(__doc__, "restore", cells(), measure, lambda results: PAGE.write(table(results))))
