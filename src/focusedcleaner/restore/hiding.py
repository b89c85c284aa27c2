"""Hiding edges as attackers remove them: so that what is learnt from the hidden ones holds for the removed ones."""

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
"""Of the attacked surrogate, as our METTACK has it."""

Way = Callable[[Graph, IntArray, int, np.random.Generator], IntArray]
"""From a graph, the class of each node as far as it can be told, and a number: at most so many of its edges (H × 2)."""


def within_classes(graph: Graph, classes: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Edges between nodes of one class, anywhere: as DICE removes them."""
    u, v = graph.edges.T
    return _drawn(graph, classes[u] == classes[v], number, rng)


def at_training_nodes(graph: Graph, classes: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Edges within a class that join a training node to the others: where METTACK and MinMax cut."""
    assert graph.split is not None
    u, v = graph.edges.T
    trained = np.isin(graph.edges, graph.split.train).sum(axis=1) == 1
    return _drawn(graph, trained & (classes[u] == classes[v]), number, rng)


def by_gradient(graph: Graph, classes: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """Among the edges whose removal hurts a surrogate most, by one meta-gradient, every second one at random."""
    attacked = replace(graph, labels=classes)
    surrogate = Surrogate(attacked, inner=Implicit(WEIGHT_DECAY))
    fitted = surrogate.fit()
    loss = AttackerLoss(attacked, torch.tensor(classes), 0.0)
    gain = -surrogate.meta_gradient(fitted, loss.signal(fitted.logits)).edges().numpy()
    best = np.zeros(graph.num_edges, dtype=bool)
    best[np.argsort(-gain, kind="stable")[: 2 * number]] = True
    return _drawn(graph, best & (gain > 0), number, rng)


WAYS: dict[str, Way] = {"class": within_classes, "training": at_training_nodes, "gradient": by_gradient}
"""How edges are hidden."""


def _drawn(graph: Graph, which: BoolArray, number: int, rng: np.random.Generator) -> IntArray:
    """So many of these edges at random, as long as every node keeps a neighbour."""
    order = rng.permutation(np.flatnonzero(which))
    return graph.edges[without_isolating(order, graph.edges, graph.degrees, number)]
