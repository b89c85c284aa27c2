"""A simulated attacker who aims at single nodes."""

from __future__ import annotations

import numpy as np

from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.surrogate import Surrogate

MOST_AT_TARGET = 8
"""Edges that are planted at one node, at most."""
STEPS, PARTNERS = 10, 500
"""Steps in which they are planted, and how many nodes, drawn at random, may become a target's neighbours."""


def plant_at_targets(graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """Nettack in few steps: one to `MOST_AT_TARGET` edges at each of many targets, to nodes that favour a wrong class.

    Targets are nodes whose labels the defender doesn't know, drawn by their degrees.
    """
    assert graph.labels is not None
    assert graph.split is not None
    xw = Surrogate(graph).fit().xw.numpy()
    unknown = np.ones(graph.num_nodes)
    unknown[np.concatenate([graph.split.train, graph.split.val])] = 0.0
    chance = graph.degrees * (unknown if (graph.degrees * unknown).any() else 1.0)
    targets = rng.choice(graph.num_nodes, np.count_nonzero(chance), replace=False, p=chance / chance.sum())
    sizes = rng.integers(1, MOST_AT_TARGET + 1, len(targets))
    enough = min(int(np.searchsorted(np.cumsum(sizes), budget)) + 1, len(targets))
    planted = no_pairs()
    poisoned = graph
    for here in np.array_split(np.arange(enough), STEPS):
        chosen = _misleading(poisoned, xw, targets[here], sizes[here], rng)
        planted = np.concatenate([planted, chosen])
        poisoned = poisoned.with_edges(chosen)
    return planted[:budget]


def _misleading(graph: Graph, xw: FloatArray, targets: IntArray, sizes: IntArray, rng: np.random.Generator) -> IntArray:
    """For each target t its ``sizes`` pairs (t, v) that raise max_c≠y Z_tc − Z_ty most, Z = Â²P with P the xw.

    A new neighbour v adds (Σ_j p_j)/d_v + p_v/d_t to √d_t·Z_t, where p = P/√d and j goes over v and its neighbours.
    """
    assert graph.labels is not None
    d = graph.degrees[:, None] + 1.0
    adjacency = graph.adjacency()
    p = xw / np.sqrt(d)
    around = p + adjacency @ p
    logits = around / d + adjacency @ (around / d)
    pairs = [no_pairs()]
    for target, size in zip(targets, sizes, strict=True):
        drawn = rng.choice(graph.num_nodes, min(PARTNERS, graph.num_nodes), replace=False)
        partners = np.setdiff1d(drawn, [target, *adjacency[[target]].indices])
        after = logits[target] + around[partners] / (d[partners] + 1) + p[partners] / d[target]
        label = graph.labels[target]
        margin = np.delete(after, label, axis=1).max(axis=1) - after[:, label]
        best = partners[np.argsort(-margin, kind="stable")[:size]]
        pairs.append(np.stack([np.minimum(best, target), np.maximum(best, target)], axis=1))
    return np.unique(np.concatenate(pairs), axis=0)
