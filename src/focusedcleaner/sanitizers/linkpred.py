"""LinkPred alone: edges that a link predictor finds unlikely."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch

from focusedcleaner.detectors import LinkPred
from focusedcleaner.detectors.base import with_prefix
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.focused import SurrogateCleaning, column
from focusedcleaner.sanitizers.iterative import IterativeSanitizer, Journal, round_seed
from focusedcleaner.settings import bounded
from focusedcleaner.surrogate import Implicit, InnerTraining


@dataclass(frozen=True)
class UnlikelyLinks(IterativeSanitizer):
    """Removes the edges to which the detector `LinkPred` assigns the lowest probability, without a meta-gradient:

        score(u, v) = 1 − H₃(u, v),  H₃ = σ(H₂·H₂ᵀ),  H₂ = ReLU([Z | softmax(PCA(X)/T)]·w₁ + b₁)·w₂ + b₂  (Eq. 15).

    Z = Â²XW* are the surrogate's logits; surrogate and link predictor are retrained every round. An ablation in Zhu,
    Tong, Li, Luo, Zhou: "FocusedCleaner: Sanitizing Poisoned Graphs for Robust GNN-based Node Classification".

    Args:
        edges_per_round: edges removed between two trainings; None spends the budget in 80 rounds.
        detector: the link predictor with its own settings.
        inner: the inner training: `Implicit`, `Unrolled` or `TwoLayer`.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = UnlikelyLinks().sanitize(synthetic(num_nodes=200, seed=0), budget=20)
    >>> len(sanitation.evidence["link_probability"])
    20
    """

    name: ClassVar[str] = "linkpred"

    edges_per_round: int | None = bounded(None, "[1, inf)")
    detector: LinkPred = field(default_factory=LinkPred)
    inner: InnerTraining = field(default_factory=Implicit)

    def begin(self, graph: Graph, budget: int, seed: int) -> _LinkCleaning:
        return _LinkCleaning(self, graph, budget, seed)


class _LinkCleaning(SurrogateCleaning):
    """The rounds of `UnlikelyLinks`."""

    def round(self, journal: Journal, size: int) -> Journal:
        fitted = self.surrogate.fit(journal.memory.get("inner"), round_seed(self.seed, journal.rounds))
        view = self.view(fitted.logits, journal)
        probabilities, _, weights = self.cleaner.detector.probabilities(view, with_prefix(journal.memory, "detector."))
        remaining = self.structure.alive.nonzero().squeeze(1)
        probability = probabilities.double()
        edges = self.remove_largest(-probability, remaining, size)
        removed = torch.tensor(edges, dtype=torch.int64)
        likely = column(probability[removed])
        evidence = {"link_probability": likely, **self.class_evidence(removed, fitted.logits)}
        trace = {"mean_link_probability": float(probabilities[remaining].mean())}
        memory = {"inner": fitted.solution.coordinates, **{f"detector.{key}": part for key, part in weights.items()}}
        return journal.plus(edges, 1 - likely, evidence, trace, memory)
