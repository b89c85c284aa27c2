"""Colours that the colour-blind can tell apart, and marks for those who see or print none.

A colour is a CSS custom property with the light theme's value to fall back on, so that a picture follows the page it
stands in and is right where it stands alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from focusedcleaner.formatting import class_name
from focusedcleaner.graph import Graph

INK, QUIET, LINE, PAPER = (
    f"var(--fc-{name}, {light})"
    for name, light in (("ink", "#1c2024"), ("quiet", "#5f6b76"), ("line", "#b3bcc5"), ("paper", "#ffffff"))
)
BEFORE, AFTER = "var(--fc-before, #b84c00)", "var(--fc-after, #0072b2)"
FLAGGED = "var(--fc-flagged, #d1350f)"

_CLASSES = (
    ("#0072b2", "#ffffff"),
    ("#e69f00", "#1c2024"),
    ("#009e73", "#1c2024"),
    ("#cc79a7", "#1c2024"),
    ("#56b4e9", "#1c2024"),
    ("#f0e442", "#1c2024"),
    ("#8c6d46", "#ffffff"),
)
"""Okabe and Ito's colours with the ink that is read on each; their vermilion is left to the flagged edge."""

SHAPES = ("circle", "square", "diamond")


@dataclass(frozen=True)
class Mark:
    """How a class is shown: no two classes have the same letter, and neighbours in the list never the same colour."""

    letter: str
    shape: str
    colour: str
    ink: str
    name: str


UNKNOWN_MARK = Mark("?", "circle", "#9aa5b1", "#1c2024", "unknown")


def mark(graph: Graph, number: int) -> Mark:
    """The mark of a class; of an unknown one for a negative number.

    >>> graph = Graph(2, [[0, 1]], labels=[0, 1], class_names=("theory", "neural nets"))
    >>> mark(graph, 1).letter, mark(graph, 1).name, mark(graph, -1).letter
    ('B', 'neural nets', '?')
    """
    if number < 0:
        return UNKNOWN_MARK
    colour, ink = _CLASSES[number % len(_CLASSES)]
    shape = SHAPES[number // len(_CLASSES) % len(SHAPES)]
    return Mark(_letter(number), shape, colour, ink, class_name(graph, number))


def _letter(number: int) -> str:
    """A, B, … Z, AA, AB, …"""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text
