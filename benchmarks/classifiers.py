"""Accuracy of every classifier on Pro-GNN's METTACK graphs; resumable, fills docs/classifiers.md.

python -m benchmarks.classifiers [--seeds 10] [--models gcn,rgcn] [--names cora] [--powers 0,0.15]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.common import Results, Section, grid_main, markdown_table, mean_and_deviation, published
from focusedcleaner.classifiers import CLASSIFIERS, classifier

PAGE = Section("classifiers.md")
NAMES = ("cora", "citeseer", "polblogs")
POWERS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
WANTED_FIRST = (0.15, 0.0, 0.1, 0.25, 0.05, 0.2)
REPORTED: dict[tuple[str, str], dict[float, float]] = {
    ("cora", "gcn"): dict(zip(POWERS, (83.5, 76.6, 70.4, 65.1, 59.6, 47.5), strict=True)),
    ("cora", "rgcn"): dict(zip(POWERS, (83.1, 77.4, 72.2, 66.8, 59.3, 50.5), strict=True)),
    ("cora", "prognn"): dict(zip(POWERS, (83.0, 82.3, 79.0, 76.4, 73.3, 69.7), strict=True)),
    ("citeseer", "gcn"): {0.0: 72.0, 0.1: 67.6, 0.25: 56.9},
    ("citeseer", "prognn"): {0.0: 73.3, 0.1: 72.5, 0.25: 69.0},
}
"""Accuracies in the Pro-GNN paper for the same graphs and split."""

Cell = tuple[str, str, float]


def cells(models: Sequence[str], names: Sequence[str], powers: Sequence[float]) -> Iterator[Cell]:
    """Model, data set and power, so that the table fills evenly."""
    for power in sorted(powers, key=WANTED_FIRST.index):
        for name in names:
            yield from ((model, name, power) for model in models)


def run(models: Sequence[str], names: Sequence[str], powers: Sequence[float], seeds: int) -> None:
    """Compute the missing cells; each is saved at once, and the page written after every seed."""
    results = Results("classifiers")
    for seed in range(seeds):
        for model, name, power in cells(models, names, powers):
            key = f"{model} | {name} | {power:g} | seed {seed}"
            if key in results:
                continue
            _, poisoned = published(name, power)
            start = time.perf_counter()
            accuracy = classifier(model).fit(poisoned, seed=seed).accuracy(poisoned)
            seconds = time.perf_counter() - start
            results.add(key, {"accuracy": round(accuracy, 4), "seconds": round(seconds, 2)})
        write_page(results)


def means(results: Results, what: str) -> dict[Cell, tuple[float, float, int]]:
    """Mean, standard deviation and number of seeds, by model, data set and power."""
    grouped: dict[Cell, list[float]] = {}
    for key, value in results.cells.items():
        model, name, power, _ = key.split(" | ")
        grouped.setdefault((model, name, float(power)), []).append(value[what])
    return {key: mean_and_deviation(values) for key, values in grouped.items()}


def table(results: Results, name: str) -> str:
    """One data set: a row per model, a column per power."""
    accuracy, seconds = means(results, "accuracy"), means(results, "seconds")

    def cell(model: str, power: float) -> str:
        if (model, name, power) not in accuracy:
            return "–"
        mean, deviation, count = accuracy[model, name, power]
        theirs = REPORTED.get((name, model), {}).get(power)
        beside = "" if theirs is None else f" ({theirs})"
        return f"{100 * mean:.1f} ± {100 * deviation:.1f}{beside}" + ("" if count == 10 else f", n = {count}")

    def row(model: str) -> list[str]:
        spent = [seconds[model, name, power][0] for power in POWERS if (model, name, power) in seconds]
        time_spent = f"{np.mean(spent):.1f}" if spent else "–"
        return [model, *(cell(model, power) for power in POWERS), time_spent]

    head = [name, *(f"{power:.0%}" for power in POWERS), "seconds a seed"]
    return markdown_table(head, map(row, CLASSIFIERS.names()))


def write_page(results: Results) -> None:
    """Write the tables into the page."""
    PAGE.write("\n".join(table(results, name) for name in NAMES))


if __name__ == "__main__":
    sys.exit(grid_main(__doc__, run, models=CLASSIFIERS.names(), names=NAMES, powers=POWERS, seeds=10))
