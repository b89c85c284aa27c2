"""python -m benchmarks.forecast [CELL]: time and memory of whole runs, beside what `focusedcleaner check` forecasts.

Every cell is a run in a process of its own with one thread; it is saved at once, and only missing ones are measured.
CPU time is taken, not elapsed time, so that other work on the machine counts little.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.common import Results, exit_code, in_subprocess, markdown_table, peak_memory
from benchmarks.fraud import as_graph, incidence
from benchmarks.trust import clean_graph
from focusedcleaner.checking.forecast import IN_REGIONS, MEMORY, TIME, cost_name, drivers, total
from focusedcleaner.checking.size import Size, size_of, unit_of_time
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import UNKNOWN, Graph
from focusedcleaner.sanitizers import sanitizer_for

REAL = ("cora", "citeseer", "polblogs", "wild/squirrel_filtered", "wild/minesweeper", "wild/actor", "wild/dblp")
SYNTHETIC = (
    "nodes=500 degree=4 classes=2 attributes=50",
    "nodes=600 degree=8 classes=30 attributes=300",
    "nodes=3000 degree=6 classes=3 attributes=0",
    "nodes=8000 degree=4 classes=4 attributes=0",
    "nodes=2000 degree=10 classes=40 attributes=128",
    "nodes=1500 degree=40 classes=5 attributes=500 words=60",
    "nodes=2000 degree=6 classes=3 numeric=12",
    "nodes=6000 degree=10 classes=2 numeric=40",
    "nodes=4000 degree=4 classes=6 attributes=3000 words=40 labelled=0.05",
    "nodes=20000 degree=5 classes=5 attributes=200 words=10 labelled=0.02",
)
LARGE = ("wild/amazon_photo",)
RANKED = ("cora", "polblogs", "wild/actor", "nodes=4000 degree=10 classes=40 attributes=128", "wild/minesweeper")
RANKING = ("agreement", "cld")
BIPARTITE = (
    "texas",
    "actor",
    "cora",
    "citeseer",
    "dblp",
    "reviews",
    *(f"power law {e:,}" for e in (10**4, 10**5, 10**6)),
)
"""Accounts and items of `benchmarks.fraud`."""
REGIONS = (
    "nodes=60000 degree=8 classes=4 attributes=100 labelled=0.2",
    "nodes=200000 degree=10 classes=16 attributes=64 labelled=0.2",
    "nodes=60000 degree=8 classes=4 attributes=100",
    "nodes=60000 degree=8 classes=4 attributes=100 labelled=0",
    "wild/tolokers",
)
"""Graphs in regions of which attackers are rehearsed."""
CELLS = (
    *(("self-attack", data) for data in (*REAL, *SYNTHETIC)),
    *((method, data) for method in RANKING for data in RANKED),
    *(("self-attack", data) for data in (*LARGE, *REGIONS)),
    ("cld", "nodes=50000 degree=8.2 classes=5 attributes=200"),
    ("agreement", "nodes=50000 degree=8.2 classes=5 attributes=200"),
    *(("dense-blocks", f"bipartite {data}") for data in BIPARTITE),
)


def graph_of(data: str) -> Graph:
    """The graph of a cell, as `sanitize` takes it: with a split drawn where it has none."""
    if data.startswith("bipartite "):
        return as_graph(incidence(data.removeprefix("bipartite ")))
    if "=" not in data:
        return clean_graph(data).with_drawn_split(0, hide=False)
    parts = {name: float(value) for name, value in (part.split("=") for part in data.split())}
    nodes, seed = int(parts["nodes"]), 0
    graph = synthetic(
        nodes,
        parts["degree"],
        int(parts["classes"]),
        num_attributes=int(parts.get("attributes", 0)),
        words_per_node=parts.get("words", 15.0),
        seed=seed,
        with_split=False,
    )
    labels = graph.labels
    assert labels is not None
    rng = np.random.default_rng(seed)
    if columns := int(parts.get("numeric", 0)):
        centres = rng.standard_normal((graph.num_classes, columns))
        graph = replace(graph, attributes=centres[labels] + rng.standard_normal((nodes, columns)))
    if not (labelled := parts.get("labelled", 1.0)):
        return graph.unlabelled()
    hidden = rng.random(nodes) >= labelled
    return replace(graph, labels=np.where(hidden, UNKNOWN, labels)).with_drawn_split(0, hide=False)


def measure(method: str, data: str) -> None:
    """Run one method on one graph; a line of JSON on standard output."""
    graph = graph_of(data)
    size = size_of(graph)
    before = unit_of_time()
    cpu = time.process_time()
    sanitizer_for(graph, method, {}).sanitize(graph)
    cpu = time.process_time() - cpu
    memory = peak_memory()
    unit_of_time.cache_clear()
    answer = {
        "size": size.to_dict(),
        "cpu_seconds": round(cpu, 2),
        "unit_ms": round(1000 * min(before, unit_of_time()), 3),
        "peak_gb": round(memory, 3),
    }
    sys.stdout.write(json.dumps(answer) + "\n")


DRIVERS = {
    "self-attack": (
        *("run", "nodes", "edges", "nodes × classes", "entries × classes"),
        *("neighbours' entries", "two-hop paths", "unrolled gradients"),
    ),
    IN_REGIONS: ("run", "edges"),
    "agreement": ("run", "edges", "nodes × classes", "edges × classes"),
    "cld": ("run", "edges", "edges × classes", "training rows"),
    "dense-blocks": ("run", "nodes", "edges", "two-hop paths"),
}
"""What the costs of each method are fitted by: few for the methods with few runs."""


def fit(method: str, cells: Sequence[Mapping[str, Any]], figure: str) -> dict[str, float]:
    """Fit "units" or "peak_gb" of some runs by a sum of non-negative costs that minimizes the relative error.

    The costs are those of `focusedcleaner.checking.forecast`, per million of each driver.
    """
    work = [drivers(Size(**cell["size"])) for cell in cells]
    measured = np.array([_figure(cell, figure) for cell in cells])
    names = DRIVERS[method]
    table = np.array([[row[name] for name in names] for row in work]) / measured[:, None]
    costs, _ = nnls(table, np.ones(len(cells)))
    return {name: float(f"{cost:.4g}") for name, cost in zip(names, costs, strict=True) if cost}


def _figure(cell: Mapping[str, Any], figure: str) -> float:
    return float(1000 * cell["cpu_seconds"] / cell["unit_ms"] if figure == "units" else cell[figure])


def left_out(method: str, cells: Sequence[Mapping[str, Any]], figure: str) -> list[float]:
    """Return, for each run, the forecast by a fit of all others, in relation to what was measured."""
    ratios = []
    for number, cell in enumerate(cells):
        costs = fit(method, [*cells[:number], *cells[number + 1 :]], figure)
        work = drivers(Size(**cell["size"]))
        ratios.append(sum(cost * work[name] for name, cost in costs.items()) / _figure(cell, figure))
    return ratios


def _cells(method: str) -> dict[str, Mapping[str, Any]]:
    """The runs whose costs are under a name, by graph."""
    split = {key: (*key.split(" | "), cell) for key, cell in Results("forecast").cells.items()}
    return {data: cell for name, data, cell in split.values() if cost_name(name, Size(**cell["size"])) == method}


def table(method: str = "self-attack") -> str:
    """The runs of one method beside their forecasts."""
    cells = _cells(method)
    runs = list(cells.values())
    unseen = zip(left_out(method, runs, "units"), left_out(method, runs, "peak_gb"), strict=True)
    rows = []
    for (data, cell), ratios in zip(cells.items(), unseen, strict=True):
        size = Size(**cell["size"])
        seconds = cell["unit_ms"] / 1000 * total(TIME[method], drivers(size))
        memory = total(MEMORY[method], drivers(size))
        figures = (cell["cpu_seconds"], seconds, ratios[0]), (cell["peak_gb"], memory, ratios[1])
        told = [text for one in figures for text in (f"{one[0]:.1f}", f"{one[1]:.1f}", f"{one[2]:.2f}")]
        rows.append((data, f"{size.edges:,}", *told))
    left = "unseen ÷ measured"
    return markdown_table(("graph", "edges", "CPU s", "forecast", left, "peak GB", "forecast", left), rows)


def run() -> None:
    """Measure the missing cells, and print the costs that fit them."""
    results = Results("forecast")
    for method, data in CELLS:
        if (cell := f"{method} | {data}") not in results:
            results.add(cell, in_subprocess("benchmarks.forecast", method, data))
    for method in DRIVERS:
        cells = list(_cells(method).values())
        sys.stdout.write(f"{method}: {fit(method, cells, 'units')}, {fit(method, cells, 'peak_gb')}\n")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(*sys.argv[1:])
    else:
        sys.exit(exit_code(run))
