"""The small graph that is computed here and on a cluster, with what is compared."""

from __future__ import annotations

from typing import Any

from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import Sanitation, sanitizer

BLOCK_ENTRIES = 200
METHODS = ("agreement", "cld", "lp")


def graph_of_many_blocks() -> Graph:
    """A graph of about fifteen blocks of `BLOCK_ENTRIES`; its nodes have names, which fix their order."""
    graph = synthetic(400, 5, 4, 0.8, 40, seed=3)
    return graph.in_canonical_order()


def cleaned(method: str, graph: Graph, **how: Any) -> Sanitation:
    """Remove forty edges, ten a round."""
    return sanitizer(method, **({} if method == "agreement" else {"edges_per_round": 10})).sanitize(graph, 40, **how)


def outcome(sanitation: Sanitation) -> list[Any]:
    """The removed edges, and their scores to the last digit."""
    return [sanitation.removed.tolist(), sanitation.scores.tobytes().hex()]
