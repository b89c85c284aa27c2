"""METTACK: greedy poisoning by meta-gradients."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from focusedcleaner.attacks.base import check_trainable
from focusedcleaner.attacks.degrees import DegreeTest
from focusedcleaner.attacks.evolving import Evolving
from focusedcleaner.attacks.greedy import Flip, FlipLog, GreedyAttack
from focusedcleaner.attacks.search import Excluded, best_pair
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.settings import as_json
from focusedcleaner.surrogate import InnerTraining, PairGradient, Surrogate, Unrolled


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
        inner: the inner training: `Unrolled` (as published) or `Implicit`.
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
    inner: InnerTraining = field(default_factory=Unrolled)
    likelihood_ratio: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.lambda_ <= 1:
            raise InputError(f"lambda_ lies between 0 and 1, not {self.lambda_:g}")
        if self.likelihood_ratio is not None and not self.likelihood_ratio > 0:
            raise InputError(f"likelihood_ratio must be above 0, not {self.likelihood_ratio:g}")

    def settings(self) -> dict[str, Any]:
        return dict(as_json(self))

    def begin(self, graph: Graph, seed: int, log: FlipLog) -> _UnderWay:
        check_trainable(graph)
        return _UnderWay(self, graph, log)


class _UnderWay:
    """The graph as it stands, and the choice of the next flip."""

    def __init__(self, attack: Mettack, graph: Graph, log: FlipLog) -> None:
        self.surrogate = Surrogate(graph, inner=attack.inner)
        fitted = self.surrogate.fit()
        self.start = log.memory.get("inner", fitted.solution.coordinates)
        self.loss = MetaLoss(graph, fitted.logits.argmax(1), attack.lambda_)
        tau = attack.likelihood_ratio
        self.test = None if tau is None else DegreeTest(graph.degrees, tau)
        self.evolving = Evolving(graph)
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
        self.evolving.flip(u, v)
        structure = self.evolving.structure()
        structure.touched[[u, v]] = 1.0
        self.surrogate.structure = self.surrogate.features.structure = structure

    def _gradient(self) -> PairGradient:
        fitted = self.surrogate.fit(self.start)
        self.start = fitted.solution.coordinates
        return self.surrogate.meta_gradient(fitted, self.loss.signal(fitted.logits))

    def _insertion(self, gradient: PairGradient) -> tuple[tuple[int, int], float] | None:
        groups, allowed = (None, None) if self.test is None else self.test.passes(self.evolving.degrees, 1)
        return best_pair(*gradient.factors(), Excluded(self.evolving.not_insertable(), groups, allowed))

    def _removal(self, gradient: PairGradient) -> tuple[tuple[int, int], float] | None:
        edges = self.evolving.edges
        candidates = self.evolving.removable()
        if self.test is not None:
            groups, allowed = self.test.passes(self.evolving.degrees, -1)
            candidates &= allowed[groups[edges[:, 0]], groups[edges[:, 1]]]
        if not candidates.any():
            return None
        scores = np.where(candidates, -gradient.edges().numpy(), -np.inf)
        best = int(scores.argmax())
        return (int(edges[best, 0]), int(edges[best, 1])), float(scores[best])


class MetaLoss:
    """λ·CE(training, labels) + (1−λ)·CE(the others, ŷ), means over nodes: what the attacker raises."""

    def __init__(self, graph: Graph, predicted: Tensor, lambda_: float) -> None:
        assert graph.split is not None
        assert graph.labels is not None
        train = torch.tensor(graph.split.train)
        labels = predicted.clone()
        labels[train] = torch.tensor(graph.labels)[train]
        self.target = one_hot(labels, graph.num_classes).double()
        others = graph.num_nodes - len(train)
        self.weights = torch.full((graph.num_nodes, 1), (1 - lambda_) / max(others, 1), dtype=torch.float64)
        self.weights[train] = lambda_ / len(train)

    def signal(self, logits: Tensor) -> Tensor:
        """∂L/∂Z, N × C."""
        return self.weights * (torch.softmax(logits, 1) - self.target)

    def value(self, logits: Tensor) -> float:
        """L."""
        return -float((self.weights * self.target * torch.log_softmax(logits, 1)).sum())
