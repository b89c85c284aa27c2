"""ESR of every sanitizer on Pro-GNN's METTACK graphs, and a GCN after Jaccard; resumable; fills docs/sanitizers.md.

python -m benchmarks.sanitizers [--seeds 2] [--methods jaccard,svd] [--names cora] [--powers 0.1]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.common import Results, Section, grid_main, markdown_table, mean_and_deviation, published
from benchmarks.quality import means as quality_means
from focusedcleaner.classifiers import classifier
from focusedcleaner.sanitizers import sanitizer
from focusedcleaner.scoring import Score, score

PAGE = Section("sanitizers.md")
NAMES = ("cora", "citeseer", "polblogs")
POWERS = (0.05, 0.1, 0.15, 0.2, 0.25)
WANTED_FIRST = (0.1, 0.25, 0.15, 0.05, 0.2)
METHODS = ("agreement", "jaccard", "cosine", "svd", "random", "linkpred", "maskgvae", "gasoline-d", "gasoline")
FOCUSED = ("cld", "lp")
"""Measured by benchmarks.quality."""
NEED_ATTRIBUTES = ("jaccard", "cosine")
BUDGET = 0.1

THRESHOLDS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12)
GCN_SEEDS = 10
AFTER_JACCARD = dict(zip(POWERS, (79.1, 75.2, 71.0, 65.7, 60.8), strict=True))
"""Accuracies of GCN-Jaccard on Cora in the Pro-GNN paper."""

Cell = tuple[str, str, float]


def cells(methods: Sequence[str], names: Sequence[str], powers: Sequence[float]) -> Iterator[Cell]:
    """Method, data set and power, so that the table fills evenly."""
    for power in sorted(powers, key=WANTED_FIRST.index):
        for name in names:
            for method in methods:
                if name != "polblogs" or method not in NEED_ATTRIBUTES:
                    yield method, name, power


def sanitize(methods: Sequence[str], names: Sequence[str], powers: Sequence[float], seeds: int) -> None:
    """Compute the missing ESRs; each is saved at once."""
    results = Results("sanitizers")
    for seed in range(seeds):
        for method, name, power in cells(methods, names, powers):
            key = f"{method} | {name} | {power:g} | seed {seed}"
            if key in results:
                continue
            clean, poisoned = published(name, power)
            start = time.process_time()
            found = sanitizer(method).sanitize(poisoned, BUDGET, seed=seed)
            seconds = round(time.process_time() - start, 2)
            value = score(found.removed, poisoned=poisoned, clean=clean)
            esr, cr = round(value.esr, 4), round(value.cr, 4)
            results.add(key, {"esr": esr, "cr": cr, "added": len(found.added), "seconds": seconds})
        write_page()


def after_jaccard(powers: Sequence[float]) -> None:
    """A GCN on Cora without the edges at or below each threshold of the Jaccard similarity."""
    results = Results("after_jaccard")
    for threshold in THRESHOLDS:
        for power in powers:
            _, poisoned = published("cora", power)
            found = sanitizer("jaccard", threshold=threshold).sanitize(poisoned)
            for seed in range(GCN_SEEDS):
                key = f"{threshold:g} | {power:g} | seed {seed}"
                if key not in results:
                    accuracy = classifier("gcn").fit(found.graph, seed=seed).accuracy(found.graph)
                    results.add(key, {"accuracy": round(accuracy, 4), "removed": len(found.removed)})
        write_page()


def esr_table(name: str) -> str:
    """One data set: a row per method, a column per power, the oracle last."""
    grouped: dict[Cell, list[float]] = {}
    spent: dict[str, list[float]] = {}
    for key, value in Results("sanitizers").cells.items():
        method, data, power, _ = key.split(" | ")
        grouped.setdefault((method, data, float(power)), []).append(100 * value["esr"])
        if data == name:
            spent.setdefault(method, []).append(value["seconds"])
    known = {key: mean_and_deviation(values) for key, values in grouped.items()}
    known |= {key: value for key, value in quality_means(Results("quality")).items() if key[0] in FOCUSED}

    def cell(method: str, power: float) -> str:
        if (method, name, power) not in known:
            return "–"
        mean, deviation, count = known[method, name, power]
        return f"{mean:.1f}" if count == 1 else f"{mean:.1f} ± {deviation:.1f}"

    def row(method: str) -> list[str]:
        seconds = f"{np.mean(spent[method]):.1f}" if method in spent else "–"
        return [f"`{method}`", *(cell(method, power) for power in POWERS), seconds]

    oracle = ["oracle", *(f"{oracle_esr(name, power):.1f}" for power in POWERS)]
    head = [name, *(f"{power:.0%}" for power in POWERS), "CPU seconds"]
    return markdown_table(head, map(row, (*FOCUSED, *METHODS))) + f"| {' | '.join(oracle)} | |\n"


def oracle_esr(name: str, power: float) -> float:
    """In percent, for the budget of the table."""
    clean, poisoned = published(name, power)
    attacked, removed = len(poisoned.added_edges(clean)), int(BUDGET * poisoned.num_edges)
    return 100 * Score(attacked, removed, min(attacked, removed)).oracle_esr


def jaccard_table() -> str:
    """A row per threshold, a column per power, and what the Pro-GNN paper reports."""
    grouped: dict[tuple[float, float], list[float]] = {}
    for key, value in Results("after_jaccard").cells.items():
        threshold, power, _ = key.split(" | ")
        grouped.setdefault((float(threshold), float(power)), []).append(100 * value["accuracy"])

    def cell(threshold: float, power: float) -> str:
        values = grouped.get((threshold, power), [])
        return f"{np.mean(values):.1f} ± {np.std(values):.1f}" if len(values) == GCN_SEEDS else "–"

    rows = [[f"{threshold:g}", *(cell(threshold, power) for power in POWERS)] for threshold in THRESHOLDS]
    theirs = ["the Pro-GNN paper", *(f"{AFTER_JACCARD[power]}" for power in POWERS)]
    return markdown_table(["threshold", *(f"{power:.0%}" for power in POWERS)], [*rows, theirs])


def write_page() -> None:
    """Write the tables into the page."""
    esr = "\n".join(esr_table(name) for name in NAMES)
    accuracy = f"A GCN's accuracy on Cora after `jaccard`, ten seeds:\n\n{jaccard_table()}"
    PAGE.write(f"{esr}\n{accuracy}")


def run(methods: list[str], names: list[str], powers: list[float], seeds: int) -> None:
    """Compute all that is missing."""
    sanitize(methods, names, powers, seeds)
    after_jaccard(powers)


if __name__ == "__main__":
    sys.exit(grid_main(__doc__, run, methods=METHODS, names=NAMES, powers=POWERS, seeds=2))
