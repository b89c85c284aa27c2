"""ESR of every sanitizer on Pro-GNN's METTACK graphs, and a GCN after Jaccard; resumable; fills docs/sanitizers.md.

python -m benchmarks.sanitizers [--seeds 2] [--methods jaccard,svd] [--names cora] [--powers 0.1]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.common import Results, Section, ended, published
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
"""What the Pro-GNN paper reports for GCN-Jaccard on Cora."""

Cell = tuple[str, str, float]


def cells(methods: Sequence[str], names: Sequence[str], powers: Sequence[float]) -> Iterator[Cell]:
    """Method, data set and power, so that the table fills evenly."""
    for power in sorted(powers, key=WANTED_FIRST.index):
        for name in names:
            for method in methods:
                if name != "polblogs" or method not in NEED_ATTRIBUTES:
                    yield method, name, power


def sanitize(methods: Sequence[str], names: Sequence[str], powers: Sequence[float], seeds: int) -> None:
    """Compute the ESRs that are not there yet; each is kept at once."""
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
    known = {key: (float(np.mean(v)), float(np.std(v)), len(v)) for key, v in grouped.items()}
    known |= {key: value for key, value in quality_means(Results("quality")).items() if key[0] in FOCUSED}

    def cell(method: str, power: float) -> str:
        if (method, name, power) not in known:
            return "–"
        mean, deviation, count = known[method, name, power]
        return f"{mean:.1f}" if count == 1 else f"{mean:.1f} ± {deviation:.1f}"

    def row(method: str) -> str:
        seconds = f"{np.mean(spent[method]):.1f}" if method in spent else "–"
        return f"| `{method}` | {' | '.join(cell(method, power) for power in POWERS)} | {seconds} |"

    oracle = " | ".join(f"{oracle_esr(name, power):.1f}" for power in POWERS)
    head = f"| {name} | {' | '.join(f'{power:.0%}' for power in POWERS)} | CPU seconds |"
    lines = [head, "| --- " * (len(POWERS) + 2) + "|", *map(row, (*FOCUSED, *METHODS)), f"| oracle | {oracle} | |"]
    return "\n".join(lines) + "\n"


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

    head = f"| threshold | {' | '.join(f'{power:.0%}' for power in POWERS)} |"
    rows = [f"| {t:g} | {' | '.join(cell(t, power) for power in POWERS)} |" for t in THRESHOLDS]
    theirs = f"| the Pro-GNN paper | {' | '.join(f'{AFTER_JACCARD[power]}' for power in POWERS)} |"
    return "\n".join([head, "| --- " * (len(POWERS) + 1) + "|", *rows, theirs]) + "\n"


def write_page() -> None:
    """Put the tables between the page's marks."""
    esr = "\n".join(esr_table(name) for name in NAMES)
    accuracy = f"A GCN's accuracy on Cora after `jaccard`, ten seeds:\n\n{jaccard_table()}"
    PAGE.write(f"{esr}\n{accuracy}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--names", default=",".join(NAMES))
    parser.add_argument("--powers", default=",".join(f"{power:g}" for power in POWERS))
    asked = parser.parse_args()
    powers = [float(power) for power in asked.powers.split(",")]

    def everything() -> None:
        sanitize(asked.methods.split(","), asked.names.split(","), powers, asked.seeds)
        after_jaccard(powers)

    return ended(everything)


if __name__ == "__main__":
    sys.exit(main())
