"""LinkPred alone: edges that a link predictor finds unlikely."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch

from focusedcleaner.detectors import LinkPred, View, reduced_attributes
from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.iterative import IterativeSanitizer, check_edges_per_round, edges_a_round, round_seed
from focusedcleaner.sanitizers.journal import Journal, Round
from focusedcleaner.surrogate import Implicit, InnerTraining, Surrogate


@dataclass(frozen=True)
class UnlikelyLinks(IterativeSanitizer):
    """Removes the edges that the detector `LinkPred` finds least likely, with no meta-gradient:

        score(u, v) = 1 − H₃(u, v),  H₃ = σ(H₂·H₂ᵀ),  H₂ = ReLU([Z | softmax(PCA(X)/T)]·w₁ + b₁)·w₂ + b₂.

    Z = Â²XW* is the surrogate's, trained again in every round like the link predictor. An ablation in Zhu, Tong, Li,
    Luo, Zhou: "FocusedCleaner: Sanitizing Poisoned Graphs for Robust GNN-based Node Classification".

    Args:
        edges_per_round: edges removed between two trainings; None removes the budget in 80 rounds.
        detector: the link predictor with its own settings.
        inner: the inner training: `Implicit` or `Unrolled`.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = UnlikelyLinks().sanitize(synthetic(num_nodes=200, seed=0), budget=20)
    >>> len(sanitation.evidence["link_probability"])
    20
    """

    name: ClassVar[str] = "linkpred"

    edges_per_round: int | None = None
    detector: LinkPred = field(default_factory=LinkPred)
    inner: InnerTraining = field(default_factory=Implicit)

    def __post_init__(self) -> None:
        check_edges_per_round(self.edges_per_round)

    def per_round(self, budget: int) -> int:
        return edges_a_round(self.edges_per_round, budget)

    def begin(self, graph: Graph, budget: int, seed: int) -> _Cleaning:
        return _Cleaning(self, graph, seed)


class _Cleaning:
    """One sanitation under way: the structure as it stands."""

    def __init__(self, cleaner: UnlikelyLinks, graph: Graph, seed: int) -> None:
        self.cleaner, self.edges, self.seed = cleaner, graph.edges, seed
        self.surrogate = Surrogate(graph, inner=cleaner.inner)
        self.structure = self.surrogate.structure
        self.reduced = reduced_attributes(graph, dtype=self.structure.dtype)

    def repeat(self, journal: Journal) -> None:
        for edges in journal.edges_by_round():
            self.surrogate.features.now()
            self.structure.remove(torch.tensor(edges))

    def round(self, journal: Journal, size: int) -> Round:
        fitted = self.surrogate.fit(journal.memory.get("inner"))
        view = View(self.structure, fitted.logits, self.reduced, round_seed(self.seed, journal.rounds))
        likely, _, learnt = self.cleaner.detector.probabilities(view, journal.part("detector."))
        probability = torch.full((len(self.edges),), torch.nan, dtype=torch.float64)
        probability[self.structure.alive] = likely.double()
        there = self.structure.alive.nonzero().squeeze(1)
        order = there[torch.sort(probability[there], stable=True).indices]
        edges = without_isolating(order.numpy(), self.edges, self.structure.degrees.long().numpy(), size)
        self.structure.remove(torch.tensor(edges, dtype=torch.long))
        u, v = self.structure.ends[:, edges]
        evidence = {
            "link_probability": probability[edges].tolist(),
            "classes_u": fitted.probabilities[u].tolist(),
            "classes_v": fitted.probabilities[v].tolist(),
        }
        trace = {"mean_link_probability": float(likely.mean())}
        memory = {"inner": fitted.solution.coordinates, **{f"detector.{key}": part for key, part in learnt.items()}}
        return Round(edges, (1 - probability[edges]).tolist(), evidence, trace, memory)
