"""GASOLINE: bi-level structure learning that deletes and inserts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.engine.mutable_edges import MutableEdges
from focusedcleaner.engine.top_pairs import Excluded, best_pairs
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.sanitizers.folds import Folds
from focusedcleaner.sanitizers.iterative import IterativeSanitizer, check_edges_per_round, edges_a_round
from focusedcleaner.sanitizers.journal import Journal, Round
from focusedcleaner.surrogate import Implicit, InnerTraining, PairGradient


@dataclass(frozen=True)
class Gasoline(IterativeSanitizer):
    """Flips, step by step, the pair whose flip lowers the validation loss fastest, through the training:

        argmax_(u,v) (2·A_uv − 1)·∂L/∂A_uv,  L = Σ_k CE(fold k, labels) of softmax(Â²XW_k),
        W_k trained on the labelled nodes of all other folds.

    Each flip, a removal or an insertion, counts against the budget; no pair is flipped twice and no node isolated. The
    gradient of all N² pairs has a factor form and is searched in blocks.

    Xu, Du, Tong: "Graph Sanitation with Application to Node Classification", WWW 2022
    (https://arxiv.org/abs/2105.09384), with the exact meta-gradient of our surrogate instead of a truncated one.

    Args:
        folds: into how many folds the training and validation nodes are divided; the authors' code has 4. 1 is for one
            training on the training nodes, validated by the validation nodes, as the FocusedCleaner paper has it.
        edges_per_round: pairs flipped between two trainings; None spends the budget in 80 rounds.
        inner: the inner training: `Implicit` or `Unrolled`.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = Gasoline().sanitize(synthetic(num_nodes=200, seed=0), budget=20)
    >>> len(sanitation.removed) + len(sanitation.added), len(sanitation.added) > 0
    (20, True)
    """

    name: ClassVar[str] = "gasoline"
    inserts: ClassVar[bool] = True

    folds: int = 4
    edges_per_round: int | None = None
    inner: InnerTraining = field(default_factory=Implicit)

    def __post_init__(self) -> None:
        check_edges_per_round(self.edges_per_round)
        if self.folds < 1:
            raise InputError(f"folds must be 1 or above, not {self.folds}")

    def per_round(self, budget: int) -> int:
        return edges_a_round(self.edges_per_round, budget)

    def begin(self, graph: Graph, budget: int, seed: int) -> _Flipping:
        return _Flipping(graph, Folds(graph, self.folds, self.inner, seed), inserts=self.inserts)


class _Flipping:
    """One sanitation under way: the graph as it stands."""

    def __init__(self, graph: Graph, folds: Folds, *, inserts: bool) -> None:
        self.graph, self.folds, self.inserts = graph, folds, inserts
        self.evolving = MutableEdges(graph)

    def repeat(self, journal: Journal) -> None:
        for removed, added in zip(journal.edges_by_round(), journal.added_by_round(), strict=True):
            self.folds.repeat()
            self._flip([*self.graph.edges[removed].tolist(), *added])

    def round(self, journal: Journal, size: int) -> Round:
        found = self.folds.gradient(journal.memory)
        removable, relief = self._removals(found.gradient, size)
        pairs, gain = self._insertions(found.gradient, size if self.inserts else 0)
        # The largest of both kinds, removals first where they are equal.
        best = np.argsort(-np.concatenate([relief, gain]), kind="stable")[:size]
        gone, new = best[best < len(relief)], best[best >= len(relief)] - len(relief)
        removed, added = removable[gone], [(int(u), int(v)) for u, v in pairs[new]]
        self._flip([*self.graph.edges[removed].tolist(), *added])
        u, v = self.graph.edges[removed].T
        evidence = {
            "meta_gradient": relief[gone].tolist(),
            "classes_u": found.classes[u].tolist(),
            "classes_v": found.classes[v].tolist(),
        }
        trace = {"added": len(journal.added) + len(added), **found.parts}
        return Round(removed.tolist(), relief[gone].tolist(), evidence, trace, found.memory, added, gain[new].tolist())

    def _removals(self, gradient: PairGradient, size: int) -> tuple[IntArray, FloatArray]:
        """The edges, by their numbers in the graph, whose removal lowers the loss fastest, and how fast."""
        slopes = gradient.edges().numpy()
        free = np.flatnonzero(~np.isin(self.evolving.keys, self.evolving.flipped))
        order = free[np.argsort(-slopes[free], kind="stable")]
        places = without_isolating(order, self.evolving.edges, self.evolving.degrees, size)
        return np.searchsorted(self.graph.edge_keys, self.evolving.keys[places]), slopes[places]

    def _insertions(self, gradient: PairGradient, size: int) -> tuple[IntArray, FloatArray]:
        """The pairs whose connection lowers the loss fastest, and how fast."""
        if not size:
            return no_pairs(), np.empty(0)
        front, back = gradient.factors()
        return best_pairs(-front, back, Excluded(self.evolving.not_insertable()), size)

    def _flip(self, pairs: Iterable[Iterable[int]]) -> None:
        touched: set[int] = set()
        for u, v in pairs:
            self.evolving.flip(u, v)
            touched |= {u, v}
        self.folds.move_to(self.evolving, sorted(touched))
