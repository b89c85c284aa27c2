"""PGD and MinMax: projected gradient ascent on a relaxed structure."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from focusedcleaner.attacks.base import ALL_PAIRS, Attack, Progress
from focusedcleaner.attacks.loss import AttackerLoss, LossKind
from focusedcleaner.attacks.relaxed import RelaxedAscent, WeightedStructure, best_sample
from focusedcleaner.engine import Structure
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.settings import bounded
from focusedcleaner.surrogate import Fitted, Implicit, InnerTraining, PairGradient, Surrogate
from focusedcleaner.surrogate.features import TrainingFeatures
from focusedcleaner.surrogate.metagradient import two_hop_gradient


@dataclass(frozen=True)
class RelaxedAttack(Attack):
    """Base of the attacks on a relaxed structure: S ← Π(S + η_t·∇L), then Bernoulli samples of S.

    Args:
        iterations: number of gradient steps.
        rate: η_t = rate/(g·√t), where g is the B-th largest entry of the first gradient, B being the budget.
        lambda_: λ, the weight of the training nodes in the loss; the others have 1 − λ.
        samples: number of Bernoulli samples; the one of largest loss within the budget is taken.
    """

    max_nodes: ClassVar[int | None] = ALL_PAIRS
    retrains: ClassVar[bool] = True
    """Whether the surrogate is trained again at every step."""

    iterations: int = bounded(50, "[1, 10000]")
    rate: float = bounded(0.3, "(0, inf)")
    lambda_: float = bounded(0.0, "[0, 1]")
    samples: int = bounded(20, "[1, 10000]")

    @property
    @abstractmethod
    def training(self) -> InnerTraining:
        """The training of the surrogate."""

    @property
    @abstractmethod
    def loss_kind(self) -> LossKind:
        """The loss of a node."""

    @property
    def num_candidates(self) -> int | None:
        """Number of random pairs that a step considers beside the edges and the support of S; None: all pairs."""
        return None

    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress) -> IntArray:
        rng = np.random.default_rng(seed)
        ascent = Ascent(self, graph, budget, rng)
        for step in range(self.iterations):
            ascent.step(self.rate / (step + 1) ** 0.5)
            progress(budget * (step + 1) // self.iterations, budget)
        return best_sample(graph, ascent.pairs, ascent.values, budget, ascent.loss_of, self.samples, rng)


@dataclass(frozen=True)
class ProjectedGradientAttack(RelaxedAttack):
    """Base of MinMax and PGD, against a surrogate at its optimum.

    Args:
        loss: "ce" (cross-entropy) or "cw" (Carlini and Wagner's margin).
        weight_decay: of the surrogate's training, as in `Implicit`.
    """

    loss: Literal["ce", "cw"] = "ce"
    weight_decay: float = bounded(1e-3, "(0, inf)")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss not in ("ce", "cw"):
            raise InputError(f"loss must be ce or cw, not {self.loss!r}")

    @property
    def training(self) -> InnerTraining:
        return Implicit(self.weight_decay)

    @property
    def loss_kind(self) -> LossKind:
        return self.loss


@dataclass(frozen=True)
class MinMax(ProjectedGradientAttack):
    """Projected gradient ascent on a relaxed structure against a surrogate that is trained again at every step:

        max_S L(S, W*(S)),  S ← Π(S + η_t·dL/dS),  A' = A + (1 − 2A)∘S,  S ∈ [0, 1], ΣS ≤ B,

    with the linear surrogate softmax(Â'²XW), W* trained on A', and L = λ·loss(training nodes, labels) + (1−λ)·loss(the
    others, ŷ), where ŷ are the surrogate's predictions on the clean graph. The derivative goes through the training of
    W*. In the published game, λ = 1, this adds nothing, as attacker and defender share one loss; with any other λ it is
    what makes the attack strong. The flips are a Bernoulli sample of S. `PublishedMinMax` is the published attack.

    Xu, Chen, Liu, Chen, Weng, Hong, Lin: "Topology Attack and Defense for Graph Neural Networks: An Optimization
    Perspective", IJCAI 2019 (https://arxiv.org/abs/1906.04214). The settings are those of `RelaxedAttack` and
    `ProjectedGradientAttack`.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = MinMax(iterations=20).poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> 0 < len(poisoning.added) + len(poisoning.removed) <= 20
    True
    """

    name = "minmax"


@dataclass(frozen=True)
class PGD(ProjectedGradientAttack):
    """Projected gradient ascent on a relaxed structure against a surrogate that was trained on the clean graph:

        max_S L(S, W),  S ← Π(S + η_t·∂L/∂S),  A' = A + (1 − 2A)∘S,  S ∈ [0, 1], ΣS ≤ B,

    with the linear surrogate softmax(Â'²XW) and L as in `MinMax`. The flips are a Bernoulli sample of S.

    Xu, Chen, Liu, Chen, Weng, Hong, Lin: "Topology Attack and Defense for Graph Neural Networks: An Optimization
    Perspective", IJCAI 2019 (https://arxiv.org/abs/1906.04214). The settings are those of `RelaxedAttack` and
    `ProjectedGradientAttack`.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = PGD(iterations=20, loss="cw").poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> 0 < len(poisoning.added) + len(poisoning.removed) <= 20
    True
    """

    name = "pgd"
    retrains = False


@dataclass(frozen=True)
class BlockwiseAscent(ProjectedGradientAttack):
    """Mixin for graphs of any size: a step considers a new random block of pairs, as `PRBCD` does.

    A class of its own, because stored experiments are named by all settings of `MinMax` and `PGD`.

    Args:
        block_size: number of pairs in a block.
    """

    max_nodes = None

    block_size: int = bounded(250_000, "[1, 10000000]")

    @property
    def num_candidates(self) -> int | None:
        return self.block_size


@dataclass(frozen=True)
class BlockMinMax(BlockwiseAscent, MinMax):
    """`MinMax` on random blocks of pairs."""


@dataclass(frozen=True)
class BlockPGD(BlockwiseAscent, PGD):
    """`PGD` on random blocks of pairs."""


class Ascent(RelaxedAscent):
    """S, the surrogate's weights, and the gradient steps on them."""

    def __init__(self, attack: RelaxedAttack, graph: Graph, budget: int, rng: np.random.Generator) -> None:
        super().__init__(graph, budget, rng=rng, num_candidates=attack.num_candidates)
        self.retrains = attack.retrains
        form = None if attack.num_candidates is None else "sparse"
        self.surrogate = Surrogate(graph, inner=attack.training, form=form)
        self.fitted = self.surrogate.fit()
        self.loss = AttackerLoss(graph, self.fitted.logits.argmax(1), attack.lambda_, attack.loss_kind)

    def gradient(self) -> PairGradient:
        fitted = self._fit(self.structure())
        signal = self.loss.signal(fitted.logits)
        if self.retrains:
            return self.surrogate.meta_gradient(fitted, signal)
        return two_hop_gradient(self.surrogate.structure, [(signal, fitted.xw)])

    def loss_of(self, poisoned: Graph) -> float:
        """Return the attacker's loss on a poisoned graph, with the weights that the defender would train there."""
        ones = np.ones(poisoned.num_edges)
        return self.loss.value(self._fit(WeightedStructure(poisoned.num_nodes, poisoned.edges, ones)).logits)

    def _fit(self, structure: Structure) -> Fitted:
        """Return the surrogate on a structure, trained there or with the weights of the clean graph."""
        surrogate = self.surrogate
        surrogate.structure = structure
        if self.retrains:
            form = surrogate.features.form
            surrogate.features = TrainingFeatures(structure, surrogate.attributes, surrogate.train, form)
            self.fitted = surrogate.fit(self.fitted.solution.coordinates)
            return self.fitted
        return replace(self.fitted, logits=structure.propagate(structure.propagate(self.fitted.xw)))
