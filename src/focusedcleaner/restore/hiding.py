"""Strategies for hiding edges the way attackers remove them: the training examples of `missing_edges`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.graph import BoolArray, Graph, IntArray
from focusedcleaner.surrogate import Implicit, Surrogate

WEIGHT_DECAY = 1e-3
"""Weight decay of the attacked surrogate, as in our METTACK."""

HidingStrategy = Callable[[Graph, IntArray, int, np.random.Generator], IntArray]
"""Returns at most ``number`` edges (H × 2) of a graph, given the (predicted) class of each node and a generator."""


def within_classes(graph: Graph, classes: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Hide edges within a class anywhere, as DICE removes them."""
    u, v = graph.edges.T
    return _draw(graph, classes[u] == classes[v], number, rng)


def at_training_nodes(graph: Graph, classes: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Hide edges within a class between a training node and another node, as METTACK and MinMax remove them."""
    assert graph.split is not None
    u, v = graph.edges.T
    at_training = np.isin(graph.edges, graph.split.train).sum(axis=1) == 1
    return _draw(graph, at_training & (classes[u] == classes[v]), number, rng)


def by_gradient(graph: Graph, classes: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Hide half of the edges whose removal, by one meta-gradient, harms a surrogate most, drawn at random."""
    attacked = replace(graph, labels=classes)
    surrogate = Surrogate(attacked, inner=Implicit(WEIGHT_DECAY))
    fitted = surrogate.fit()
    loss = AttackerLoss(attacked, torch.tensor(classes), 0.0)
    gain = -surrogate.meta_gradient(fitted, loss.signal(fitted.logits)).edges().numpy()
    best = np.zeros(graph.num_edges, dtype=bool)
    best[np.argsort(-gain, kind="stable")[: 2 * number]] = True
    return _draw(graph, best & (gain > 0), number, rng)


HIDING_STRATEGIES: tuple[HidingStrategy, ...] = (within_classes, at_training_nodes, by_gradient)


def _draw(graph: Graph, candidates: BoolArray, number: int, rng: np.random.Generator) -> IntArray:
    """Draw at most ``number`` of the candidate edges at random, isolating no node."""
    order = rng.permutation(np.flatnonzero(candidates))
    return graph.edges[without_isolating(order, graph.edges, graph.degrees, number)]
