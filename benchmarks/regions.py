"""Self-attack on whole graphs against self-attack in regions: ESR at a budget of 10 %, the count and the CPU time.

python -m benchmarks.regions [--only TEXT] measures the missing cells with one thread, and writes docs/self-attack.md.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from benchmarks.common import Results, Section, cells_main, markdown_table, published
from benchmarks.trust import clean_graph
from focusedcleaner.attacks import attack
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import SelfAttack
from focusedcleaner.scoring import score

GRAPHS = ("cora", "wild/amazon_photo", "wild/tolokers")
WAYS = {"whole": 10**12, "regions": 0}
"""The number of edges beyond which attackers are rehearsed in regions."""
POWER = 0.1
SECTION = Section("self-attack.md", "regions")


@cache
def graphs(name: str) -> tuple[Graph, Graph]:
    """The clean and the poisoned graph: Cora as Pro-GNN's authors poisoned it, others by PRBCD."""
    if name == "cora":
        return published(name, POWER)
    clean = clean_graph(name).largest_component().with_drawn_split(0)
    return clean, attack("prbcd").poison(clean, POWER).graph


def measure(name: str, way: str) -> dict[str, Any]:
    """Clean one graph in one way."""
    clean, poisoned = graphs(name)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = SelfAttack(regions_beyond=WAYS[way]).sanitize(poisoned, threads=1)
    seconds = time.process_time() - start
    assert result.edge_scores is not None
    assert result.estimate is not None
    assert result.verdict is not None
    listed = np.argsort(-result.edge_scores, kind="stable")[: int(POWER * poisoned.num_edges)]
    found = score(poisoned.edges[listed], clean=clean, poisoned=poisoned)
    return {
        "edges": poisoned.num_edges,
        "planted": found.attacked,
        "esr": 100 * found.esr,
        "oracle": 100 * found.oracle_esr,
        "count": round(result.estimate.number),
        "verdict": result.verdict.status,
        "cpu_seconds": round(seconds),
    }


def write(results: Results) -> None:
    """Write the table of docs/self-attack.md."""
    rows = []
    for name in GRAPHS:
        found = {way: results.cells.get(f"{name} | {way}") for way in WAYS}
        first = next((cell for cell in found.values() if cell is not None), None)
        if first is None:
            continue
        graph = f"{name.removeprefix('wild/')}, {first['edges']:,} edges"
        rows.append((graph, f"{first['planted']:,}", *map(_figures, found.values())))
    SECTION.write(markdown_table(("graph", "planted", "whole: ESR, count, verdict, CPU", "in regions"), rows))


def _figures(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return "–"
    quality = f"{cell['esr']:.1f} ({cell['oracle']:.1f}), {cell['count']:,}, {cell['verdict']}"
    return f"{quality}, {cell['cpu_seconds']} s"


if __name__ == "__main__":
    sys.exit(cells_main(__doc__, "regions", [(name, way) for name in GRAPHS for way in WAYS], measure, write))
