"""Attacks by name. A new one needs a file, a line in the registration below, a test and a line of docs."""

from __future__ import annotations

from focusedcleaner.attacks.adaptive import Adaptive
from focusedcleaner.attacks.alternating import PublishedMinMax
from focusedcleaner.attacks.base import Attack, Interrupted, Poisoning
from focusedcleaner.attacks.dice import Dice
from focusedcleaner.attacks.grad import GraD
from focusedcleaner.attacks.lrbcd import LRBCD
from focusedcleaner.attacks.meta_pgd import MetaPGD
from focusedcleaner.attacks.mettack import Mettack, Regularized
from focusedcleaner.attacks.nettack import Nettack
from focusedcleaner.attacks.pgd import PGD, MinMax
from focusedcleaner.attacks.random import RandomAttack
from focusedcleaner.attacks.rbcd import GRBCD, PRBCD
from focusedcleaner.registry import ATTACKS, Method
from focusedcleaner.surrogate import TwoLayer, Unrolled

__all__ = [
    "ATTACKS",
    "GRBCD",
    "LRBCD",
    "PGD",
    "PRBCD",
    "Adaptive",
    "Attack",
    "Dice",
    "GraD",
    "Interrupted",
    "MetaPGD",
    "Mettack",
    "MinMax",
    "Nettack",
    "Poisoning",
    "PublishedMinMax",
    "RandomAttack",
    "Regularized",
    "attack",
]

ATTACKS.register(
    Method("dice", Dice),
    Method("random", RandomAttack),
    Method("mettack", Mettack, {"inner": {"implicit": Regularized, "unrolled": Unrolled, "two-layer": TwoLayer}}),
    Method(
        "minmax",
        MinMax,
        about="Ascends the gradient on relaxed edges, against a surrogate trained again at each step",
        variants={"strong": MinMax, "published": PublishedMinMax},
    ),
    Method("meta-pgd", MetaPGD, {"inner": {"implicit": Regularized, "unrolled": Unrolled}}),
    Method("grad", GraD, {"inner": {"implicit": Regularized, "unrolled": Unrolled}}),
    Method("pgd", PGD, about="Ascends the gradient on relaxed edges, against a surrogate of the clean graph"),
    Method("nettack", Nettack, about="Flips pairs at target nodes, each time the one that favours a wrong class most"),
    Method("prbcd", PRBCD, about="Ascends the gradient as pgd does, each time on a random block of pairs only"),
    Method("grbcd", GRBCD, about="Flips the pairs with the largest gradient in a new random block at each step"),
    Method("lrbcd", LRBCD),
    Method("adaptive", Adaptive),
)


def attack(name: str, /, **settings: object) -> Attack:
    """Build an attack by name, with its settings.

    >>> attack("dice").name
    'dice'
    """
    return ATTACKS.make(name, **settings)
