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
from focusedcleaner.attacks.pgd import BlockMinMax, BlockPGD, BlockwiseAscent
from focusedcleaner.attacks.random import RandomAttack
from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.edge_features.pair_features import clamped_log, row_dot
from focusedcleaner.engine import Attributes
from focusedcleaner.engine.top_pairs import products_at, spread
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray, Split, no_pairs, pair_keys, pairs_of_keys, unique_keys
from focusedcleaner.surrogate import Implicit, InnerTraining, PairGradient, Surrogate, Unrolled

DEFAULT_ATTACKERS = "mettack,unrolled,minmax,targeted,pgd,random"
ATTACKERS_ELSEWHERE = "mettack,pgd,random"
"""Attackers that are simulated with training nodes of their own."""
NOISE_LIKE = ("targeted", "dice", "random")
"""Attackers that plant a few edges at each of many nodes, as the noise of a clean graph does."""
ELSEWHERE_SHARE = 0.1
"""Share of the nodes on which an attacker of its own trains."""
PAIRS_PER_EDGE, MIN_PAIRS, MAX_PAIRS = 40, 100_000, 10_000_000
"""A step of a gradient attacker chooses among this many random pairs for each edge of its budget, within bounds. A
few large steps among all pairs plant too many edges at a few nodes; among a new sample in each step, they plant what
the attacks plant that take many small steps (docs/self-attack.md)."""
ASCENT_STEPS, ASCENT_SAMPLES = 8, 2
"""Gradient steps of PGD and MinMax, and Bernoulli samples of the result."""
METTACK_STEPS = 10
"""Meta-gradients of the simulated METTACK. METTACK needs one per flip."""
SKETCH_RANK = 96
"""Number of columns to which a gradient's factors are reduced if they have more."""
METTACK_TRAINING = Implicit(weight_decay=1e-3, tolerance=1e-2)
"""The inner training of our METTACK, to a looser tolerance."""
MIN_GRADIENT = 1e-12
"""Lower clamp before the logarithm."""
MAX_EDGES_PER_TARGET = 8
TARGETED_STEPS, NEIGHBOUR_CANDIDATES = 10, 500
"""Steps of the targeted attacker, and the number of random candidates for a target's new neighbours."""

Attacker = Callable[[Graph, int, np.random.Generator], IntArray]
"""Returns at most ``budget`` pairs u < v to plant in a graph whose labels are all known or predicted (P × 2)."""


def simulate_ascent(method: type[BlockwiseAscent], graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """PGD or MinMax with few steps, each on a random block of pairs as in PRBCD."""
    attack = method(iterations=ASCENT_STEPS, samples=ASCENT_SAMPLES, block_size=_num_pairs(budget))
    return simulate(attack, graph, budget, rng)


def _num_pairs(budget: int) -> int:
    """Return the number of random pairs among which a step chooses."""
    return min(max(MIN_PAIRS, PAIRS_PER_EDGE * budget), MAX_PAIRS)


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
    oversampling: int = 3,
    stealthy: bool = False,
) -> IntArray:
    """METTACK in a few large steps: after each meta-gradient, insert the best pairs, not too many at one node.

    A step chooses among ``oversampling`` times as many pairs as it inserts; if ``stealthy``, by the gradient weighed
    against the score that a filter would give the pair.
    """
    planted = no_pairs()
    poisoned, loss, classes = graph, None, np.empty(0)
    attributes, form = Attributes(graph), "sparse" if isinstance(inner, Implicit) else None
    start = None
    for step in range(1, METTACK_STEPS + 1):
        size = budget * step // METTACK_STEPS - len(planted)
        if size <= 0:
            continue
        surrogate = Surrogate(poisoned, inner=inner, form=form, attributes=attributes)
        fitted = surrogate.fit(start)
        start = fitted.solution.coordinates
        if loss is None:
            loss, classes = AttackerLoss(graph, fitted.logits.argmax(1), 0.0), fitted.probabilities.numpy()
        gradient = surrogate.meta_gradient(fitted, loss.signal(fitted.logits))
        candidates = _sample_pairs(poisoned, _num_pairs(budget), rng)
        pairs, values = _best_insertions(gradient, candidates, oversampling * size, rng)
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
    gradient: PairGradient, candidates: IntArray, count: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Return the ``count`` candidates (P × 2) that have the largest gradients, largest first, and these gradients."""
    front, back = sketch_factors(*gradient.factors(), rng)
    values = products_at(front, back, candidates).astype(float)
    best = np.argsort(-values, kind="stable")[:count]
    return candidates[best], values[best]


def sketch_factors(front: Tensor, back: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Approximate front·backᵀ by factors with `SKETCH_RANK` columns: a randomized range finder with one power step."""
    if front.shape[1] <= SKETCH_RANK:
        return front, back
    front, back = front.float(), back.float()
    drawn = torch.from_numpy(rng.standard_normal((len(front), SKETCH_RANK))).to(front)
    basis = torch.linalg.qr(front @ (back.T @ (back @ (front.T @ drawn)))).Q
    return basis, back @ (front.T @ basis)


def _sample_pairs(graph: Graph, count: int, rng: np.random.Generator) -> IntArray:
    """Draw random pairs without an edge, half of them with a training node, where attackers tend to plant."""
    assert graph.split is not None
    u, v = rng.integers(0, graph.num_nodes, (2, count))
    u[::2] = rng.choice(graph.split.train, len(u[::2]))
    pairs = np.stack([np.minimum(u, v), np.maximum(u, v)], axis=1)[u != v]
    pairs = pairs_of_keys(unique_keys(pair_keys(pairs, graph.num_nodes)), graph.num_nodes)
    return pairs[~graph.has_edges(pairs)]


def simulate_targeted(graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """Nettack in a few steps: connect each of many targets to one to eight nodes that favour a wrong class.

    Targets are nodes whose labels the defender doesn't know, drawn with probability proportional to their degrees.
    """
    assert graph.labels is not None
    assert graph.split is not None
    xw = Surrogate(graph, form="sparse").fit().xw.numpy()
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
    "unrolled": partial(simulate_mettack, inner=Unrolled()),
    "minmax": partial(simulate_ascent, BlockMinMax),
    "pgd": partial(simulate_ascent, BlockPGD),
    "targeted": simulate_targeted,
    "dice": partial(simulate, Dice(share_removed=0.0)),
    "random": partial(simulate, RandomAttack()),
    "stealthy": partial(simulate_mettack, oversampling=20, stealthy=True),
}


def on_another_split(attacker: Attacker) -> Attacker:
    """Return the attacker with training nodes of its own, drawn anew each time."""

    def attack(graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
        assert graph.labels is not None
        shares = {"train": ELSEWHERE_SHARE, "val": ELSEWHERE_SHARE}
        return attacker(
            graph.with_split(Split.random(graph.labels, seed=int(rng.integers(2**31)), **shares)), budget, rng
        )

    return attack


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
