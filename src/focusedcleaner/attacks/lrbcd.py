"""LRBCD: PRBCD with a budget at every node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.attacks.rbcd import PRBCD
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.settings import bounded


class LocalBudgets:
    """Changes PyG's PRBCD: keeps S and its sample to a budget at every node."""

    local: FloatArray
    """N budgets."""
    block_edge_index: Tensor
    block_edge_weight: Tensor
    coeffs: dict[str, float]

    def _project(self, budget: int, values: Tensor, eps: float = 1e-7) -> Tensor:
        filled = fill_greedily(values.double().numpy(), self.block_edge_index.numpy(), self.local, budget)
        return torch.from_numpy(filled).to(values.dtype).clamp(eps, 1 - eps)

    def _sample_final_edges(self, x: Tensor, labels: Tensor, budget: int, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Take whole pairs in the order of S, as long as both ends and the budget allow it."""
        del x, labels, kwargs
        weights = self.block_edge_weight.double().numpy()
        wanted = np.where(weights > self.coeffs["eps"], 1 + weights, 0.0)
        taken = fill_greedily(wanted, self.block_edge_index.numpy(), self.local, budget, whole=True) > 0
        flips = self.block_edge_index[:, torch.from_numpy(taken)]
        return flips, flips


@dataclass(frozen=True)
class LRBCD(PRBCD):
    """Ascends the gradient as prbcd does, with a budget at every node as well:

        max_S L(S),  ΣS ≤ B,  Σ_v S_uv ≤ Δ_u = max(⌊δ·d_u⌋, ``least``),

    where d_u is the degree in the clean graph, and L the loss of `PRBCD`. In place of the projection, S is filled
    greedily: the largest entries first, each as far as both ends and the budget allow. The flips are chosen in the same
    way, as whole pairs.

    Gosch, Geisler, Sturm, Charpentier, Zügner, Günnemann: "Adversarial Training for Graph Neural Networks: Pitfalls,
    Solutions, and New Directions", NeurIPS 2023 (https://arxiv.org/abs/2306.15427). The settings are those of
    `BlockAttack`, and

    Args:
        share: δ, the flips at a node as a share of its degree.
        least: the smallest budget of a node; with 0, nodes of degree below 1/δ are spared.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = LRBCD(block_size=2000, epochs=10).poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> 0 < len(poisoning.added) + len(poisoning.removed) <= 20
    True
    """

    name = "lrbcd"
    changes = (LocalBudgets,)

    share: float = bounded(0.5, "(0, inf)")
    least: int = bounded(0, "[0, 10000000]")

    def local_budgets(self, graph: Graph) -> FloatArray:
        """Return Δ, N values."""
        return np.maximum(np.floor(self.share * graph.degrees), float(self.least))

    def constrain(self, attack: Any, graph: Graph) -> None:
        attack.local = self.local_budgets(graph)


def fill_greedily(
    values: FloatArray, pairs: IntArray, local: FloatArray, budget: int, *, whole: bool = False
) -> FloatArray:
    """Return values in [0, 1] for 2 × P pairs that keep to the budget and to N local ones: the largest first, each as
    far as both ends allow; with ``whole``, 1 or nothing.

    >>> pairs = np.array([[0, 0, 1], [1, 2, 2]])
    >>> fill_greedily(np.array([0.9, 0.8, 0.7]), pairs, np.array([1.0, 5.0, 5.0]), 3).round(6)
    array([0.9, 0.1, 0.7])
    """
    order = np.argsort(-values, kind="stable")
    order = order[values[order] > 0]
    left, filled, remaining = local.tolist(), np.zeros(len(values)), float(budget)
    first, second = pairs[:, order].tolist()
    for place, u, v, wanted in zip(order.tolist(), first, second, values[order].clip(max=1).tolist(), strict=True):
        given = min(wanted, left[u], left[v], remaining)
        if given > 0 and not (whole and given < 1):
            filled[place] = given
            left[u], left[v], remaining = left[u] - given, left[v] - given, remaining - given
            if remaining <= 0:
                break
    return filled
