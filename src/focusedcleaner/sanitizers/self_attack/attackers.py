"""Attackers that are simulated: quick versions of those that are feared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from focusedcleaner.attacks.base import Attack
from focusedcleaner.attacks.dice import Dice
from focusedcleaner.attacks.pgd import MinMax
from focusedcleaner.attacks.random import RandomAttack
from focusedcleaner.attacks.rbcd import PRBCD
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray, no_pairs
from focusedcleaner.sanitizers.self_attack.metagradient import (
    plant_by_gradient,
    plant_by_unrolled_gradient,
    plant_stealthily,
)
from focusedcleaner.sanitizers.self_attack.targeted import plant_at_targets

SIMULATED = "mettack,unrolled,minmax,targeted,dice,random"
"""The attackers that are simulated by default."""
LARGEST_RELAXED = 10_000
"""Nodes up to which MinMax itself is simulated."""

Attacker = Callable[[Graph, int, np.random.Generator], IntArray]
"""Plants a number of edges in a graph whose labels are known or guessed: their ends, u < v."""


def plant_by_relaxation(graph: Graph, budget: int, rng: np.random.Generator) -> IntArray:
    """MinMax in few iterations; PRBCD where a graph is too large for it."""
    seed = int(rng.integers(2**31))
    if graph.num_nodes <= LARGEST_RELAXED:
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
        return no_pairs()


ATTACKERS: dict[str, Attacker] = {
    "mettack": plant_by_gradient,
    "unrolled": plant_by_unrolled_gradient,
    "minmax": plant_by_relaxation,
    "targeted": plant_at_targets,
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
