"""Cost of one round on synthetic graphs of growing size: 128 attributes, 40 classes, mean degree 10."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress

import numpy as np

from benchmarks.common import Results, in_subprocess, peak_memory, unit
from focusedcleaner.datasets import synthetic
from focusedcleaner.sanitizers import sanitizer

EDGES = (10_000, 100_000, 1_000_000)
ROUNDS = 4


def measure(method: str, edges: int) -> None:
    """Time some rounds, the first one apart because it trains from nothing; a line of JSON on standard output."""
    graph = synthetic(num_nodes=edges // 5, mean_degree=10.0, num_classes=40, num_attributes=128, seed=0)
    budget = edges // 10
    ends: list[float] = [time.perf_counter()]

    class Enough(Exception):
        pass

    def progress(done: int, total: int, stage: str = "") -> None:
        ends.append(time.perf_counter())
        if len(ends) > ROUNDS:
            raise Enough

    with suppress(Enough):
        sanitizer(method).sanitize(graph, budget, progress=progress)
    rounds = np.diff(ends)
    answer = {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "first_round_seconds": round(float(rounds[0]), 3),
        "round_seconds": round(float(np.median(rounds[1:])), 3),
        "peak_gb": round(peak_memory(), 2),
        "unit": round(unit(), 4),
    }
    sys.stdout.write(json.dumps(answer) + "\n")


def run() -> None:
    """Measure every size for both methods, and the exponent of the cost."""
    results = Results("scale")
    for method in ("cld", "lp"):
        cells = [in_subprocess("benchmarks.scale", method, str(edges)) for edges in EDGES]
        for cell in cells:
            results.add(f"{method}, {cell['edges']} edges", cell)
        seconds = [cell["round_seconds"] for cell in cells]
        exponent = np.polyfit(np.log([cell["edges"] for cell in cells]), np.log(seconds), 1)[0]
        results.add(f"{method}, exponent", {"exponent": round(float(exponent), 3)})


if __name__ == "__main__":
    measure(sys.argv[1], int(sys.argv[2]))
