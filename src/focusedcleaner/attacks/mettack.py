"""METTACK: greedy poisoning by meta-gradients."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch

from focusedcleaner.attacks.base import FlipLog, GreedyAttack
from focusedcleaner.attacks.degree_test import DegreeTest
from focusedcleaner.attacks.loss import AttackerLoss, LossKind
from focusedcleaner.engine.structure import MutableEdges
from focusedcleaner.engine.top_pairs import Excluded, best_pair
from focusedcleaner.graph import Graph
from focusedcleaner.settings import bounded
from focusedcleaner.surrogate import Implicit, InnerTraining, PairGradient, Surrogate


@dataclass(frozen=True)
class Regularized(Implicit):
    """`Implicit` training with the weight decay that makes the attack strongest on Cora."""

    weight_decay: float = bounded(1e-3, "(0, inf)")


@dataclass(frozen=True)
class Mettack(GreedyAttack):
    """Flips, one at a time, the pair with the largest meta-gradient of the attacker's loss:

        argmax_(u,v) (1 − 2·A_uv)·∂L/∂A_uv,  L = λ·CE(training, labels) + (1−λ)·CE(the others, ŷ),

    where L is the loss of the surrogate softmax(Â²XW*), W* is trained on the current graph, and ŷ are the surrogate's
    predictions on the clean graph. λ = 0 is Meta-Self, λ = 1 Meta-Train. No pair is flipped twice and no node isolated;
    the attack ends early if no pair is left.

    Zügner, Günnemann: "Adversarial Attacks on Graph Neural Networks via Meta Learning", ICLR 2019
    (https://arxiv.org/abs/1902.08412).

    Args:
        lambda_: λ, between 0 and 1.
        max_removed: the largest share of deletions among the flips so far; None or 1 for no bound, as published.
        inner: the inner training: `Regularized`, or `Unrolled` as published.
        likelihood_ratio: τ of the `DegreeTest` that each flip must pass, 0.004 as published; None for no test.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = Mettack().poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> len(poisoning.added), len(poisoning.removed)
    (20, 0)
    >>> (poisoning.prefix("5%").added == poisoning.added[:10]).all()
    np.True_
    """

    name = "mettack"
    loss: ClassVar[LossKind] = "ce"

    lambda_: float = bounded(0.0, "[0, 1]")
    max_removed: float | None = bounded(0.04, "[0, 1]")
    inner: InnerTraining = field(default_factory=Regularized)
    likelihood_ratio: float | None = bounded(None, "(0, inf)")

    def search(self, graph: Graph, log: FlipLog) -> MettackSearch:
        return MettackSearch(self, graph, log)


class MettackSearch:
    """The poisoned graph so far, and the choice of the next flip."""

    def __init__(self, attack: Mettack, graph: Graph, log: FlipLog) -> None:
        self.attack = attack
        self.surrogate = Surrogate(graph, inner=attack.inner)
        fitted = self.surrogate.fit()
        self.start = torch.from_numpy(log["inner"]) if "inner" in log else fitted.solution.coordinates
        """The optimum after the last flip, from which the next inner training starts."""
        self.loss = AttackerLoss(graph, fitted.logits.argmax(1), attack.lambda_, attack.loss)
        tau = attack.likelihood_ratio
        self.test = None if tau is None else DegreeTest(graph.degrees, tau)
        self.poisoned, self.removals = MutableEdges(graph), 0
        for u, v in log["flips"].tolist():
            # The last digits of H's cached rows depend on the order of calls, which a resumed attack therefore repeats.
            self._flip(u, v)
            self.surrogate.features.now()

    def next_flip(self) -> tuple[int, int] | None:
        fitted = self.surrogate.fit(self.start)
        self.start = fitted.solution.coordinates
        gradient = self.surrogate.meta_gradient(fitted, self.loss.signal(fitted.logits))
        options = [option for option in (self._insertion(gradient), self._removal(gradient)) if option is not None]
        if not options:
            return None
        pair, _ = max(options, key=lambda option: option[1])
        self._flip(*pair)
        return pair

    def state(self) -> FlipLog:
        return {"inner": self.start.numpy()}

    def _flip(self, u: int, v: int) -> None:
        before = len(self.poisoned.keys)
        self.poisoned.flip(u, v)
        self.removals += len(self.poisoned.keys) < before
        self.surrogate.move_to(self.poisoned.structure(), (u, v))

    def _insertion(self, gradient: PairGradient) -> tuple[tuple[int, int], float] | None:
        groups, allowed = (None, None) if self.test is None else self.test.passes(self.poisoned.degrees, 1)
        return best_pair(*gradient.factors(), Excluded(self.poisoned.not_insertable(), groups, allowed))

    def _removal(self, gradient: PairGradient) -> tuple[tuple[int, int], float] | None:
        edges, bound = self.poisoned.edges, self.attack.max_removed
        if bound is not None and self.removals + 1 > bound * (len(self.poisoned.flipped) + 1):
            return None
        candidates = self.poisoned.removable()
        if self.test is not None:
            groups, allowed = self.test.passes(self.poisoned.degrees, -1)
            candidates &= allowed[groups[edges[:, 0]], groups[edges[:, 1]]]
        if not candidates.any():
            return None
        scores = np.where(candidates, -gradient.edges().numpy(), -np.inf)
        best = int(scores.argmax())
        return (int(edges[best, 0]), int(edges[best, 1])), float(scores[best])
