"""FocusedCleaner: bi-level structure learning, focused by victim detection."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from focusedcleaner.detectors import Detector, Victims, View, detector_of, reduced_attributes
from focusedcleaner.detectors.base import with_prefix
from focusedcleaner.edge_features.class_regression import SINGLE_PRECISION_FROM
from focusedcleaner.edge_features.edge_selection import SPARE, without_isolating
from focusedcleaner.engine.parallel import by_rows
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph
from focusedcleaner.sanitizers.iterative import Cleaning, IterativeSanitizer, Journal, round_seed
from focusedcleaner.settings import bounded
from focusedcleaner.surrogate import Implicit, InnerTraining, Smoother, Surrogate, TwoLayer


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
        inner: the inner training: `Implicit`, `Unrolled` or `TwoLayer`.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, seed=0)
    >>> FocusedCleaner(detector="classdiv").sanitize(graph, budget=0.05)
    Sanitation(cld, uncertain: 20 of 400 edges removed)
    """

    detector: Detector | str = "classdiv"
    eta: float = bounded(1e-4, "[0, inf)")
    validation_weight: float | None = bounded(None, "[0, 1]")
    normal_only: bool = True
    victim_ends: int = bounded(1, "[1, 2]")
    edges_per_round: int | None = bounded(None, "[1, inf)")
    inner: InnerTraining = field(default_factory=Implicit)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "detector", detector_of(self.detector))

    @property
    def name(self) -> str:  # type: ignore[override]
        """cld, lp, or focused-… with another detector."""
        short = {"classdiv": "cld", "linkpred": "lp"}
        kind = detector_of(self.detector).name
        return short.get(kind, f"focused-{kind}")

    @classmethod
    def paper(cls, detector: Detector | str = "classdiv") -> Self:
        """The preset that the paper's tables are reproduced with: the surrogate and the candidate edges of the authors'
        code, with half of its training steps (docs/method.md says why).

        >>> FocusedCleaner.paper("linkpred").name
        'lp'
        """
        return cls(detector, victim_ends=2, inner=TwoLayer(steps=50))

    def begin(self, graph: Graph, budget: int, seed: int) -> _Cleaning:
        """The state before the first round."""
        return _Cleaning(self, graph, budget, seed)


class SurrogateCleaning(Cleaning):
    """A cleaning that removes edges from the structure of a surrogate, which is retrained every round."""

    def __init__(self, cleaner: Any, graph: Graph, budget: int, seed: int, dtype: torch.dtype = torch.float64) -> None:
        super().__init__(cleaner, graph, budget, seed)
        self.surrogate = Surrogate(graph, inner=cleaner.inner, dtype=dtype)
        self.structure = self.surrogate.structure
        self.reduced = reduced_attributes(graph, self.surrogate.attributes)

    def replay(self, journal: Journal) -> None:
        # Updating the features after each round, not once at the end, reproduces them to the last digit.
        for edges in journal.by_round("removed"):
            self.surrogate.features.now()
            self.structure.remove(torch.from_numpy(edges))

    def view(self, logits: Tensor, journal: Journal) -> View:
        """Return the input of a victim detector in this round."""
        rounds = journal.by_round("removed")
        removed = len(rounds[-1]) if rounds else 0
        return View(self.structure, logits, self.reduced, round_seed(self.seed, journal.rounds), removed)

    def remove_largest(self, gradient: Tensor, candidates: Tensor, size: int) -> list[int]:
        """Remove the ``size`` candidates of largest gradient whose removal isolates no node; return them."""
        degrees = self.structure.degrees.long().numpy()
        values = gradient[candidates]
        for most in (SPARE * size, len(candidates)):
            best = candidates
            if most < len(candidates):
                best = candidates[values >= torch.topk(values, most, sorted=False).values.min()]
            order = best[torch.sort(gradient[best], descending=True, stable=True).indices]
            edges = without_isolating(order.numpy(), self.graph.edges, degrees, size)
            if len(edges) == size or len(best) == len(candidates):
                break
        if edges:
            self.structure.remove(torch.tensor(edges))
        return edges

    def class_evidence(self, edges: Tensor, logits: Tensor) -> dict[str, FloatArray]:
        """Return the surrogate's class probabilities at both endpoints of each edge."""
        u, v = self.structure.ends[:, edges]
        return {"classes_u": column(logits[u].softmax(1)), "classes_v": column(logits[v].softmax(1))}


class _Cleaning(SurrogateCleaning):
    """The rounds of `FocusedCleaner` (Alg. 1)."""

    def __init__(self, cleaner: FocusedCleaner, graph: Graph, budget: int, seed: int) -> None:
        dtype = torch.float64 if graph.num_edges < SINGLE_PRECISION_FROM else torch.float32
        super().__init__(cleaner, graph, budget, seed, dtype)
        self.detector = detector_of(cleaner.detector)
        smooth = cleaner.eta > 0 and graph.features is not None
        self.smoother = Smoother(self.structure, self.surrogate.attributes) if smooth else None
        self.loss = OuterLoss(graph)
        self.victims = graph.num_nodes
        """Number of victims in the last round."""

    @property
    def shortfall(self) -> str:
        if self.victims:
            return "no edge at a victim can go without isolating a node"
        return f"its detector, {self.detector.name}, finds no victim; focused-none works without one"

    def round(self, journal: Journal, size: int) -> Journal:
        """Train the surrogate, detect victims, differentiate the outer loss, remove edges."""
        fitted = self.surrogate.fit(journal.memory.get("inner"), round_seed(self.seed, journal.rounds))
        begun = with_prefix(journal.memory, "detector.")
        state = begun if journal.rounds else self.detector.begin(self.graph, self.seed)
        victims = self.detector.victims(self.view(fitted.logits, journal), state)
        self.victims = int(victims.mask.sum())
        weight = self._validation_weight(len(journal.removed))
        normal = victims.normal if self.cleaner.normal_only else torch.ones_like(victims.normal)
        logits_gradient, losses = self.loss.at(fitted.logits, normal, weight)
        gradient = self.surrogate.meta_gradient(fitted, logits_gradient).edges()
        smoothness = math.nan
        if self.smoother is not None:
            gradient = by_rows(self._plus_smoother, gradient, self.smoother.edges(self.structure))
            smoothness = float(self.smoother.value(self.structure))
        edges = self.remove_largest(gradient, self._candidates(victims), size)
        removed = torch.tensor(edges, dtype=torch.int64)
        u, v = self.structure.ends[:, removed]
        evidence = {
            "meta_gradient": column(gradient[removed]),
            "victim_score_u": column(victims.score[u]),
            "victim_score_v": column(victims.score[v]),
            **self.class_evidence(removed, fitted.logits),
        }
        trace = {
            "validation_weight": weight,
            **losses,
            "smoothness": smoothness,
            "victims": self.victims,
            "victim_threshold": victims.threshold,
            "largest_gradient": float(gradient[edges[0]]) if edges else math.nan,
        }
        memory = {"inner": fitted.solution.coordinates}
        memory |= {f"detector.{key}": value for key, value in victims.memory.items()}
        return journal.plus(edges, evidence["meta_gradient"], evidence, trace, memory)

    def _plus_smoother(self, gradient: Tensor, of_smoother: Tensor) -> Tensor:
        return gradient + self.cleaner.eta * of_smoother

    def _validation_weight(self, removed: int) -> float:
        """Return λ (Eq. 6e: the two weights add up to 1); 0 without validation nodes."""
        if not len(self.loss.val):
            return 0.0
        fixed = self.cleaner.validation_weight
        return 1 - removed / self.budget if fixed is None else fixed

    def _candidates(self, victims: Victims) -> Tensor:
        """Return the remaining edges that touch enough victims."""
        return self.structure.edges_at(victims.mask, self.cleaner.victim_ends)


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

    def at(self, logits: Tensor, normal: Tensor, weight: float) -> tuple[Tensor, dict[str, float]]:
        """Return ∂loss/∂Z (N × C) over the normal nodes (N booleans), with λ = ``weight``; and the mean cross-entropy
        of normal validation and test nodes with the accuracy on all validation nodes."""
        predicted = by_rows(_largest, logits)
        gradient = torch.zeros_like(logits)
        trusted = normal[self.val]
        val_loss = _add_cross_entropy(
            gradient, logits, self.val[trusted], self.val_labels[trusted], weight / max(len(self.val), 1)
        )
        nodes = self.test[normal[self.test]]
        test_loss = _add_cross_entropy(gradient, logits, nodes, predicted[nodes], (1 - weight) / max(len(self.test), 1))
        accuracy = (predicted[self.val] == self.val_labels).double().mean() if len(self.val) else math.nan
        parts = {"validation_loss": val_loss, "test_loss": test_loss, "validation_accuracy": float(accuracy)}
        return gradient, parts


def _add_cross_entropy(gradient: Tensor, logits: Tensor, nodes: Tensor, labels: Tensor, weight: float) -> float:
    """Add weight·∂CE/∂Z of these nodes to ``gradient`` in place; return their mean cross-entropy."""
    if not len(nodes):
        return math.nan

    def losses(nodes: Tensor, labels: Tensor) -> Tensor:
        target = one_hot(labels, logits.shape[1]).to(logits.dtype)
        logs = torch.log_softmax(logits[nodes], 1)
        gradient[nodes] += weight * (logs.exp() - target)
        return (logs * target).sum(1)

    return float(-by_rows(losses, nodes, labels).mean())


def _largest(logits: Tensor) -> Tensor:
    return logits.argmax(1)


def column(values: Tensor) -> FloatArray:
    """Return a column of evidence."""
    return values.double().numpy()
