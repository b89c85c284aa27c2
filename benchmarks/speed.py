"""Time and memory of whole runs on Cora, METTACK 10 % (Pro-GNN's graph and split), in units measured around each."""

from __future__ import annotations

import json
import sys

from benchmarks.common import Results, in_subprocess, peak_memory, published, unit
from focusedcleaner.sanitizers import sanitizer

CASES = {
    "cld, one edge at a time": ("cld", 1, 100),
    "cld, default schedule": ("cld", None, 30),
    "lp, one edge at a time": ("lp", 1, 150),
    "lp, default schedule": ("lp", None, 45),
}
"""Method, edges a round, and the units asked for."""


def measure(case: str) -> None:
    """Time one case; a line of JSON on standard output."""
    method, per_round, _ = CASES[case]
    _, poisoned = published("cora", 0.1)
    settings = {} if per_round is None else {"edges_per_round": per_round}
    before = unit()
    sanitation = sanitizer(method, **settings).sanitize(poisoned, 0.1)
    memory = peak_memory()
    seconds_a_unit = (before + unit()) / 2
    answer = {
        "edges": len(sanitation.removed),
        "seconds": round(sanitation.seconds, 2),
        "unit": round(seconds_a_unit, 4),
        "units": round(sanitation.seconds / seconds_a_unit, 1),
        "peak_gb": round(memory, 2),
    }
    sys.stdout.write(json.dumps(answer) + "\n")


def run() -> None:
    """Measure every case anew."""
    results = Results("speed")
    for case in CASES:
        results.add(case, in_subprocess("benchmarks.speed", case) | {"asked": CASES[case][2]})


if __name__ == "__main__":
    measure(sys.argv[1])
