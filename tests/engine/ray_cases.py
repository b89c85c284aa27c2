"""The small graph that is computed here and on a cluster, with what is compared."""

from __future__ import annotations

from typing import Any

from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import Sanitation, sanitizer

BLOCK_ENTRIES = 200
PAIRS = 200
"""Pairs whose features are computed at once."""
METHODS: dict[str, dict[str, Any]] = {
    "agreement": {},
    "cld": {"edges_per_round": 10},
    "lp": {"edges_per_round": 10},
}
DEFAULT = "self-attack"
SETTINGS = {
    **METHODS,
    DEFAULT: {
        "rounds": 1,
        "trees": 5,
        "attackers": "random,dice",
        "attackers_elsewhere": "random",
        "regions_beyond": 0,
    },
}


def graph_of_many_blocks() -> Graph:
    """A graph of about fifteen blocks of `BLOCK_ENTRIES`; its nodes have names, which fix their order."""
    graph = synthetic(400, 5, 4, 0.8, 40, seed=3)
    return graph.in_canonical_order()


def cleaned(method: str, graph: Graph, **how: Any) -> Sanitation:
    """Remove forty edges."""
    return sanitizer(method, **SETTINGS[method]).sanitize(graph, 40, **how)


def outcome(sanitation: Sanitation) -> list[Any]:
    """The removed edges, and their scores to the last digit."""
    return [sanitation.removed.tolist(), sanitation.scores.tobytes().hex()]
