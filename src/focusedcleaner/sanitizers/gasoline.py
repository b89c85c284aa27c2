"""GASOLINE and GASOLINE-D: bi-level structure learning by the validation loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch

from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.engine.structure import MutableEdges
from focusedcleaner.engine.top_pairs import Excluded, best_pairs
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray, Split, no_pairs
from focusedcleaner.sanitizers.focused import OuterLoss
from focusedcleaner.sanitizers.iterative import Cleaning, IterativeSanitizer, Journal
from focusedcleaner.settings import bounded
from focusedcleaner.surrogate import Implicit, InnerTraining, PairGradient, Surrogate


@dataclass(frozen=True)
class Gasoline(IterativeSanitizer):
    """Flips, step by step, the pair whose flip lowers the validation loss fastest, through the training:

        argmax_(u,v) (2·A_uv − 1)·∂L/∂A_uv,  L = Σ_k CE(fold k, labels) of softmax(Â²XW_k),
        W_k trained on the labelled nodes of all other folds.

    Each flip, a removal or an insertion, counts against the budget; no pair is flipped twice and no node is isolated.
    The gradient of all N² pairs is kept in factors and searched in blocks.

    Xu, Du, Tong: "Graph Sanitation with Application to Node Classification", WWW 2022
    (https://arxiv.org/abs/2105.09384), with the exact meta-gradient of our surrogate instead of a truncated one.

    Args:
        folds: the number of folds of the training and validation nodes; the authors' code has 4. 1 trains once on the
            training nodes and validates on the validation nodes, as the FocusedCleaner paper describes.
        edges_per_round: pairs flipped between two trainings; None spends the budget in 80 rounds.
        inner: the inner training: `Implicit`, `Unrolled` or `TwoLayer`.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = Gasoline().sanitize(synthetic(num_nodes=200, seed=0), budget=20)
    >>> len(sanitation.removed) + len(sanitation.added), len(sanitation.added) > 0
    (20, True)
    """

    name: ClassVar[str] = "gasoline"
    inserts: ClassVar[bool] = True

    folds: int = bounded(4, "[1, 1000]")
    edges_per_round: int | None = bounded(None, "[1, inf)")
    inner: InnerTraining = field(default_factory=Implicit)

    def begin(self, graph: Graph, budget: int, seed: int) -> _Cleaning:
        return _Cleaning(self, graph, budget, seed)


@dataclass(frozen=True)
class GasolineD(Gasoline):
    """Removes, step by step, the edge with the largest meta-gradient of the validation loss:

        argmax_(u,v) ∂L/∂A_uv,  L = Σ_k CE(fold k, labels) of softmax(Â²XW_k),
        W_k trained on the labelled nodes of all other folds.

    `Gasoline` without insertions, with the same settings. With folds = 1 it is `FocusedCleaner` without detector, test
    loss and smoother. An edge whose removal would isolate a node stays.

    Xu, Du, Tong: "Graph Sanitation with Application to Node Classification", WWW 2022
    (https://arxiv.org/abs/2105.09384), restricted to deletions as in the FocusedCleaner paper.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = GasolineD().sanitize(synthetic(num_nodes=200, seed=0), budget=20)
    >>> sanitation.method, len(sanitation.removed), len(sanitation.added)
    ('gasoline-d', 20, 0)
    """

    name: ClassVar[str] = "gasoline-d"
    inserts: ClassVar[bool] = False


class _Cleaning(Cleaning):
    """The rounds of `Gasoline` and `GasolineD`: one surrogate per fold."""

    def __init__(self, cleaner: Gasoline, graph: Graph, budget: int, seed: int) -> None:
        super().__init__(cleaner, graph, budget, seed)
        graphs = [graph.with_split(split) for split in fold_splits(graph, cleaner.folds, seed)]
        self.surrogates = [Surrogate(part, inner=cleaner.inner) for part in graphs]
        self.losses = [OuterLoss(part) for part in graphs]
        self.current = MutableEdges(graph)

    def replay(self, journal: Journal) -> None:
        # Updating the features after each round, not once at the end, reproduces them to the last digit.
        for removed, added in zip(journal.by_round("removed"), journal.by_round("added"), strict=True):
            for surrogate in self.surrogates:
                surrogate.features.now()
            self._flip([*self.graph.edges[removed].tolist(), *added.tolist()])

    def round(self, journal: Journal, size: int) -> Journal:
        """Train the surrogates, differentiate the sum of their validation losses, flip pairs."""
        fits = [surrogate.fit(journal.memory.get(f"inner{k}")) for k, surrogate in enumerate(self.surrogates)]
        all_nodes = torch.ones(self.graph.num_nodes, dtype=torch.bool)
        losses = [loss.at(fitted.logits, all_nodes, 1.0) for loss, fitted in zip(self.losses, fits, strict=True)]
        gradients = [
            surrogate.meta_gradient(fitted, logits_gradient)
            for surrogate, fitted, (logits_gradient, _) in zip(self.surrogates, fits, losses, strict=True)
        ]
        left, right = (torch.cat([getattr(part, side) for part in gradients], 1) for side in ("left", "right"))
        gradient = PairGradient(gradients[0].structure, left, right)  # the sum
        removable, removal_gain = self._removals(gradient, size)
        pairs, insertion_gain = self._insertions(gradient, size if self.cleaner.inserts else 0)
        # The largest of both kinds; of equal ones, removals first.
        best = np.argsort(-np.concatenate([removal_gain, insertion_gain]), kind="stable")[:size]
        first, second = best[best < len(removable)], best[best >= len(removable)] - len(removable)
        removed, added = removable[first], pairs[second].tolist()
        self._flip([*self.graph.edges[removed].tolist(), *added])
        u, v = self.graph.edges[removed].T
        classes = torch.stack([fitted.probabilities for fitted in fits]).mean(0)
        scores = removal_gain[first].tolist()
        evidence = {"meta_gradient": scores, "classes_u": classes[u].tolist(), "classes_v": classes[v].tolist()}
        means = {
            key: float(np.mean([parts[key] for _, parts in losses]))
            for key in ("validation_loss", "validation_accuracy")
        }
        trace = {"added": len(journal.added) + len(added), **means}
        memory = {f"inner{k}": fitted.solution.coordinates for k, fitted in enumerate(fits)}
        return journal.plus(removed.tolist(), scores, evidence, trace, memory, added, insertion_gain[second].tolist())

    def _removals(self, gradient: PairGradient, size: int) -> tuple[IntArray, FloatArray]:
        """Return the original edges whose removal lowers the loss fastest, and their gradients."""
        values = gradient.edges().numpy()
        unflipped = np.flatnonzero(~np.isin(self.current.keys, self.current.flipped))
        order = unflipped[np.argsort(-values[unflipped], kind="stable")]
        chosen = without_isolating(order, self.current.edges, self.current.degrees, size)
        return np.searchsorted(self.graph.edge_keys, self.current.keys[chosen]), values[chosen]

    def _insertions(self, gradient: PairGradient, size: int) -> tuple[IntArray, FloatArray]:
        """Return the pairs whose insertion lowers the loss fastest, and their negative gradients."""
        if not size:
            return no_pairs(), np.empty(0)
        front, back = gradient.factors()
        return best_pairs(-front, back, Excluded(self.current.not_insertable()), size)

    def _flip(self, pairs: list[list[int]]) -> None:
        for u, v in pairs:
            self.current.flip(u, v)
        touched = sorted({node for pair in pairs for node in pair})
        for surrogate in self.surrogates:
            surrogate.move_to(self.current.structure(), touched)


def fold_splits(graph: Graph, number: int, seed: int) -> list[Split]:
    """Return one split per fold of the labelled nodes: validation on the fold, training on all others.

    Each class is spread over the folds as evenly as possible.
    """
    assert graph.split is not None
    assert graph.labels is not None
    if number == 1:
        if not len(graph.split.val):
            raise InputError("the split has no validation node: with folds=1 there is nothing to validate on")
        return [graph.split]
    known = np.concatenate([graph.split.train, graph.split.val])
    if len(known) < number:
        raise InputError(f"there are {len(known)} labelled nodes, too few for {number} folds")
    shuffled = np.random.default_rng(seed).permutation(known)
    by_class = shuffled[np.argsort(graph.labels[shuffled], kind="stable")]
    fold = np.empty(graph.num_nodes, dtype=np.int64)
    fold[by_class] = np.arange(len(known)) % number
    return [Split(known[fold[known] != part], known[fold[known] == part], graph.split.test) for part in range(number)]
