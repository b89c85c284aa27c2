"""FocusedCleaner: bi-level structure learning, focused by victim detection."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from focusedcleaner.detectors import Detector, Victims, View, detector_of, reduced_attributes
from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.iterative import IterativeSanitizer, check_edges_per_round, edges_a_round, round_seed
from focusedcleaner.sanitizers.journal import Journal, Round
from focusedcleaner.sanitizers.outer_loss import OuterLoss
from focusedcleaner.surrogate import Implicit, InnerTraining, Smoother, Surrogate

SINGLE_PRECISION_FROM = 300_000
"""Edges from which single precision is used: node matrices leave the caches there, and a round waits for memory."""


@dataclass(frozen=True)
class FocusedCleaner(IterativeSanitizer):
    """Removes, step by step, the edge whose weight has the largest meta-gradient of the outer loss (Eq. 5–6, Alg. 1)

        L_S = λ·CE(validation, labels) + (1−λ)·CE(test, own predictions) + η·Tr(XᵀLX),  λ = 1 − t/B,

    taken over *normal* nodes only, through the training of the surrogate S = softmax(Â²XW*), among the edges that touch
    a *victim* (Alg. 1). An edge whose removal would isolate a node stays. Stops early where nothing is left to remove.

    Zhu, Tong, Li, Luo, Zhou: "FocusedCleaner: Sanitizing Poisoned Graphs for Robust GNN-based Node Classification".

    Args:
        detector: finds the victims: "classdiv" (CLD), "linkpred" (LP), "none", or a `Detector` with its own settings.
        eta: η, the weight of the attribute smoother; 0 switches it off. Without attributes it is off.
        validation_weight: λ, if it is to be fixed; None lets it fall from 1 to 0 as the budget is spent.
        normal_only: whether the losses leave out the victims.
        victim_ends: how many ends of a candidate edge must be victims: 1 (the paper's text) or 2 (the authors' code).
        edges_per_round: edges removed between two trainings: 1 is the paper's; None removes the budget in 80 rounds.
        inner: the inner training: `Implicit` or `Unrolled`.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, seed=0)
    >>> sanitation = FocusedCleaner(detector="classdiv").sanitize(graph, budget=0.05)
    >>> len(sanitation.removed) == sanitation.budget, sanitation.method
    (True, 'cld')
    """

    detector: Detector | str = "classdiv"
    eta: float = 1e-4
    validation_weight: float | None = None
    normal_only: bool = True
    victim_ends: int = 1
    edges_per_round: int | None = None
    inner: InnerTraining = field(default_factory=Implicit)

    def __post_init__(self) -> None:
        object.__setattr__(self, "detector", detector_of(self.detector))
        if not self.eta >= 0:
            raise InputError(f"eta must be 0 or above, not {self.eta:g}")
        if self.validation_weight is not None and not 0 <= self.validation_weight <= 1:
            raise InputError(f"validation_weight lies between 0 and 1, not {self.validation_weight:g}")
        if self.victim_ends not in (1, 2):
            raise InputError(f"victim_ends is 1 or 2, not {self.victim_ends}")
        check_edges_per_round(self.edges_per_round)

    @property
    def name(self) -> str:  # type: ignore[override]
        """cld, lp, or focused-… with another detector."""
        short = {"classdiv": "cld", "linkpred": "lp"}
        kind = detector_of(self.detector).name
        return short.get(kind, f"focused-{kind}")

    def per_round(self, budget: int) -> int:
        return edges_a_round(self.edges_per_round, budget)

    def begin(self, graph: Graph, budget: int, seed: int) -> _Cleaning:
        return _Cleaning(self, graph, budget, seed)


class _Cleaning:
    """One sanitation under way: the structure as it stands, and what each round computes from it."""

    def __init__(self, cleaner: FocusedCleaner, graph: Graph, budget: int, seed: int) -> None:
        self.cleaner, self.graph, self.edges, self.budget, self.seed = cleaner, graph, graph.edges, budget, seed
        self.detector = detector_of(cleaner.detector)
        precision = torch.float64 if graph.num_edges < SINGLE_PRECISION_FROM else torch.float32
        self.surrogate = Surrogate(graph, inner=cleaner.inner, dtype=precision)
        self.structure = self.surrogate.structure
        self.reduced = reduced_attributes(graph, dtype=precision)
        smooth = cleaner.eta > 0 and graph.attributes is not None
        self.smoother = Smoother(graph, self.surrogate.attributes) if smooth else None
        self.loss = OuterLoss(graph, dtype=precision, device="cpu")

    def repeat(self, journal: Journal) -> None:
        """Remove what an earlier run removed, round by round, which brings the surrogate to the same last digit."""
        for edges in journal.edges_by_round():
            self.surrogate.features.now()
            self.structure.remove(torch.tensor(edges))

    def round(self, journal: Journal, size: int) -> Round:
        """Train, detect, differentiate; the edges to go next, which are removed from the structure."""
        fitted = self.surrogate.fit(journal.memory.get("inner"))
        victims = self._victims(fitted.logits, journal)
        share = self._validation_share(len(journal.removed))
        normal = victims.normal if self.cleaner.normal_only else torch.ones_like(victims.normal)
        loss = self.loss.at(fitted.logits, normal, share)
        gradient = self.surrogate.meta_gradient(fitted, loss.signal).edges()
        if self.smoother is not None:
            gradient = gradient + self.cleaner.eta * self.smoother.edges(self.structure)
        edges = self._choose(gradient, victims, size)
        trace = {
            "validation_weight": share,
            **loss.parts,
            "smoothness": math.nan if self.smoother is None else float(self.smoother.value(self.structure)),
            "victims": int(victims.mask.sum()),
            "victim_threshold": victims.threshold,
            "largest_gradient": float(gradient[edges[0]]) if edges else math.nan,
        }
        if edges:
            self.structure.remove(torch.tensor(edges))
        memory = {f"detector.{key}": value for key, value in victims.memory.items()}
        return Round(
            edges,
            gradient[edges].tolist(),
            self._evidence(edges, gradient, victims, fitted.probabilities),
            trace,
            {"inner": fitted.solution.coordinates, **memory},
        )

    def _victims(self, logits: Tensor, journal: Journal) -> Victims:
        view = View(self.structure, logits, self.reduced, round_seed(self.seed, journal.rounds))
        memory = journal.part("detector.") if journal.rounds else self.detector.begin(self.graph, self.seed)
        return self.detector.victims(view, memory)

    def _validation_share(self, removed: int) -> float:
        """λ; 0 where nobody validates, so that the test nodes' own predictions lead from the start."""
        if not self.loss.validates:
            return 0.0
        fixed = self.cleaner.validation_weight
        return 1 - removed / self.budget if fixed is None else fixed

    def _choose(self, gradient: Tensor, victims: Victims, size: int) -> list[int]:
        """The ``size`` edges of largest gradient that touch enough victims and whose removal isolates nobody."""
        u, v = self.structure.ends
        ends = victims.mask[u].long() + victims.mask[v].long()
        candidates = torch.nonzero((ends >= self.cleaner.victim_ends) & self.structure.alive).squeeze(1)
        order = candidates[torch.sort(gradient[candidates], descending=True, stable=True).indices]
        degrees = self.structure.degrees.long().cpu().numpy()
        return without_isolating(order.cpu().numpy(), self.edges, degrees, size)

    def _evidence(
        self, edges: list[int], gradient: Tensor, victims: Victims, probabilities: Tensor
    ) -> dict[str, list[Any]]:
        u, v = self.structure.ends[:, edges]
        return {
            "meta_gradient": gradient[edges].tolist(),
            "victim_score_u": victims.score[u].tolist(),
            "victim_score_v": victims.score[v].tolist(),
            "classes_u": probabilities[u].tolist(),
            "classes_v": probabilities[v].tolist(),
        }
