"""FocusedCleaner: bi-level structure learning, focused by victim detection."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from focusedcleaner.detectors import Detector, Victims, detector_of
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.iterative import IterativeSanitizer, Journal, Round, SurrogateCleaning
from focusedcleaner.surrogate import Implicit, InnerTraining, Smoother

SINGLE_PRECISION_FROM = 300_000
"""Edges from which single precision is used: node matrices exceed the CPU caches, and memory bandwidth dominates."""


@dataclass(frozen=True)
class FocusedCleaner(IterativeSanitizer):
    """Removes, step by step, the edge with the largest meta-gradient of the outer loss (Eq. 5 and 6)

        L_S = λ·CE(validation, labels) + (1−λ)·CE(test, own predictions) + η·Tr(XᵀLX),  λ = 1 − t/B,

    over the *normal* nodes, through the training of the surrogate S = softmax(Â²XW*), among the edges that touch a
    *victim* (Alg. 1). An edge whose removal would isolate a node stays. Stops early if no candidate is left.

    Zhu, Tong, Li, Luo, Zhou: "FocusedCleaner: Sanitizing Poisoned Graphs for Robust GNN-based Node Classification".

    Args:
        detector: the victim detector: "classdiv" (CLD), "linkpred" (LP), "none", or a `Detector` with its own settings.
        eta: η, the weight of the attribute smoother; 0 disables it. Ignored without attributes.
        validation_weight: a fixed λ; None decreases it from 1 to 0 as the budget is spent.
        normal_only: whether the losses leave out the victims.
        victim_ends: victims at a candidate edge, at least: 1 (the paper's text) or 2 (the authors' code).
        edges_per_round: edges removed between two trainings: 1 is the paper's; None spends the budget in 80 rounds.
        inner: the inner training: `Implicit` or `Unrolled`.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, seed=0)
    >>> FocusedCleaner(detector="classdiv").sanitize(graph, budget=0.05)
    Sanitation(cld: 20 of 400 edges removed)
    """

    detector: Detector | str = "classdiv"
    eta: float = 1e-4
    validation_weight: float | None = None
    normal_only: bool = True
    victim_ends: int = 1
    edges_per_round: int | None = None
    inner: InnerTraining = field(default_factory=Implicit)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "detector", detector_of(self.detector))
        if not self.eta >= 0:
            raise InputError(f"eta must be 0 or above, not {self.eta:g}")
        if self.validation_weight is not None and not 0 <= self.validation_weight <= 1:
            raise InputError(f"validation_weight must lie between 0 and 1, not {self.validation_weight:g}")
        if self.victim_ends not in (1, 2):
            raise InputError(f"victim_ends must be 1 or 2, not {self.victim_ends}")

    @property
    def name(self) -> str:  # type: ignore[override]
        """cld, lp, or focused-… with another detector."""
        short = {"classdiv": "cld", "linkpred": "lp"}
        kind = detector_of(self.detector).name
        return short.get(kind, f"focused-{kind}")

    def begin(self, graph: Graph, budget: int, seed: int) -> _Cleaning:
        return _Cleaning(self, graph, budget, seed)


class _Cleaning(SurrogateCleaning):
    """The rounds of `FocusedCleaner` (Alg. 1)."""

    def __init__(self, cleaner: FocusedCleaner, graph: Graph, budget: int, seed: int) -> None:
        dtype = torch.float64 if graph.num_edges < SINGLE_PRECISION_FROM else torch.float32
        super().__init__(graph, cleaner.inner, seed, dtype)
        self.cleaner, self.budget = cleaner, budget
        self.detector = detector_of(cleaner.detector)
        smooth = cleaner.eta > 0 and graph.attributes is not None
        self.smoother = Smoother(graph, self.surrogate.attributes) if smooth else None
        self.loss = OuterLoss(graph)

    def round(self, journal: Journal, size: int) -> Round:
        """Train the surrogate, detect victims, differentiate the outer loss, remove edges."""
        fitted = self.surrogate.fit(journal.memory.get("inner"))
        memory = journal.memory_of("detector.") if journal.rounds else self.detector.begin(self.graph, self.seed)
        victims = self.detector.victims(self.view(fitted.logits, journal), memory)
        weight = self._validation_weight(len(journal.removed))
        normal = victims.normal if self.cleaner.normal_only else torch.ones_like(victims.normal)
        logits_gradient, losses = self.loss.at(fitted.logits, normal, weight)
        gradient = self.surrogate.meta_gradient(fitted, logits_gradient).edges()
        smoothness = math.nan
        if self.smoother is not None:
            gradient = gradient + self.cleaner.eta * self.smoother.edges(self.structure)
            smoothness = float(self.smoother.value(self.structure))
        edges = self.remove_first(self._candidates(gradient, victims), size)
        u, v = self.structure.ends[:, edges]
        evidence = {
            "meta_gradient": gradient[edges].tolist(),
            "victim_score_u": victims.score[u].tolist(),
            "victim_score_v": victims.score[v].tolist(),
            **self.class_evidence(edges, fitted.probabilities),
        }
        trace = {
            "validation_weight": weight,
            **losses,
            "smoothness": smoothness,
            "victims": int(victims.mask.sum()),
            "victim_threshold": victims.threshold,
            "largest_gradient": float(gradient[edges[0]]) if edges else math.nan,
        }
        kept = {f"detector.{key}": value for key, value in victims.memory.items()}
        return Round(edges, gradient[edges].tolist(), evidence, trace, {"inner": fitted.solution.coordinates, **kept})

    def _validation_weight(self, removed: int) -> float:
        """Return λ (Eq. 6e: the two weights add up to 1); 0 without validation nodes."""
        if not self.loss.validates:
            return 0.0
        fixed = self.cleaner.validation_weight
        return 1 - removed / self.budget if fixed is None else fixed

    def _candidates(self, gradient: Tensor, victims: Victims) -> Tensor:
        """Return the remaining edges that touch enough victims, largest gradient first."""
        u, v = self.structure.ends
        victim_ends = victims.mask[u].long() + victims.mask[v].long()
        candidates = torch.nonzero((victim_ends >= self.cleaner.victim_ends) & self.structure.alive).squeeze(1)
        return candidates[torch.sort(gradient[candidates], descending=True, stable=True).indices]


class OuterLoss:
    """λ·CE(validation ∩ normal, true labels) + (1−λ)·CE(test ∩ normal, own predictions): Eq. 6a without the smoother.

    Each sum over normal nodes is divided by the number of *all* validation or test nodes, so that leaving one node out
    does not give the others more weight.
    """

    def __init__(self, graph: Graph) -> None:
        if graph.split is None or graph.labels is None:
            raise InputError("the outer loss needs a graph with labels and a split")
        self.val = torch.tensor(graph.split.val)
        self.test = torch.tensor(graph.split.test)
        self.val_labels = torch.tensor(graph.labels[graph.split.val])

    @property
    def validates(self) -> bool:
        """Whether there are validation nodes."""
        return len(self.val) > 0

    def at(self, logits: Tensor, normal: Tensor, weight: float) -> tuple[Tensor, dict[str, float]]:
        """Differentiate the loss over the normal nodes (N booleans), with λ = ``weight``.

        Returns:
            ∂loss/∂Z (N × C), and the mean cross-entropy over normal validation and test nodes with the accuracy on all
            validation nodes.
        """
        predicted = logits.argmax(1)
        gradient = torch.zeros_like(logits)
        trusted = normal[self.val]
        val_loss = _add_cross_entropy(
            gradient, logits, self.val[trusted], self.val_labels[trusted], weight / max(len(self.val), 1)
        )
        nodes = self.test[normal[self.test]]
        test_loss = _add_cross_entropy(gradient, logits, nodes, predicted[nodes], (1 - weight) / max(len(self.test), 1))
        accuracy = (predicted[self.val] == self.val_labels).double().mean() if self.validates else math.nan
        parts = {"validation_loss": val_loss, "test_loss": test_loss, "validation_accuracy": float(accuracy)}
        return gradient, parts


def _add_cross_entropy(gradient: Tensor, logits: Tensor, nodes: Tensor, labels: Tensor, weight: float) -> float:
    """Add weight·∂CE/∂Z of these nodes to ``gradient`` in place; return their mean cross-entropy."""
    if not len(nodes):
        return math.nan
    target = one_hot(labels, logits.shape[1]).to(logits.dtype)
    logs = torch.log_softmax(logits[nodes], 1)
    gradient[nodes] += weight * (logs.exp() - target)
    return float(-(logs * target).sum(1).mean())
