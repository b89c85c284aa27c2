"""Attackers that are simulated: quick versions of those that are feared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from focusedcleaner.agreement import attribute_cosines
from focusedcleaner.attacks.base import Attack
from focusedcleaner.attacks.blocks import PRBCD
from focusedcleaner.attacks.dice import Dice
from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.attacks.minmax import MinMax
from focusedcleaner.attacks.random import RandomAttack
from focusedcleaner.attacks.search import Excluded, best_pairs
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.surrogate import Implicit, InnerTraining, PairGradient, Surrogate, Unrolled

ALL_PAIRS = 10_000
"""Nodes up to which a simulated attacker looks at every pair; beyond, at a sample of them."""
SAMPLED_PAIRS = 2_000_000
FEWEST_STEPS, MOST_STEPS, PAIRS_IN_ALL = 20, 60, 50_000_000
"""Gradients that the simulated METTACK takes, with as many insertions after each: more on small graphs, where all pairs
are looked at in no time. METTACK itself takes a gradient for every flip."""
UNROLLED_STEPS = 10
"""The same with an unrolled training, whose gradients take longer."""
NUMBERS_AT_ONCE = 20_000_000
"""Of the gradient's factors that are gathered together where pairs are sampled."""
TRAINED = Implicit(weight_decay=1e-3)
"""How the attacked surrogate is trained, as our METTACK has it."""
LEAST_HARM = 1e-12
"""Gradients up to here are no harm at all."""

Attacker = Callable[[Graph, int, np.random.Generator], IntArray]
"""Plants a number of edges in a graph whose labels are known or guessed: their ends, u < v."""


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
    planted = np.empty((0, 2), dtype=np.int64)
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
    """What a plain filter, as `agreed` is one, holds against pairs: −log(p_u·p_v) − 8·cos(x_u, x_v)."""
    u, v = pairs.T
    agreement = (classes[u] * classes[v]).sum(axis=1)
    return -np.log(np.maximum(agreement, 1e-6)) - 8 * attribute_cosines(graph, pairs)


def _promising(
    gradient: PairGradient, graph: Graph, wanted: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """The pairs without an edge whose insertion raises the loss most, the best first, and how fast it does."""
    front, back = gradient.factors()
    if graph.num_nodes <= ALL_PAIRS:
        return best_pairs(front, back, Excluded(graph.edges), wanted)
    pairs = _sampled_pairs(graph, rng)
    pairs = pairs[~np.isin(pairs[:, 0] * graph.num_nodes + pairs[:, 1], graph.edge_keys)]
    parts = np.array_split(pairs, max(1, len(pairs) * front.shape[1] // NUMBERS_AT_ONCE))
    values = np.concatenate([(front[part[:, 0]] * back[part[:, 1]]).sum(1).numpy() for part in parts])
    best = np.argsort(-values, kind="stable")[:wanted]
    return pairs[best], values[best]


def _sampled_pairs(graph: Graph, rng: np.random.Generator) -> IntArray:
    """Random pairs, half of them with a training node, where attackers like to be."""
    assert graph.split is not None
    first = rng.integers(0, graph.num_nodes, SAMPLED_PAIRS)
    first[::2] = rng.choice(graph.split.train, len(first[::2]))
    pairs = np.sort(np.stack([first, rng.integers(0, graph.num_nodes, SAMPLED_PAIRS)], axis=1), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


def spread(pairs: IntArray, size: int, most: int) -> IntArray:
    """The first ``size`` pairs of which no node has more than ``most``."""
    taken: dict[int, int] = {}
    chosen = []
    for u, v in pairs.tolist():
        if taken.get(u, 0) < most and taken.get(v, 0) < most:
            taken[u], taken[v] = taken.get(u, 0) + 1, taken.get(v, 0) + 1
            chosen.append((u, v))
        if len(chosen) == size:
            break
    return np.array(chosen, dtype=np.int64).reshape(-1, 2)


def plant_by_relaxation(graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """MinMax in few iterations; PRBCD where a graph is too large for it."""
    seed = int(rng.integers(2**31))
    if graph.num_nodes <= ALL_PAIRS:
        return MinMax(iterations=12, samples=3).poison(graph, budget, seed=seed).added
    return PRBCD(epochs=20).poison(graph, budget, seed=seed).added


def plant_between_classes(graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """DICE, insertions only: random pairs of different classes."""
    return _with_room(Dice(share_removed=0.0), graph, budget, rng)


def plant_at_random(graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """Random pairs."""
    return _with_room(RandomAttack(), graph, budget, rng)


def _with_room(attack: Attack, graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """What an attack plants; nothing in a graph so small or so dense that there is no room for it."""
    try:
        return attack.poison(graph, budget, seed=int(rng.integers(2**31))).added
    except InputError:
        return np.empty((0, 2), dtype=np.int64)


ATTACKERS: dict[str, Attacker] = {
    "mettack": plant_by_gradient,
    "unrolled": plant_by_unrolled_gradient,
    "minmax": plant_by_relaxation,
    "dice": plant_between_classes,
    "random": plant_at_random,
    "stealthy": plant_stealthily,
}
"""Who can be simulated."""


def attackers(names: str) -> dict[str, Attacker]:
    """Attackers by name, several by commas.

    >>> list(attackers("dice, random"))
    ['dice', 'random']
    """
    wanted = [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in ATTACKERS:
            raise InputError(f"there is no simulated attacker {name!r}; there are {', '.join(ATTACKERS)}")
    return {name: ATTACKERS[name] for name in wanted}
