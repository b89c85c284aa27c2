"""Forecasts of time and memory, from whole runs that were measured (benchmarks/forecast.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from focusedcleaner.checking.size import Size, unit_of_time
from focusedcleaner.sanitizers import SANITIZERS, Sanitizer, SelfAttack, sanitizer
from focusedcleaner.sanitizers.self_attack.em import UNROLLED_MAX_EDGES
from focusedcleaner.sanitizers.self_attack.plans import WIDE_ROUNDS

FREE_SETTINGS = ("purpose", "threshold", "rounds")
"""Settings of self-attack that don't change its cost, or change it in a known way."""

IN_REGIONS = "self-attack in regions"
"""Self-attack on large graphs, where attackers are rehearsed in regions."""

TIME: dict[str, dict[str, float]] = {
    "self-attack": {
        "run": 5595.0,
        "nodes": 596700.0,
        "edges": 457900.0,
        "nodes × classes": 345700.0,
        "neighbours' entries": 6866.0,
        "two-hop paths": 535.8,
        "unrolled gradients": 5133.0,
    },
    IN_REGIONS: {"run": 60140.0, "edges": 106400.0},
    "agreement": {"nodes × classes": 1895.0, "edges × classes": 788.2},
    "cld": {"run": 1136.0, "edges": 11680.0, "edges × classes": 2804.0, "training rows": 1653.0},
    "dense-blocks": {"run": 47.64, "nodes": 33020.0, "edges": 4371.0, "two-hop paths": 0.5483},
}
"""Units of time (`size.unit_of_time`) per million of each of the `drivers`, as `python -m benchmarks.forecast` fits."""
MEMORY: dict[str, dict[str, float]] = {
    "self-attack": {
        "run": 0.4156,
        "nodes": 3.319,
        "edges": 0.2745,
        "nodes × classes": 0.2721,
        "entries × classes": 0.06407,
        "neighbours' entries": 0.04393,
        "two-hop paths": 0.005669,
        "unrolled gradients": 0.1532,
    },
    IN_REGIONS: {"run": 0.8213, "edges": 1.324},
    "agreement": {"run": 0.3278, "edges": 0.05448, "nodes × classes": 0.1766},
    "cld": {"run": 0.4018, "edges": 0.3618, "edges × classes": 0.055, "training rows": 0.007879},
    "dense-blocks": {"run": 0.3235, "nodes": 0.4206, "edges": 0.1695, "two-hop paths": 4.076e-05},
}
"""GB per million of each of the `drivers`."""
DENSE, DENSE_SHARE = 0.25, 0.17
"""Share of non-zero attributes from which they are kept as a dense array, and the time of a product with it relative to
a sparse one. One graph alone, wild/amazon_photo, says so: 245 s were measured there."""
ALL_LABELS = 1.5
"""Time with all labels and no split, which takes two searches more, relative to that with some labels."""


@dataclass(frozen=True)
class Forecast:
    """What a run of a method will cost on this machine, within a factor of two."""

    method: str
    seconds: float
    """On a core that does nothing else."""
    gigabytes: float
    """The largest amount of memory at a time, libraries included."""

    def __str__(self) -> str:
        return f"about {duration(self.seconds)} and {self.gigabytes:.1f} GB"


def forecast(method: Sanitizer, size: Size, *, all_labels: bool = False) -> Forecast | None:
    """Forecast a run; None for a method, or settings, that were not measured.

    ``all_labels``: whether every label is known and no split is given.

    >>> size = Size(2485, 5069, 7, 248, 1433, 45487, 185800, 113964)
    >>> forecast(sanitizer("self-attack"), size).seconds < forecast(sanitizer("self-attack", rounds=20), size).seconds
    True
    """
    name = method.name
    if name not in TIME or name not in SANITIZERS.names() or not _usual(method.settings(), sanitizer(name).settings()):
        return None
    work, costs = drivers(size), cost_name(name, size)
    seconds = unit_of_time() * total(TIME[costs], work) * _rounds(method.settings())
    if all_labels and name == "self-attack":
        seconds *= ALL_LABELS
    return Forecast(name, seconds, total(MEMORY[costs], work))


def cost_name(method: str, size: Size) -> str:
    """Return under which name the costs of a method are: those of self-attack in regions have their own."""
    return IN_REGIONS if method == "self-attack" and size.edges > SelfAttack().regions_beyond else method


def drivers(size: Size) -> dict[str, float]:
    """Return what the cost of a run is a sum of, each in millions."""
    training_rows = size.nodes * min(size.training_nodes, size.columns)
    counts = {
        "run": 1_000_000,
        "nodes": size.nodes,
        "edges": size.edges,
        "edges × classes": size.edges * size.classes,
        "nodes × classes": size.nodes * size.classes,
        "entries × classes": size.entries * size.classes,
        "neighbours' entries": size.neighbour_entries * (DENSE_SHARE if _is_dense(size) else 1),
        "two-hop paths": size.two_hop_paths,
        "training rows": training_rows,
        "unrolled gradients": training_rows if size.edges <= UNROLLED_MAX_EDGES else 0,
    }
    return {name: number / 1e6 for name, number in counts.items()}


def _is_dense(size: Size) -> bool:
    return size.entries >= DENSE * size.nodes * size.columns


def total(costs: Mapping[str, float], work: Mapping[str, float]) -> float:
    """Return the cost of some work: `TIME` or `MEMORY` of a method times the `drivers` of a size."""
    return sum(cost * work[name] for name, cost in costs.items())


def _usual(settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> bool:
    return all(value == defaults.get(name) or name in FREE_SETTINGS for name, value in settings.items())


def _rounds(settings: Mapping[str, Any]) -> float:
    """Return the rounds of self-attack in relation to those that were measured: both searches, and the test of harm."""
    rounds = settings.get("rounds")
    if not isinstance(rounds, int):
        return 1.0
    return (rounds + min(rounds, WIDE_ROUNDS) + 1) / (4 + WIDE_ROUNDS + 1)


def duration(seconds: float) -> str:
    """Round a time to what a forecast can know.

    >>> duration(0.3), duration(43), duration(200), duration(9000)
    ('1 s', '40 s', '3 min', '2.5 h')
    """
    if seconds < 10:
        return f"{max(round(seconds), 1)} s"
    if seconds < 95:
        return f"{round(seconds, -1):.0f} s"
    if seconds < 3570:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
