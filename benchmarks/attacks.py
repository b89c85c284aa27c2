"""Speed, memory and strength of the attacks, beside Pro-GNN's METTACK graphs; resumable, fills docs/attacks.md.

python -m benchmarks.attacks [--seeds 10]
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import (
    Results,
    Section,
    exit_code,
    in_subprocess,
    markdown_table,
    mean_and_deviation,
    parser,
    peak_memory,
    published,
    unit,
)
from focusedcleaner.attacks import Attack, attack
from focusedcleaner.attacks.base import flipped
from focusedcleaner.classifiers import classifier
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph, IntArray

NAMES = ("cora", "citeseer")
POWERS = (0.05, 0.1, 0.15, 0.2, 0.25)
PUBMED = {"num_nodes": 19_717, "mean_degree": 2 * 44_324 / 19_717, "num_classes": 3, "num_attributes": 500}
PUBMED_FLIPS = 20
NEWER = ("meta-pgd", "grad", "lrbcd")
"""Attacks that are measured at 10 %, with `NEWER_SEEDS` trainings."""
NEWER_SEEDS = 3
PAGE = Section("attacks.md")


def pubmed_sized() -> Graph:
    return synthetic(**PUBMED, words_per_node=50, seed=0)  # type: ignore[arg-type]


def measured(method: Attack, graph: Graph, budget: float) -> dict[str, Any]:
    """Attack once, and return seconds, units, memory and the flips."""
    before = unit()
    done = method.poison(graph, budget)
    one = min(before, unit())
    flips = np.concatenate([done.added, done.removed]) if done.flips is None else done.flips
    return {
        "added": len(done.added),
        "removed": len(done.removed),
        "seconds": round(done.seconds, 2),
        "unit": round(one, 4),
        "units": round(done.seconds / one, 1),
        "peak_gb": round(peak_memory(), 2),
        "flips": " ".join(f"{u}-{v}" for u, v in flips),
    }


def at_ten_percent(method: str, name: str) -> dict[str, Any]:
    return measured(attack(method), published(name, 0)[0], 0.1)


RUNS: dict[str, Callable[[], dict[str, Any]]] = {
    "mettack | cora": lambda: measured(attack("mettack"), published("cora", 0)[0], 0.25),
    "mettack | citeseer": lambda: measured(attack("mettack"), published("citeseer", 0)[0], 0.25),
    "mettack | pubmed-sized": lambda: measured(attack("mettack"), pubmed_sized(), PUBMED_FLIPS),
    "minmax | cora": lambda: measured(attack("minmax"), published("cora", 0)[0], 0.2),
    "pgd | cora": lambda: measured(attack("pgd"), published("cora", 0)[0], 0.2),
    "prbcd | cora": lambda: measured(attack("prbcd"), published("cora", 0)[0], 0.2),
    "nettack | cora": lambda: measured(attack("nettack"), published("cora", 0)[0], 0.25),
    "mettack unrolled | cora": lambda: measured(attack("mettack", inner="unrolled"), published("cora", 0)[0], 50),
    "minmax published | cora": lambda: measured(attack("minmax", variant="published"), published("cora", 0)[0], 0.2),
    **{f"{method} | {name}": partial(at_ten_percent, method, name) for method in NEWER for name in NAMES},
}
"""Each is measured in a process of its own."""


def run(seeds: int) -> None:
    """Compute the missing cells; each is saved at once."""
    results = Results("attacks")
    for name in RUNS:
        if name not in results:
            results.add(name, in_subprocess("benchmarks.attacks", "--run", name))
    for seed in range(seeds):
        for name in NAMES:
            for power in POWERS:
                _accuracy(results, f"published | {name} | {power:g} | seed {seed}", published(name, power)[1], seed)
                ours = poisoned(published(name, 0)[0], results.cells[f"mettack | {name}"]["flips"], power)
                _accuracy(results, f"ours | {name} | {power:g} | seed {seed}", ours, seed)
        clean = published("cora", 0)[0]
        _accuracy(results, f"clean | cora | 0 | seed {seed}", clean, seed)
        for method in ("minmax", "minmax published", "pgd", "prbcd"):
            graph = poisoned(clean, results.cells[f"{method} | cora"]["flips"], 1.0)
            _accuracy(results, f"{method} | cora | 0.2 | seed {seed}", graph, seed)
    for seed, method, name in itertools.product(range(min(seeds, NEWER_SEEDS)), NEWER, NAMES):
        graph = poisoned(published(name, 0)[0], results.cells[f"{method} | {name}"]["flips"], 1.0)
        _accuracy(results, f"{method} | {name} | 0.1 | seed {seed}", graph, seed)
        _accuracy(results, f"clean | {name} | 0 | seed {seed}", published(name, 0)[0], seed)


def _accuracy(results: Results, cell: str, graph: Graph, seed: int) -> None:
    if cell not in results:
        accuracy = classifier("gcn").fit(graph, seed=seed).accuracy(graph)
        results.add(cell, {"accuracy": round(accuracy, 4)})


def poisoned(clean: Graph, flips: str, power: float) -> Graph:
    """Return the clean graph after the first flips."""
    pairs: IntArray = np.array([pair.split("-") for pair in flips.split()], dtype=np.int64)
    return flipped(clean, pairs[: int(power * clean.num_edges + 1e-9)])


def training_share(name: str, cell: dict[str, Any]) -> float:
    """The share of an attack's flips that touch a training node."""
    data = name.split(" | ")[1]
    split = (published(data, 0)[0] if data in NAMES else pubmed_sized()).split
    assert split is not None
    ends = np.array([pair.split("-") for pair in cell["flips"].split()], dtype=np.int64)
    return float(np.isin(ends, split.train).any(1).mean())


def speed_table(results: Results) -> str:
    """A row per attack."""
    columns = ["attack", "flips", "insertions", "at training nodes", "seconds", "units", "units a flip", "peak GB"]
    table = markdown_table(columns, [])
    for name in RUNS:
        if name in results:
            cell = results.cells[name]
            count = cell["added"] + cell["removed"]
            table += (
                f"| {name.replace(' |', ',')} | {count:,} | {cell['added'] / count:.1%} | "
                f"{training_share(name, cell):.0%} | {cell['seconds']:.0f} | "
                f"{cell['units']:.0f} | {cell['units'] / count:.2f} | {cell['peak_gb']} |\n"
            )
    return table


def strength_table(results: Results) -> str:
    """A row per data set and origin of the poisoned graphs, a column per power: GCN's accuracy."""
    accuracies: dict[tuple[str, str], dict[float, list[float]]] = {}
    for key, cell in results.cells.items():
        if "accuracy" in cell:
            origin, name, power, _ = key.split(" | ")
            accuracies.setdefault((name, origin), {}).setdefault(float(power), []).append(100 * cell["accuracy"])

    def cell_of(values: list[float] | None) -> str:
        return "" if values is None else "{:.1f} ± {:.1f} ({})".format(*mean_and_deviation(values))

    powers = (0.0, *POWERS)
    rows = [
        [f"{name}, {origin}", *(cell_of(by_power.get(power)) for power in powers)]
        for (name, origin), by_power in sorted(accuracies.items())
    ]
    return markdown_table(["graphs", *(f"{power:.0%}" for power in powers)], rows)


def write_page(results: Results) -> None:
    """Write the tables into the page."""
    caption = "\nTest accuracy of a GCN, mean ± standard deviation (seeds); Pro-GNN's split:\n\n"
    PAGE.write(speed_table(results) + caption + strength_table(results))


def everything(seeds: int) -> None:
    """Measure all that is missing; write the page."""
    run(seeds)
    write_page(Results("attacks"))


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--run", choices=RUNS, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.run:
        return exit_code(lambda: sys.stdout.write(json.dumps(RUNS[chosen.run]()) + "\n"))
    return exit_code(lambda: everything(chosen.seeds))


if __name__ == "__main__":
    sys.exit(main())
