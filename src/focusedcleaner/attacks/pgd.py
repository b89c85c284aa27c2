"""PGD and MinMax: projected gradient ascent on a relaxed structure.

Each pair has a perturbation S ∈ [0, 1]. The budget bounds the sum of S, so nearly all entries are 0 at any time; only
the others are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.attacks.base import ALL_PAIRS, Attack, Progress, flipped, without_isolation
from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.engine import Structure
from focusedcleaner.engine.blocks import EdgeWeights
from focusedcleaner.engine.top_pairs import Excluded, largest_value, pairs_above, products_at
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray, pair_keys, pairs_of_keys, unique_keys
from focusedcleaner.settings import bounded
from focusedcleaner.surrogate import Fitted, Implicit, PairGradient, Surrogate
from focusedcleaner.surrogate.features import TrainingFeatures
from focusedcleaner.surrogate.metagradient import two_hop_gradient


@dataclass(frozen=True)
class ProjectedGradientAttack(Attack):
    """Base of MinMax and PGD: S ← Π(S + η_t·∇L), then Bernoulli samples of S.

    Args:
        iterations: number of gradient steps.
        rate: η_t = rate/(g·√t), where g is the B-th largest entry of the first gradient, B being the budget.
        lambda_: λ, the weight of the training nodes in the loss; the others have 1 − λ.
        loss: "ce" (cross-entropy) or "cw" (Carlini and Wagner's margin).
        samples: number of Bernoulli samples; the one of largest loss within the budget is taken.
        weight_decay: of the surrogate's training, as in `Implicit`.
    """

    max_nodes: ClassVar[int | None] = ALL_PAIRS
    retrains: ClassVar[bool]
    """Whether the surrogate is trained again at every step."""

    iterations: int = bounded(50, "[1, 10000]")
    rate: float = bounded(0.3, "(0, inf)")
    lambda_: float = bounded(0.0, "[0, 1]")
    loss: Literal["ce", "cw"] = "ce"
    samples: int = bounded(20, "[1, 10000]")
    weight_decay: float = bounded(1e-3, "(0, inf)")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss not in ("ce", "cw"):
            raise InputError(f"loss must be ce or cw, not {self.loss!r}")

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
class MinMax(ProjectedGradientAttack):
    """Projected gradient ascent on a relaxed structure against a surrogate that is trained again at every step:

        max_S L(S, W*(S)),  S ← Π(S + η_t·dL/dS),  A' = A + (1 − 2A)∘S,  S ∈ [0, 1], ΣS ≤ B,

    with the linear surrogate softmax(Â'²XW), W* trained on A', and L = λ·loss(training nodes, labels) + (1−λ)·loss(the
    others, ŷ), where ŷ are the surrogate's predictions on the clean graph. The derivative goes through the training of
    W*. In the published game, λ = 1, this adds nothing, as attacker and defender share one loss; with any other λ it is
    what makes the attack strong. The flips are a Bernoulli sample of S.

    Xu, Chen, Liu, Chen, Weng, Hong, Lin: "Topology Attack and Defense for Graph Neural Networks: An Optimization
    Perspective", IJCAI 2019 (https://arxiv.org/abs/1906.04214). The settings are those of `ProjectedGradientAttack`.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = MinMax(iterations=20).poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> 0 < len(poisoning.added) + len(poisoning.removed) <= 20
    True
    """

    name = "minmax"
    retrains = True


@dataclass(frozen=True)
class PGD(ProjectedGradientAttack):
    """Projected gradient ascent on a relaxed structure against a surrogate that was trained on the clean graph:

        max_S L(S, W),  S ← Π(S + η_t·∂L/∂S),  A' = A + (1 − 2A)∘S,  S ∈ [0, 1], ΣS ≤ B,

    with the linear surrogate softmax(Â'²XW) and L as in `MinMax`. The flips are a Bernoulli sample of S.

    Xu, Chen, Liu, Chen, Weng, Hong, Lin: "Topology Attack and Defense for Graph Neural Networks: An Optimization
    Perspective", IJCAI 2019 (https://arxiv.org/abs/1906.04214). The settings are those of `ProjectedGradientAttack`.

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


class WeightedStructure(Structure):
    """A structure with edge weights; d = 1 + the sum of the weights at a node."""

    def __init__(self, num_nodes: int, pairs: IntArray, weights: FloatArray) -> None:
        super().__init__(Graph(num_nodes, pairs))
        self.present = EdgeWeights(torch.from_numpy(weights).to(self.dtype))
        self.degrees = self.neighbour_sum(torch.ones(num_nodes, 1, dtype=self.dtype)).squeeze(1)


class Ascent:
    """S, the surrogate's weights, and the gradient steps on them."""

    def __init__(self, attack: ProjectedGradientAttack, graph: Graph, budget: int, rng: np.random.Generator) -> None:
        self.attack, self.budget, self.graph, self.rng = attack, budget, graph, rng
        self.keys = np.empty(0, dtype=np.int64)
        """`pair_keys` of the support of S, the pairs where it is above 0; sorted."""
        self.values = np.empty(0)
        """S on its support."""
        self.unit: float | None = None
        """The B-th largest entry of the first gradient."""
        self.threshold = 0.0
        """Entries of the gradient up to this value are skipped outside the support."""
        form = None if attack.num_candidates is None else "sparse"
        self.surrogate = Surrogate(graph, inner=Implicit(attack.weight_decay), form=form)
        self.fitted = self.surrogate.fit()
        self.loss = AttackerLoss(graph, self.fitted.logits.argmax(1), attack.lambda_, attack.loss)

    @property
    def pairs(self) -> IntArray:
        """The support of S, P × 2."""
        return pairs_of_keys(self.keys, self.graph.num_nodes)

    def step(self, rate: float) -> None:
        """Take one gradient step and project it.

        A pair outside the support enters it only if η·∂L/∂S > μ, so pairs below a threshold are skipped. They can only
        raise μ: if the first μ shows that the threshold was too high, μ/η is low enough.
        """
        front, back = self._gradient().factors()
        block = self._draw_block()
        if self.unit is None:
            self.unit = self.threshold = self._largest_insertion(front, back, block)
        size = rate / self.unit
        keys, values = self._raised(front, back, size, block)
        projected, shift = project(values, self.budget)
        if block is None and self.threshold * size > shift:
            self.threshold = shift / size
            keys, values = self._raised(front, back, size, block)
            projected, shift = project(values, self.budget)
        self.threshold = 0.95 * shift / size
        self.keys, self.values = keys[projected > 0], projected[projected > 0]

    def _draw_block(self) -> IntArray | None:
        """Draw the keys of the random pairs of this step; None if all pairs are considered."""
        if (size := self.attack.num_candidates) is None:
            return None
        u, v = self.rng.integers(0, self.graph.num_nodes, (2, size))
        pairs = np.stack([np.minimum(u, v), np.maximum(u, v)], axis=1)
        return unique_keys(pair_keys(pairs[u != v], self.graph.num_nodes))

    def _largest_insertion(self, front: Tensor, back: Tensor, block: IntArray | None) -> float:
        """Return the B-th largest gradient of the pairs without an edge, or the smallest positive one."""
        if block is None:
            return largest_value(front, back, Excluded(self.graph.edges), self.budget)
        pairs = pairs_of_keys(block, self.graph.num_nodes)
        gradient = products_at(front, back, pairs[~self.graph.has_edges(pairs)])
        positive = np.sort(gradient[gradient > 0])[::-1][: self.budget]
        return float(positive[-1]) if len(positive) else 1.0

    def loss_of(self, poisoned: Graph) -> float:
        """Return the attacker's loss on a poisoned graph, with the weights that the defender would train there."""
        ones = np.ones(poisoned.num_edges)
        return self.loss.value(self._fit(WeightedStructure(poisoned.num_nodes, poisoned.edges, ones)).logits)

    def _gradient(self) -> PairGradient:
        fitted = self._fit(self._structure())
        signal = self.loss.signal(fitted.logits)
        if self.attack.retrains:
            return self.surrogate.meta_gradient(fitted, signal)
        return two_hop_gradient(self.surrogate.structure, [(signal, fitted.xw)])

    def _structure(self) -> Structure:
        """Return A + (1 − 2A)∘S."""
        keys = unique_keys(self.graph.edge_keys, self.keys)
        weights = np.zeros(len(keys))
        weights[np.searchsorted(keys, self.graph.edge_keys)] = 1.0
        support = np.searchsorted(keys, self.keys)
        weights[support] += (1 - 2 * weights[support]) * self.values
        return WeightedStructure(self.graph.num_nodes, pairs_of_keys(keys, self.graph.num_nodes), weights)

    def _fit(self, structure: Structure) -> Fitted:
        """Return the surrogate on a structure, trained there or with the weights of the clean graph."""
        surrogate = self.surrogate
        surrogate.structure = structure
        if self.attack.retrains:
            form = surrogate.features.form
            surrogate.features = TrainingFeatures(structure, surrogate.attributes, surrogate.train, form)
            self.fitted = surrogate.fit(self.fitted.solution.coordinates)
            return self.fitted
        return replace(self.fitted, logits=structure.propagate(structure.propagate(self.fitted.xw)))

    def _raised(self, front: Tensor, back: Tensor, size: float, block: IntArray | None) -> tuple[IntArray, FloatArray]:
        """Return the keys and values of S + η·∂L/∂S before the projection, at all pairs that may end above 0."""
        always, num_nodes = unique_keys(self.keys, self.graph.edge_keys), self.graph.num_nodes
        if block is None:
            pairs, gradient = pairs_above(front, back, self.threshold, pairs_of_keys(always, num_nodes))
            keys = pair_keys(pairs, num_nodes)
        else:
            keys = unique_keys(block, always)
            gradient = products_at(front, back, pairs_of_keys(keys, num_nodes))
        values = size * gradient.astype(float)
        values[np.searchsorted(keys, self.graph.edge_keys)] *= -1
        values[np.searchsorted(keys, self.keys)] += self.values
        return keys, values


def project(values: FloatArray, budget: int) -> tuple[FloatArray, float]:
    """Return the nearest values in [0, 1] whose sum is at most ``budget``, and the shift μ:

        Π(S) = clip(S − μ, 0, 1),  μ ≥ 0 the smallest that keeps to the budget, found by bisection.

    >>> project(np.array([0.9, 0.7, -1.0]), 1)[0].round(6)
    array([0.6, 0.4, 0. ])
    """
    if np.clip(values, 0, 1).sum() <= budget:
        return np.clip(values, 0, 1), 0.0
    low, high = 0.0, float(values.max())
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if np.clip(values - middle, 0, 1).sum() > budget:
            low = middle
        else:
            high = middle
    return np.clip(values - high, 0, 1), high


def best_sample(
    graph: Graph,
    pairs: IntArray,
    probabilities: FloatArray,
    budget: int,
    loss: Callable[[Graph], float],
    samples: int,
    rng: np.random.Generator,
) -> IntArray:
    """Return the flips that give the poisoned graph the largest loss: the most probable of the P × 2 pairs, or one of
    ``samples`` Bernoulli samples within the budget. Deletions that would isolate a node are left out."""
    order = np.argsort(-probabilities, kind="stable")
    draws = [order[:budget]]
    for _ in range(samples):
        drawn = order[rng.random(len(order)) < probabilities[order]]
        if len(drawn) <= budget:
            draws.append(drawn)
    candidates = [without_isolation(graph, pairs[drawn]) for drawn in draws]
    return max(candidates, key=lambda flips: loss(flipped(graph, flips)))
