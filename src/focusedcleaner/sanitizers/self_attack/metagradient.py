"""Simulated attackers who follow a meta-gradient, in few large steps."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.edge_features.pair_features import clamped_log, row_dot
from focusedcleaner.engine.top_pairs import Excluded, best_pairs, spread
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.surrogate import Implicit, InnerTraining, PairGradient, Surrogate, Unrolled

ALL_PAIRS = 10_000
"""Nodes up to which every pair is looked at; beyond, a sample of them."""
SAMPLED_PAIRS = 2_000_000
FEWEST_STEPS, MOST_STEPS, PAIRS_IN_ALL = 20, 60, 50_000_000
"""Gradients that the simulated METTACK takes, with as many insertions after each: more on small graphs, where all pairs
are looked at in no time. METTACK itself takes a gradient for every flip."""
UNROLLED_STEPS = 10
"""The same with an unrolled training, whose gradients take longer."""
SKETCHED_RANK = 96
"""Columns to which the factors of a gradient are reduced where they have more."""
NUMBERS_AT_ONCE = 20_000_000
"""Of the gradient's factors that are gathered together where pairs are sampled."""
TRAINED = Implicit(weight_decay=1e-3)
"""How the attacked surrogate is trained, as our METTACK has it."""
LEAST_HARM = 1e-12
"""Gradients up to here are no harm at all."""


def plant_by_gradient(graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """METTACK in a few large steps: after each meta-gradient the best pairs are inserted, not too many at one node."""
    return _in_steps(graph, budget, rng)


def plant_by_unrolled_gradient(graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """The same with the training as published, a hundred steps of gradient descent: it sees other classes and chooses
    other pairs, among them many whose ends look alike."""
    return _in_steps(graph, budget, rng, inner=Unrolled(), steps=UNROLLED_STEPS)


def plant_stealthily(graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """The same by someone who fears a filter: of many more pairs, those that do harm and whose ends still agree."""
    return _in_steps(graph, budget, rng, width=20, stealthy=True)


def _in_steps(
    graph: Graph,
    budget: int,
    rng: np.random.Generator,
    *,
    inner: InnerTraining = TRAINED,
    steps: int | None = None,
    width: int = 3,
    stealthy: bool = False,
) -> IntArray:
    """Plants by meta-gradients, in each step the best of ``width`` times as many pairs as it plants."""
    planted = no_pairs()
    poisoned, loss, classes = graph, None, np.empty(0)
    if steps is None:
        steps = int(np.clip(PAIRS_IN_ALL / graph.num_nodes**2, FEWEST_STEPS, MOST_STEPS))
    for step in range(1, steps + 1):
        size = budget * step // steps - len(planted)
        if size <= 0:
            continue
        surrogate = Surrogate(poisoned, inner=inner)
        fitted = surrogate.fit()
        if loss is None:
            loss, classes = AttackerLoss(graph, fitted.logits.argmax(1), 0.0), fitted.probabilities.numpy()
        gradient = surrogate.meta_gradient(fitted, loss.signal(fitted.logits))
        pairs, harm = _promising(gradient, poisoned, width * size, rng)
        if stealthy:
            worth = np.log(np.maximum(harm, LEAST_HARM)) - _suspicion(graph, classes, pairs)
            pairs = pairs[np.argsort(-worth, kind="stable")]
        chosen = spread(pairs, size, max(2, size // 4))
        planted = np.concatenate([planted, chosen])
        poisoned = poisoned.with_edges(chosen)
    return planted


def _suspicion(graph: Graph, classes: FloatArray, pairs: IntArray) -> FloatArray:
    """What a plain filter, as `class_agreement` is one, holds against pairs: −log(p_u·p_v) − 8·cos(x_u, x_v)."""
    u, v = pairs.T
    return -clamped_log(row_dot(classes[u], classes[v])) - 8 * attribute_cosines(graph, pairs)


def _promising(
    gradient: PairGradient, graph: Graph, wanted: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """The pairs without an edge whose insertion raises the loss most, the best first, and how fast it does."""
    front, back = sketched(*gradient.factors(), rng)
    if graph.num_nodes <= ALL_PAIRS:
        return best_pairs(front, back, Excluded(graph.edges), wanted)
    pairs = _sampled_pairs(graph, rng)
    pairs = pairs[~np.isin(pairs[:, 0] * graph.num_nodes + pairs[:, 1], graph.edge_keys)]
    parts = np.array_split(pairs, max(1, len(pairs) * front.shape[1] // NUMBERS_AT_ONCE))
    values = np.concatenate([(front[part[:, 0]] * back[part[:, 1]]).sum(1).numpy() for part in parts])
    best = np.argsort(-values, kind="stable")[:wanted]
    return pairs[best], values[best]


def sketched(front: Tensor, back: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Factors of about the same product with `SKETCHED_RANK` columns: its range, found by two random products."""
    if front.shape[1] <= SKETCHED_RANK:
        return front, back
    front, back = front.float(), back.float()
    drawn = torch.from_numpy(rng.standard_normal((len(front), SKETCHED_RANK))).to(front)
    basis = torch.linalg.qr(front @ (back.T @ (back @ (front.T @ drawn)))).Q
    return basis, back @ (front.T @ basis)


def _sampled_pairs(graph: Graph, rng: np.random.Generator) -> IntArray:
    """Random pairs, half of them with a training node, where attackers like to be."""
    assert graph.split is not None
    first = rng.integers(0, graph.num_nodes, SAMPLED_PAIRS)
    first[::2] = rng.choice(graph.split.train, len(first[::2]))
    pairs = np.sort(np.stack([first, rng.integers(0, graph.num_nodes, SAMPLED_PAIRS)], axis=1), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
