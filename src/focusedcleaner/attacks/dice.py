"""DICE: delete internally, connect externally."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from focusedcleaner.attacks.base import Attack, Progress
from focusedcleaner.attacks.random import check_share, draw_deletions, draw_insertions, number_removed
from focusedcleaner.errors import InputError
from focusedcleaner.graph import UNKNOWN, Graph, IntArray


@dataclass(frozen=True)
class Dice(Attack):
    """Deletes random edges within classes and inserts random edges between classes.

        A' = A − D + I,  D ⊂ {(u, v) ∈ E: y_u = y_v}, |D| = ⌊s·B⌋,  I ⊂ {(u, v) ∉ E: y_u ≠ y_v}, |I| = B − |D|,

    D and I drawn uniformly, except that no deletion isolates a node. The attacker knows every label that the graph has;
    nodes of unknown class are left alone. After Waniek, Michalak, Wooldridge, Rahwan: "Hiding Individuals and
    Communities in a Social Network", Nature Human Behaviour 2018 (https://arxiv.org/abs/1608.00375).

    Args:
        share_removed: s, the share of the budget B that is spent on deletions, between 0 and 1.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=100, homophily=0.8, seed=0)
    >>> poisoning = Dice().poison(graph, budget=0.1, seed=1)
    >>> len(poisoning.added), len(poisoning.removed)
    (10, 10)
    >>> round(poisoning.graph.homophily, 2)
    0.75
    """

    name: ClassVar[str] = "dice"

    share_removed: float = 0.5

    def __post_init__(self) -> None:
        check_share(self.share_removed)

    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress | None) -> tuple[IntArray, IntArray]:
        if graph.labels is None:
            raise InputError("DICE needs a graph with labels")
        rng = np.random.default_rng(seed)
        deletions = number_removed(budget, self.share_removed)
        ends = graph.labels[graph.edges]
        within = (ends[:, 0] == ends[:, 1]) & (ends[:, 0] != UNKNOWN)
        removed = draw_deletions(graph, within, deletions, rng)
        added = draw_insertions(graph, graph.labels, budget - deletions, rng)
        if progress is not None:
            progress(budget, budget)
        return added, removed
