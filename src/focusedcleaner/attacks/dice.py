"""DICE: delete edges within classes, insert edges between classes."""

from __future__ import annotations

from dataclasses import dataclass

from focusedcleaner.attacks.random import RandomAttack
from focusedcleaner.graph import UNKNOWN, BoolArray, Graph, IntArray
from focusedcleaner.settings import bounded


@dataclass(frozen=True)
class Dice(RandomAttack):
    """Deletes random edges within classes and inserts random edges between classes.

        A' = A − D + I,  D ⊂ {(u, v) ∈ E: y_u = y_v}, |D| = ⌊s·B⌋,  I ⊂ {(u, v) ∉ E: y_u ≠ y_v}, |I| = B − |D|,

    D and I drawn uniformly, except that no deletion isolates a node. The attacker knows all labels of the graph; nodes
    of unknown class are left alone. After Waniek, Michalak, Wooldridge, Rahwan: "Hiding Individuals and Communities in
    a Social Network", Nature Human Behaviour 2018 (https://arxiv.org/abs/1608.00375).

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

    name = "dice"
    needs = "labels"

    share_removed: float = bounded(0.5, "[0, 1]")

    def candidates(self, graph: Graph) -> tuple[BoolArray, IntArray]:
        assert graph.labels is not None
        ends = graph.labels[graph.edges]
        return (ends[:, 0] == ends[:, 1]) & (ends[:, 0] != UNKNOWN), graph.labels
