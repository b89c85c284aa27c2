"""Attacks on the relaxed structure: a perturbation S ∈ [0, 1] of every pair, raised by projected gradient steps.

Nearly all of S is zero at any time, as its sum is bounded by the budget; only the rest is held.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.attacks.base import Attack, Progress
from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.attacks.sampling import best_sample
from focusedcleaner.engine import Structure
from focusedcleaner.engine.top_pairs import Excluded, largest_value, pairs_above
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.surrogate import Fitted, Implicit, PairGradient, Surrogate
from focusedcleaner.surrogate.features import TrainingFeatures
from focusedcleaner.surrogate.metagradient import two_hop_gradient

LARGEST = 30_000
"""Nodes up to which all pairs are walked at every step."""


@dataclass(frozen=True)
class RelaxedAttack(Attack):
    """What MinMax and PGD share: S ← Π(S + η_t·∇L), then Bernoulli samples of S.

    Args:
        iterations: gradient steps.
        rate: η_t = rate/(g·√t), where g is the B-th largest entry of the first gradient, B being the budget.
        lambda_: the weight of the training nodes in the loss, the rest being that of the others.
        loss: "ce" (cross-entropy) or "cw" (Carlini and Wagner's margin).
        samples: Bernoulli samples, of which the one of largest loss within the budget is taken.
        weight_decay: of the surrogate's training, as in `Implicit`.
    """

    iterations: int = 50
    rate: float = 0.3
    lambda_: float = 0.0
    loss: str = "ce"
    samples: int = 20
    weight_decay: float = 1e-3

    def __post_init__(self) -> None:
        if min(self.iterations, self.samples) < 1 or not self.rate > 0 or not self.weight_decay > 0:
            raise InputError("iterations and samples must be 1 or above, rate and weight_decay above 0")
        if not 0 <= self.lambda_ <= 1:
            raise InputError(f"lambda_ lies between 0 and 1, not {self.lambda_:g}")
        if self.loss not in ("ce", "cw"):
            raise InputError(f"loss is ce or cw, not {self.loss!r}")

    @property
    @abstractmethod
    def retrains(self) -> bool:
        """Whether the surrogate is trained again at every step."""

    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress | None) -> tuple[IntArray, IntArray]:
        graph.check_labelled("the attack")
        if graph.num_nodes > LARGEST:
            raise InputError(
                f"{self.name} walks all pairs of nodes and takes at most {LARGEST:,} nodes, not {graph.num_nodes:,}: "
                "use prbcd"
            )
        ascent = Ascent(self, graph, budget)
        for step in range(self.iterations):
            ascent.step(self.rate / (step + 1) ** 0.5)
            if progress is not None:
                progress(budget * (step + 1) // self.iterations, budget)
        rng = np.random.default_rng(seed)
        return best_sample(graph, ascent.pairs, ascent.values, budget, ascent.loss_of, self.samples, rng)


class WeightedStructure(Structure):
    """A structure whose edges have weights; d = 1 + their sum at a node."""

    def __init__(self, num_nodes: int, pairs: IntArray, weights: FloatArray) -> None:
        super().__init__(Graph(num_nodes, pairs))
        values = torch.from_numpy(weights)
        for place in self.pairs.place:
            self.adjacency.values()[place] = values
        self.degrees = self.neighbour_sum(torch.ones(num_nodes, 1, dtype=self.dtype)).squeeze(1)


class Ascent:
    """S, the surrogate's weights, and the steps that change them."""

    def __init__(self, how: RelaxedAttack, graph: Graph, budget: int) -> None:
        self.how, self.budget, self.graph = how, budget, graph
        self.keys = np.empty(0, dtype=np.int64)
        """u·N + v of the pairs where S is above 0, sorted."""
        self.values = np.empty(0)
        self.unit: float | None = None
        """The B-th largest entry of the first gradient."""
        self.threshold = 0.0
        """Entries of the gradient up to here are not looked at."""
        self.surrogate = Surrogate(graph, inner=Implicit(how.weight_decay))
        self.fitted = self.surrogate.fit()
        self.loss = AttackerLoss(graph, self.fitted.logits.argmax(1), how.lambda_, how.loss)

    @property
    def pairs(self) -> IntArray:
        """The pairs where S is above 0, P × 2."""
        return self._pairs_of(self.keys)

    def step(self, rate: float) -> None:
        """One step of ascent and its projection.

        Outside the present support a pair is above 0 afterwards only where η·∂L/∂S > μ, so that pairs below a threshold
        are left out. They can only raise μ: where the first μ shows that the threshold was too high, μ/η is low enough.
        """
        front, back = self._gradient().factors()
        if self.unit is None:
            self.unit = self.threshold = largest_value(front, back, Excluded(self.graph.edges), self.budget)
        size = rate / self.unit
        keys, values = self._raised(front, back, size)
        projected, shift = project(values, self.budget)
        if self.threshold * size > shift:
            self.threshold = shift / size
            keys, values = self._raised(front, back, size)
            projected, shift = project(values, self.budget)
        self.threshold = 0.95 * shift / size
        self.keys, self.values = keys[projected > 0], projected[projected > 0]

    def loss_of(self, poisoned: Graph) -> float:
        """The attacker's loss on a poisoned graph, with the weights that the defender would train there."""
        ones = np.ones(poisoned.num_edges)
        return self.loss.value(self._fit(WeightedStructure(poisoned.num_nodes, poisoned.edges, ones)).logits)

    def _gradient(self) -> PairGradient:
        fitted = self._fit(self._structure())
        signal = self.loss.signal(fitted.logits)
        if self.how.retrains:
            return self.surrogate.meta_gradient(fitted, signal)
        return two_hop_gradient(self.surrogate.structure, [(signal, fitted.xw)])

    def _structure(self) -> Structure:
        """A + (1 − 2A)∘S."""
        keys = merged(self.graph.edge_keys, self.keys)
        weights = np.zeros(len(keys))
        weights[np.searchsorted(keys, self.graph.edge_keys)] = 1.0
        place = np.searchsorted(keys, self.keys)
        weights[place] += (1 - 2 * weights[place]) * self.values
        return WeightedStructure(self.graph.num_nodes, self._pairs_of(keys), weights)

    def _fit(self, structure: Structure) -> Fitted:
        """The surrogate on a structure: trained there, or with the weights of the clean graph."""
        surrogate = self.surrogate
        surrogate.structure = structure
        if self.how.retrains:
            surrogate.features = TrainingFeatures(structure, surrogate.attributes, surrogate.train)
            self.fitted = surrogate.fit(self.fitted.solution.coordinates)
            return self.fitted
        return replace(self.fitted, logits=structure.propagate(structure.propagate(self.fitted.xw)))

    def _raised(self, front: Tensor, back: Tensor, size: float) -> tuple[IntArray, FloatArray]:
        """S + η·∂L/∂S where that may end above 0, before the projection: the pairs' keys and the values."""
        always = self._pairs_of(merged(self.keys, self.graph.edge_keys))
        pairs, gradient = pairs_above(front, back, self.threshold, always)
        keys = pairs[:, 0] * self.graph.num_nodes + pairs[:, 1]
        values = size * gradient.astype(float)
        values[np.searchsorted(keys, self.graph.edge_keys)] *= -1
        values[np.searchsorted(keys, self.keys)] += self.values
        return keys, values

    def _pairs_of(self, keys: IntArray) -> IntArray:
        return np.stack(np.divmod(keys, self.graph.num_nodes), axis=1)


def merged(*keys: IntArray) -> IntArray:
    """All keys, each once, sorted."""
    together = np.sort(np.concatenate(keys))
    return together[np.append(True, np.diff(together) > 0)]


def project(values: FloatArray, budget: int) -> tuple[FloatArray, float]:
    """The nearest values in [0, 1] whose sum is at most ``budget``, and the shift that leads there:

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
