"""Attacks by name. A new one needs a file, a line in the registration below, a test and a line of docs."""

from __future__ import annotations

from focusedcleaner.attacks.adaptive import Adaptive
from focusedcleaner.attacks.base import Attack, Interrupted, Poisoning
from focusedcleaner.attacks.dice import Dice
from focusedcleaner.attacks.mettack import Mettack, Regularized
from focusedcleaner.attacks.nettack import Nettack
from focusedcleaner.attacks.pgd import PGD, MinMax
from focusedcleaner.attacks.random import RandomAttack
from focusedcleaner.attacks.rbcd import GRBCD, PRBCD
from focusedcleaner.registry import ATTACKS, Method
from focusedcleaner.surrogate import Unrolled

__all__ = [
    "ATTACKS",
    "GRBCD",
    "PGD",
    "PRBCD",
    "Adaptive",
    "Attack",
    "Dice",
    "Interrupted",
    "Mettack",
    "MinMax",
    "Nettack",
    "Poisoning",
    "RandomAttack",
    "Regularized",
    "attack",
]

ATTACKS.register(
    Method("dice", Dice),
    Method("random", RandomAttack),
    Method("mettack", Mettack, {"inner": {"implicit": Regularized, "unrolled": Unrolled}}),
    Method("minmax", MinMax),
    Method("pgd", PGD),
    Method("nettack", Nettack),
    Method("prbcd", PRBCD),
    Method("grbcd", GRBCD),
    Method("adaptive", Adaptive),
)


def attack(name: str, /, **settings: object) -> Attack:
    """Build an attack by name, with its settings.

    >>> attack("dice").name
    'dice'
    """
    return ATTACKS.make(name, **settings)
