"""ESR of FocusedCleaner on Pro-GNN's METTACK graphs, budget 10 %, and of its ablations; resumable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.common import Results, mean_and_deviation, published
from focusedcleaner.sanitizers import sanitizer
from focusedcleaner.scoring import score

SEEDS = range(5)
POWERS = (0.05, 0.1, 0.15, 0.2, 0.25)
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "cld": ("cld", {}),
    "lp": ("lp", {}),
    "cld, one edge at a time": ("cld", {"edges_per_round": 1}),
    "no detector": ("focused-none", {}),
    "loss over all nodes": ("cld", {"normal_only": False}),
    "no test loss": ("cld", {"validation_weight": 1.0}),
    "no smoother": ("cld", {"eta": 0.0}),
    "both ends victims": ("cld", {"victim_ends": 2}),
    "cld, unrolled": ("cld", {"inner": "unrolled"}),
}


def cells() -> Iterator[tuple[str, str, float]]:
    """Variant, data set and power, the most wanted first."""
    for name in ("cora", "citeseer", "polblogs"):
        yield from ((variant, name, 0.1) for variant in VARIANTS if "time" not in variant)
    for power in (0.05, 0.15, 0.2, 0.25):
        yield from (("cld", name, power) for name in ("cora", "citeseer", "polblogs"))
    for power in (0.05, 0.15, 0.2, 0.25):
        yield from (("lp", name, power) for name in ("cora", "citeseer", "polblogs"))
    yield from (("cld, one edge at a time", name, 0.1) for name in ("cora", "citeseer"))


def run() -> None:
    """Compute the missing cells."""
    results = Results("quality")
    for seed in SEEDS:
        for variant, name, power in cells():
            key = f"{variant} | {name} | {power:g} | seed {seed}"
            if key in results:
                continue
            method, settings = VARIANTS[variant]
            clean, poisoned = published(name, power)
            found = sanitizer(method, **settings).sanitize(poisoned, 0.1, seed=seed)
            value = score(found.removed, poisoned=poisoned, clean=clean)
            results.add(
                key,
                {
                    "esr": round(value.esr, 4),
                    "f1": round(value.f1, 4),
                    "cr": round(value.cr, 4),
                    "oracle_esr": round(value.oracle_esr, 4),
                    "seconds": round(found.seconds, 1),
                },
            )


def means(results: Results) -> dict[tuple[str, str, float], tuple[float, float, int]]:
    """Mean and standard deviation of the ESR in percent, and the number of seeds, by variant, data set and power."""
    grouped: dict[tuple[str, str, float], list[float]] = {}
    for key, value in results.cells.items():
        variant, name, power, _ = key.split(" | ")
        grouped.setdefault((variant, name, float(power)), []).append(100 * value["esr"])
    return {key: mean_and_deviation(values) for key, values in grouped.items()}
