"""Time and memory of self-attack's parts: an extraction of the edge features, and each simulated attacker at 10 %."""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from benchmarks.common import Results, in_subprocess, peak_memory, unit
from benchmarks.trust import clean_graph
from focusedcleaner.edge_features.extractor import EdgeFeatureExtractor
from focusedcleaner.engine import one_thread
from focusedcleaner.sanitizers.self_attack.attackers import ATTACKERS

EXTRACTION = "extraction"
EXTRACTED = ("cora", "wild/amazon_photo", "wild/coauthor_cs", "wild/blogcatalog", "wild/dblp")
ATTACKED = ("cora", "wild/amazon_photo")


def measure(data: str, part: str) -> None:
    """Time one part on one graph; a line of JSON on standard output."""
    graph = clean_graph(data).with_drawn_split(1)
    before = unit()
    with one_thread():
        seen = graph.without_test_labels()
        extractor = EdgeFeatureExtractor(seen) if part == EXTRACTION else None
        start, cpu = time.perf_counter(), time.process_time()
        if extractor is not None:
            extractor.extract(seen)
        else:
            ATTACKERS[part](graph, graph.num_edges // 10, np.random.default_rng(0))
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    memory = peak_memory()
    answer = {
        "edges": graph.num_edges,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "units": round(2 * seconds / (before + unit()), 1),
        "peak_gb": round(memory, 2),
    }
    sys.stdout.write(json.dumps(answer) + "\n")


def run() -> None:
    """Measure every part anew."""
    results = Results("parts")
    cases = [(data, EXTRACTION) for data in EXTRACTED] + [(data, name) for data in ATTACKED for name in ATTACKERS]
    for case in cases:
        results.add(", ".join(case), in_subprocess("benchmarks.parts", *case))


if __name__ == "__main__":
    measure(*sys.argv[1:])
