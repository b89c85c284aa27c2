"""Restore: how many of the edges that MinMax cut are in a list as long as there are; resumable, written into its page.

python -m benchmarks.restore [--only citeseer]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.common import Results, Section, ended, fill, only_asked
from focusedcleaner.attacks import attack
from focusedcleaner.classifiers import classifier
from focusedcleaner.experiments.cells import Source
from focusedcleaner.experiments.graphs import clean_graph
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.restore import missing_edges
from focusedcleaner.sanitizers import sanitizer

PAGE = Section("restore.md")
POWERS = (0.25, 0.2, 0.15)
SEEDS, GCNS = 3, 5


def cells() -> Iterator[tuple[str, float]]:
    """Data set and power."""
    for power in POWERS:
        yield from ((name, power) for name in ("citeseer", "cora"))


def keys(graph: Graph, pairs: IntArray) -> IntArray:
    found: IntArray = pairs[:, 0] * graph.num_nodes + pairs[:, 1]
    return found


def accuracy(graph: Graph) -> float:
    return float(np.mean([classifier("gcn").fit(graph, seed=seed).accuracy(graph) for seed in range(GCNS)]))


def measure(name: str, power: float) -> dict[str, Any]:
    """What is found of the edges that were cut, after `self-attack` with its own budget has cleaned the graph."""
    clean = clean_graph(Source(name, "authors"))
    poisoning = attack("minmax").poison(clean, power)
    done = sanitizer("self-attack").sanitize(poisoning.graph, "auto")
    cut = keys(clean, poisoning.removed)
    found = [missing_edges(done.graph, len(cut), seed=seed, excluded=done.removed) for seed in range(SEEDS)]
    hits = [int(np.isin(keys(clean, one.pairs), cut).sum()) for one in found]
    pairs = clean.num_nodes * (clean.num_nodes - 1) // 2 - done.graph.num_edges
    return {
        "cut": len(cut),
        "hits": float(np.mean(hits)),
        "chance": len(cut) ** 2 / pairs,
        "candidates": found[0].candidates,
        "poisoned": accuracy(poisoning.graph),
        "cleaned": accuracy(done.graph),
        "restored": accuracy(done.graph.with_edges(found[0].pairs)),
        "truly restored": accuracy(done.graph.with_edges(poisoning.removed)),
    }


def table(results: Results) -> str:
    """A row per poisoned graph."""
    rows = [
        "| graph, power | cut | `restore` finds | by chance | GCN poisoned | cleaned | with the proposals | "
        "with the edges that were cut |",
        "| --- " * 8 + "|",
    ]
    for name in ("citeseer", "cora"):
        for power in sorted(POWERS):
            cell = results.cells.get(f"{name} | {power:g}")
            if cell is None:
                continue
            share = f"{cell['hits']:.1f} ({cell['hits'] / cell['cut']:.1%})"
            gcns = (f"{100 * cell[key]:.1f}" for key in ("poisoned", "cleaned", "restored", "truly restored"))
            figures = [f"{name}, {power:.0%}", str(cell["cut"]), share, f"{cell['chance']:.2f}", *gcns]
            rows.append(f"| {' | '.join(figures)} |")
    return "\n".join(rows) + "\n"


def main() -> int:
    only = only_asked(__doc__)
    return ended(lambda: fill("restore", cells(), measure, lambda results: PAGE.write(table(results)), only=only))


if __name__ == "__main__":
    sys.exit(main())
