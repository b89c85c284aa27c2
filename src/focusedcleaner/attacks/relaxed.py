"""Gradient ascent on relaxed pairs: the perturbation S, its steps, its projection and its samples.

Each pair has a perturbation S ∈ [0, 1]. The budget bounds the sum of S, so nearly all entries are 0 at any time; only
the others are stored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.attacks.base import flipped, without_isolation
from focusedcleaner.engine import Structure
from focusedcleaner.engine.blocks import EdgeWeights
from focusedcleaner.engine.top_pairs import Excluded, largest_value, pairs_above, products_at
from focusedcleaner.graph import FloatArray, Graph, IntArray, pair_keys, pairs_of_keys, unique_keys
from focusedcleaner.surrogate import PairGradient


class WeightedStructure(Structure):
    """A structure with edge weights; d = 1 + the sum of the weights at a node."""

    def __init__(
        self, num_nodes: int, pairs: IntArray, weights: FloatArray, *, dtype: torch.dtype = torch.float64
    ) -> None:
        super().__init__(Graph(num_nodes, pairs), dtype=dtype)
        self.present = EdgeWeights(torch.from_numpy(weights).to(dtype))
        self.degrees = self.neighbour_sum(torch.ones(num_nodes, 1, dtype=dtype)).squeeze(1)


class RelaxedAscent(ABC):
    """S, and projected gradient steps on it; a subclass has the loss.

    Args:
        graph: the clean graph.
        budget: B, the bound of ΣS.
        unit: gradients are divided by it; None for the B-th largest entry of the first gradient.
        num_candidates: number of random pairs that a step considers beside the edges and the support of S; None: all.
        rng: draws these pairs.
    """

    def __init__(
        self,
        graph: Graph,
        budget: int,
        *,
        rng: np.random.Generator,
        unit: float | None = None,
        num_candidates: int | None = None,
    ) -> None:
        self.graph, self.budget, self.rng = graph, budget, rng
        self.unit, self.num_candidates = unit, num_candidates
        self.keys = np.empty(0, dtype=np.int64)
        """`pair_keys` of the support of S, the pairs where it is above 0; sorted."""
        self.values = np.empty(0)
        """S on its support."""
        self.threshold: float | None = None
        """Entries of the gradient up to this value are skipped outside the support."""

    @abstractmethod
    def gradient(self) -> PairGradient:
        """Return the gradient of the loss at A + (1 − 2A)∘S."""

    @abstractmethod
    def loss_of(self, poisoned: Graph) -> float:
        """Return the attacker's loss on a poisoned graph."""

    @property
    def pairs(self) -> IntArray:
        """The support of S, P × 2."""
        return pairs_of_keys(self.keys, self.graph.num_nodes)

    def step(self, rate: float) -> None:
        """Take one gradient step and project it.

        A pair outside the support enters it only if η·∂L/∂S > μ, so pairs below a threshold are skipped. They can only
        raise μ: if the first μ shows that the threshold was too high, μ/η is low enough.
        """
        front, back = self.gradient().factors()
        block = self._draw_block()
        if self.threshold is None:
            self.threshold = self._largest_insertion(front, back, block)
            self.unit = self.unit or self.threshold
        assert self.unit is not None
        size = rate / self.unit
        keys, values = self._raised(front, back, size, block)
        projected, shift = project(values, self.budget)
        if block is None and self.threshold * size > shift:
            self.threshold = shift / size
            keys, values = self._raised(front, back, size, block)
            projected, shift = project(values, self.budget)
        self.threshold = 0.95 * shift / size
        self.keys, self.values = keys[projected > 0], projected[projected > 0]

    def structure(self, dtype: torch.dtype = torch.float64) -> WeightedStructure:
        """Return A + (1 − 2A)∘S."""
        keys = unique_keys(self.graph.edge_keys, self.keys)
        weights = np.zeros(len(keys))
        weights[np.searchsorted(keys, self.graph.edge_keys)] = 1.0
        support = np.searchsorted(keys, self.keys)
        weights[support] += (1 - 2 * weights[support]) * self.values
        pairs = pairs_of_keys(keys, self.graph.num_nodes)
        return WeightedStructure(self.graph.num_nodes, pairs, weights, dtype=dtype)

    def _draw_block(self) -> IntArray | None:
        """Draw the keys of the random pairs of this step; None if all pairs are considered."""
        if (size := self.num_candidates) is None:
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

    def _raised(self, front: Tensor, back: Tensor, size: float, block: IntArray | None) -> tuple[IntArray, FloatArray]:
        """Return the keys and values of S + η·∂L/∂S before the projection, at all pairs that may end above 0."""
        always, num_nodes = unique_keys(self.keys, self.graph.edge_keys), self.graph.num_nodes
        if block is None:
            assert self.threshold is not None
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


def samples_within(
    probabilities: FloatArray, budget: int, samples: int, rng: np.random.Generator
) -> tuple[IntArray, list[IntArray]]:
    """Return the ``budget`` most probable of P pairs, and those of ``samples`` Bernoulli samples that keep to it."""
    order = np.argsort(-probabilities, kind="stable")
    draws = [order[rng.random(len(order)) < probabilities[order]] for _ in range(samples)]
    return order[:budget], [drawn for drawn in draws if len(drawn) <= budget]


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
    most_probable, draws = samples_within(probabilities, budget, samples, rng)
    candidates = [without_isolation(graph, pairs[drawn]) for drawn in (most_probable, *draws)]
    return max(candidates, key=lambda flips: loss(flipped(graph, flips)))
