"""METTACK: greedy poisoning by meta-gradients."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from focusedcleaner.attacks.degree_test import DegreeTest
from focusedcleaner.attacks.greedy import Flip, FlipLog, GreedyAttack
from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.engine.mutable_edges import MutableEdges
from focusedcleaner.engine.top_pairs import Excluded, best_pair
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate import Implicit, InnerTraining, PairGradient, Surrogate


@dataclass(frozen=True)
class Regularized(Implicit):
    """`Implicit` training with the weight decay with which the attack is strongest on Cora."""

    weight_decay: float = 1e-3


@dataclass(frozen=True)
class Mettack(GreedyAttack):
    """Flips, one after the other, the pair whose flip raises the attacker's loss fastest, through the training:

        argmax_(u,v) (1 − 2·A_uv)·∂L/∂A_uv,  L = λ·CE(training, labels) + (1−λ)·CE(the others, ŷ),

    L taken of the surrogate softmax(Â²XW*) with W* trained on the graph as it stands, and ŷ what the surrogate predicts
    on the clean graph. λ = 0 is Meta-Self, λ = 1 Meta-Train. No pair is flipped twice and no node isolated; the attack
    ends early where no pair is left.

    Zügner, Günnemann: "Adversarial Attacks on Graph Neural Networks via Meta Learning", ICLR 2019
    (https://arxiv.org/abs/1902.08412).

    Args:
        lambda_: λ, between 0 and 1.
        max_removed: the largest share of the flips made so far that may be removals; 1 for no bound.
        inner: the inner training: `Regularized`, or `Unrolled` as published.
        likelihood_ratio: τ of the `DegreeTest` that each flip must pass, 0.004 as published; None for no test.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = Mettack().poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> len(poisoning.added), len(poisoning.removed)
    (20, 0)
    >>> (poisoning.prefix("5%").added == poisoning.added[:10]).all()
    np.True_
    """

    name: ClassVar[str] = "mettack"

    lambda_: float = 0.0
    max_removed: float = 0.04
    inner: InnerTraining = field(default_factory=Regularized)
    likelihood_ratio: float | None = None

    def __post_init__(self) -> None:
        for name in ("lambda_", "max_removed"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} lies between 0 and 1, not {getattr(self, name):g}")
        if self.likelihood_ratio is not None and not self.likelihood_ratio > 0:
            raise InputError(f"likelihood_ratio must be above 0, not {self.likelihood_ratio:g}")

    def begin(self, graph: Graph, seed: int, log: FlipLog) -> _UnderWay:
        graph.check_labelled("the attack")
        return _UnderWay(self, graph, log)


class _UnderWay:
    """The graph as it stands, and the choice of the next flip."""

    def __init__(self, attack: Mettack, graph: Graph, log: FlipLog) -> None:
        self.attack = attack
        self.surrogate = Surrogate(graph, inner=attack.inner)
        fitted = self.surrogate.fit()
        self.start = log.memory.get("inner", fitted.solution.coordinates)
        self.loss = AttackerLoss(graph, fitted.logits.argmax(1), attack.lambda_)
        tau = attack.likelihood_ratio
        self.test = None if tau is None else DegreeTest(graph.degrees, tau)
        self.evolving, self.removals = MutableEdges(graph), 0
        for u, v in log.flips:
            # Kept rows of H depend, in their last digits, on the order of calls: an attack that goes on repeats it.
            self._flip(u, v)
            self.surrogate.features.now()

    def next(self) -> Flip | None:
        gradient = self._gradient()
        options = [option for option in (self._insertion(gradient), self._removal(gradient)) if option is not None]
        if not options:
            return None
        (u, v), _ = max(options, key=lambda option: option[1])
        self._flip(u, v)
        return Flip((u, v), {"inner": self.start})

    def _flip(self, u: int, v: int) -> None:
        before = len(self.evolving.keys)
        self.evolving.flip(u, v)
        self.removals += len(self.evolving.keys) < before
        self.surrogate.move_to(self.evolving.structure(), (u, v))

    def _gradient(self) -> PairGradient:
        fitted = self.surrogate.fit(self.start)
        self.start = fitted.solution.coordinates
        return self.surrogate.meta_gradient(fitted, self.loss.signal(fitted.logits))

    def _insertion(self, gradient: PairGradient) -> tuple[tuple[int, int], float] | None:
        groups, allowed = (None, None) if self.test is None else self.test.passes(self.evolving.degrees, 1)
        return best_pair(*gradient.factors(), Excluded(self.evolving.not_insertable(), groups, allowed))

    def _removal(self, gradient: PairGradient) -> tuple[tuple[int, int], float] | None:
        edges = self.evolving.edges
        if self.removals + 1 > self.attack.max_removed * (len(self.evolving.flipped) + 1):
            return None
        candidates = self.evolving.removable()
        if self.test is not None:
            groups, allowed = self.test.passes(self.evolving.degrees, -1)
            candidates &= allowed[groups[edges[:, 0]], groups[edges[:, 1]]]
        if not candidates.any():
            return None
        scores = np.where(candidates, -gradient.edges().numpy(), -np.inf)
        best = int(scores.argmax())
        return (int(edges[best, 0]), int(edges[best, 1])), float(scores[best])
