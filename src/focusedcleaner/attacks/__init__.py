"""Who poisons: each attack under its name."""

from __future__ import annotations

from focusedcleaner.attacks.base import Attack, Interrupted, Poisoning, Progress
from focusedcleaner.attacks.dice import Dice
from focusedcleaner.attacks.mettack import Mettack
from focusedcleaner.attacks.nettack import Nettack
from focusedcleaner.attacks.random import RandomAttack
from focusedcleaner.registry import Method, Registry
from focusedcleaner.surrogate import Implicit, Unrolled

__all__ = [
    "ATTACKS",
    "Attack",
    "Dice",
    "Interrupted",
    "Mettack",
    "Nettack",
    "Poisoning",
    "Progress",
    "RandomAttack",
    "attack",
]

ATTACKS: Registry[Attack] = Registry(
    "attack",
    Method("dice", Dice),
    Method("random", RandomAttack),
    Method("mettack", Mettack, {"inner": {"unrolled": Unrolled, "implicit": Implicit}}),
    Method("nettack", Nettack),
)
"""Every attack that is known by name."""


def attack(name: str, **settings: object) -> Attack:
    """Make an attack by its name, with its settings.

    >>> attack("dice").name
    'dice'
    """
    return ATTACKS.make(name, **settings)
