"""From probabilities of flips to flips: Bernoulli samples that keep to the budget."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from focusedcleaner.attacks.base import added_and_removed
from focusedcleaner.graph import FloatArray, Graph, IntArray


def best_sample(
    graph: Graph,
    pairs: IntArray,
    chances: FloatArray,
    budget: int,
    loss: Callable[[Graph], float],
    samples: int,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """The insertions and removals of the sample with the largest loss.

    The pairs of largest chance, as many as the budget allows, are always a candidate; so are the Bernoulli samples that
    keep to the budget. A removal that would isolate a node is left out.

    Args:
        graph: what is attacked.
        pairs: P × 2.
        chances: of each pair to be flipped.
        budget: flips, at most.
        loss: of a poisoned graph.
        samples: how many samples to draw.
        rng: draws them.
    """
    order = np.argsort(-chances, kind="stable")
    draws = [order[:budget]]
    for _ in range(samples):
        drawn = order[rng.random(len(order)) < chances[order]]
        if len(drawn) <= budget:
            draws.append(drawn)
    candidates = [without_isolation(graph, pairs[drawn]) for drawn in draws]
    losses = [loss(graph.without_edges(removed).with_edges(added)) for added, removed in candidates]
    return candidates[int(np.argmax(losses))]


def without_isolation(graph: Graph, flips: IntArray) -> tuple[IntArray, IntArray]:
    """The flips as insertions and removals, without the removals that would take a node's last edge."""
    added, removed = added_and_removed(graph, flips)
    left = graph.degrees.copy()
    safe = np.zeros(len(removed), dtype=bool)
    for place, (u, v) in enumerate(removed):
        safe[place] = left[u] > 1 and left[v] > 1
        left[[u, v]] -= safe[place]
    return added, removed[safe]
