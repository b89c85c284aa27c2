"""The simulated attackers: fast versions of METTACK, MinMax, Nettack, DICE and random insertion."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.attacks.base import Attack
from focusedcleaner.attacks.dice import Dice
from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.attacks.pgd import MinMax
from focusedcleaner.attacks.random import RandomAttack
from focusedcleaner.attacks.rbcd import PRBCD
from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.edge_features.pair_features import clamped_log, row_dot
from focusedcleaner.engine.top_pairs import Excluded, best_pairs, spread
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.surrogate import Implicit, InnerTraining, PairGradient, Surrogate, Unrolled

DEFAULT_ATTACKERS = "mettack,unrolled,minmax,targeted,dice,random"
MINMAX_MAX_NODES = 10_000
"""Nodes up to which MinMax is simulated; PRBCD beyond."""
ALL_PAIRS_MAX_NODES = 10_000
"""Nodes up to which meta-gradient attackers search all pairs; beyond, a sample of `SAMPLED_PAIRS`."""
SAMPLED_PAIRS = 2_000_000
MIN_STEPS, MAX_STEPS, TOTAL_PAIRS = 20, 60, 50_000_000
"""Meta-gradients of the simulated METTACK: `TOTAL_PAIRS` / N², within these bounds. METTACK needs one per flip."""
UNROLLED_STEPS = 10
"""Meta-gradients of the unrolled METTACK, which take longer."""
SKETCH_RANK = 96
"""Number of columns to which a gradient's factors are reduced if they have more."""
BATCH_VALUES = 20_000_000
"""Factor entries gathered at once when pairs are sampled."""
METTACK_TRAINING = Implicit(weight_decay=1e-3)
"""The inner training of our METTACK."""
MIN_GRADIENT = 1e-12
"""Lower clamp before the logarithm."""
MAX_EDGES_PER_TARGET = 8
TARGETED_STEPS, NEIGHBOUR_CANDIDATES = 10, 500
"""Steps of the targeted attacker, and the number of random candidates for a target's new neighbours."""

Attacker = Callable[[Graph, int, np.random.Generator], IntArray]
"""Returns at most ``budget`` pairs u < v to plant in a graph whose labels are all known or predicted (P × 2)."""


def simulate_minmax(graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """MinMax with few iterations; PRBCD on graphs too large for it."""
    small = graph.num_nodes <= MINMAX_MAX_NODES
    return simulate(MinMax(iterations=12, samples=3) if small else PRBCD(epochs=20), graph, budget, rng)


def simulate(attack: Attack, graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """Run an attack of the package; plant nothing in a graph too small or too dense for it."""
    try:
        return attack.poison(graph, budget, seed=int(rng.integers(2**31))).added
    except InputError:
        return no_pairs()


def simulate_mettack(
    graph: Graph,
    budget: int,
    rng: np.random.Generator,
    *,
    inner: InnerTraining = METTACK_TRAINING,
    steps: int | None = None,
    oversampling: int = 3,
    stealthy: bool = False,
) -> IntArray:
    """METTACK in a few large steps: after each meta-gradient, insert the best pairs, not too many at one node.

    The number of ``steps`` is chosen by the graph's size if None. A step chooses among ``oversampling`` times as many
    pairs as it inserts; if ``stealthy``, by the gradient weighed against the score that a filter would give the pair.
    """
    planted = no_pairs()
    poisoned, loss, classes = graph, None, np.empty(0)
    if steps is None:
        steps = int(np.clip(TOTAL_PAIRS / graph.num_nodes**2, MIN_STEPS, MAX_STEPS))
    for step in range(1, steps + 1):
        size = budget * step // steps - len(planted)
        if size <= 0:
            continue
        surrogate = Surrogate(poisoned, inner=inner)
        fitted = surrogate.fit()
        if loss is None:
            loss, classes = AttackerLoss(graph, fitted.logits.argmax(1), 0.0), fitted.probabilities.numpy()
        gradient = surrogate.meta_gradient(fitted, loss.signal(fitted.logits))
        pairs, values = _best_insertions(gradient, poisoned, oversampling * size, rng)
        if stealthy:
            u, v = pairs.T
            filter_scores = -clamped_log(row_dot(classes[u], classes[v])) - 8 * attribute_cosines(graph, pairs)
            utility = np.log(np.maximum(values, MIN_GRADIENT)) - filter_scores
            pairs = pairs[np.argsort(-utility, kind="stable")]
        chosen = spread(pairs, size, max(2, size // 4))
        planted = np.concatenate([planted, chosen])
        poisoned = poisoned.with_edges(chosen)
    return planted


def _best_insertions(
    gradient: PairGradient, graph: Graph, count: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Return the pairs without an edge that have the largest gradients, largest first, and these gradients."""
    front, back = sketch_factors(*gradient.factors(), rng)
    if graph.num_nodes <= ALL_PAIRS_MAX_NODES:
        return best_pairs(front, back, Excluded(graph.edges), count)
    pairs = _sample_pairs(graph, rng)
    pairs = pairs[~graph.has_edges(pairs)]
    batches = np.array_split(pairs, max(1, len(pairs) * front.shape[1] // BATCH_VALUES))
    values = np.concatenate([(front[batch[:, 0]] * back[batch[:, 1]]).sum(1).numpy() for batch in batches])
    best = np.argsort(-values, kind="stable")[:count]
    return pairs[best], values[best]


def sketch_factors(front: Tensor, back: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Approximate front·backᵀ by factors with `SKETCH_RANK` columns: a randomized range finder with one power step."""
    if front.shape[1] <= SKETCH_RANK:
        return front, back
    front, back = front.float(), back.float()
    drawn = torch.from_numpy(rng.standard_normal((len(front), SKETCH_RANK))).to(front)
    basis = torch.linalg.qr(front @ (back.T @ (back @ (front.T @ drawn)))).Q
    return basis, back @ (front.T @ basis)


def _sample_pairs(graph: Graph, rng: np.random.Generator) -> IntArray:
    """Draw random pairs, half of them with a training node, where attackers tend to plant."""
    assert graph.split is not None
    first = rng.integers(0, graph.num_nodes, SAMPLED_PAIRS)
    first[::2] = rng.choice(graph.split.train, len(first[::2]))
    pairs = np.sort(np.stack([first, rng.integers(0, graph.num_nodes, SAMPLED_PAIRS)], axis=1), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


def simulate_targeted(graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """Nettack in a few steps: connect each of many targets to one to eight nodes that favour a wrong class.

    Targets are nodes whose labels the defender doesn't know, drawn with probability proportional to their degrees.
    """
    assert graph.labels is not None
    assert graph.split is not None
    xw = Surrogate(graph).fit().xw.numpy()
    unknown = np.ones(graph.num_nodes)
    unknown[np.concatenate([graph.split.train, graph.split.val])] = 0.0
    weights = graph.degrees * (unknown if (graph.degrees * unknown).any() else 1.0)
    targets = rng.choice(graph.num_nodes, np.count_nonzero(weights), replace=False, p=weights / weights.sum())
    sizes = rng.integers(1, MAX_EDGES_PER_TARGET + 1, len(targets))
    enough = min(int(np.searchsorted(np.cumsum(sizes), budget)) + 1, len(targets))
    planted = no_pairs()
    poisoned = graph
    for batch in np.array_split(np.arange(enough), TARGETED_STEPS):
        chosen = _misleading_pairs(poisoned, xw, targets[batch], sizes[batch], rng)
        planted = np.concatenate([planted, chosen])
        poisoned = poisoned.with_edges(chosen)
    return planted[:budget]


def _misleading_pairs(
    graph: Graph, xw: FloatArray, targets: IntArray, sizes: IntArray, rng: np.random.Generator
) -> IntArray:
    """Return, for each target t, the ``sizes`` pairs (t, v) that raise max_c≠y Z_tc − Z_ty most, with Z = Â²P, P = XW.

    A new neighbour v adds (Σ_j p_j)/d_v + p_v/d_t to √d_t·Z_t, where p = P/√d and j runs over v and its neighbours.
    """
    assert graph.labels is not None
    d = graph.degrees[:, None] + 1.0
    adjacency = graph.adjacency()
    p = xw / np.sqrt(d)
    sums = p + adjacency @ p
    logits = sums / d + adjacency @ (sums / d)
    pairs = [no_pairs()]
    for target, size in zip(targets, sizes, strict=True):
        drawn = rng.choice(graph.num_nodes, min(NEIGHBOUR_CANDIDATES, graph.num_nodes), replace=False)
        candidates = np.setdiff1d(drawn, [target, *adjacency[[target]].indices])
        after = logits[target] + sums[candidates] / (d[candidates] + 1) + p[candidates] / d[target]
        label = graph.labels[target]
        margin = np.delete(after, label, axis=1).max(axis=1) - after[:, label]
        best = candidates[np.argsort(-margin, kind="stable")[:size]]
        pairs.append(np.stack([np.minimum(best, target), np.maximum(best, target)], axis=1))
    return np.unique(np.concatenate(pairs), axis=0)


ATTACKERS: dict[str, Attacker] = {
    "mettack": simulate_mettack,
    # The published inner training predicts other classes and chooses other pairs, many of them with similar attributes.
    "unrolled": partial(simulate_mettack, inner=Unrolled(), steps=UNROLLED_STEPS),
    "minmax": simulate_minmax,
    "targeted": simulate_targeted,
    "dice": partial(simulate, Dice(share_removed=0.0)),
    "random": partial(simulate, RandomAttack()),
    "stealthy": partial(simulate_mettack, oversampling=20, stealthy=True),
}


def attackers_by_name(names: str) -> dict[str, Attacker]:
    """Return simulated attackers by their names, separated by commas.

    >>> list(attackers_by_name("dice, random"))
    ['dice', 'random']
    """
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in ATTACKERS:
            raise InputError(f"there is no simulated attacker {name!r}; there are {', '.join(ATTACKERS)}")
    return {name: ATTACKERS[name] for name in wanted}
