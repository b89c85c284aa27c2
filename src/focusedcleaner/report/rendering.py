"""Jinja templates for pages and pictures, and the marks by which pictures and legends show classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from focusedcleaner.formatting import class_name, count, percent, readable
from focusedcleaner.graph import Graph

_COLOURS = (
    ("#0072b2", "#ffffff"),
    ("#e69f00", "#1c2024"),
    ("#009e73", "#1c2024"),
    ("#cc79a7", "#1c2024"),
    ("#56b4e9", "#1c2024"),
    ("#f0e442", "#1c2024"),
    ("#8c6d46", "#ffffff"),
)
"""Okabe and Ito's colours, each with a legible ink. Vermilion is reserved for the flagged edge."""
_SHAPES = ("circle", "square", "diamond")


@cache
def template_environment(*packages: str) -> Environment:
    """Return a Jinja environment, escaping and strict, for the ``templates`` of these packages and of the report."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, "focusedcleaner.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda share: (
        "–" if share is None else percent(share).replace(" ", "\N{NO-BREAK SPACE}")
    )
    environment.filters["number"] = lambda value: f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    environment.filters["count"] = count
    environment.filters["readable"] = readable
    environment.filters["pixels"] = lambda value: f"{value:z.1f}".removesuffix(".0")
    return environment


def render_svg(template: str, **values: Any) -> Markup:
    """Render a picture, which can be used in a page or on its own."""
    return Markup(template_environment().get_template(template).render(values).strip())


@dataclass(frozen=True)
class Mark:
    """How a class is drawn: each class has its own letter, and consecutive classes differ in colour."""

    letter: str
    shape: str
    colour: str
    ink: str
    name: str


NO_CLASS = Mark("", "circle", "#9aa5b1", "#1c2024", "")
"""The mark of every node where no class is known at all."""


def mark(graph: Graph, number: int) -> Mark:
    """Return the mark of a class; a negative number is the unknown class.

    >>> graph = Graph(2, [[0, 1]], labels=[0, 1], class_names=("theory", "neural nets"))
    >>> mark(graph, 1).letter, mark(graph, 1).name, mark(graph, -1).letter
    ('B', 'neural nets', '?')
    """
    if number < 0:
        return Mark("?", "circle", "#9aa5b1", "#1c2024", "unknown")
    turn, colour = divmod(number, len(_COLOURS))
    letters, rest = "", number + 1
    while rest:  # A, B, … Z, AA, AB, …
        rest, letter = divmod(rest - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return Mark(letters, _SHAPES[turn % len(_SHAPES)], *_COLOURS[colour], class_name(graph, number))
