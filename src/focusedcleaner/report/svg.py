"""SVG elements, colours that colour-blind readers can tell apart, and the marks of classes.

A colour is a CSS custom property that falls back to the light theme, so a picture follows the theme of its page and
also works on its own. All text is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape

from focusedcleaner.formatting import class_name
from focusedcleaner.graph import Graph

INK, QUIET, LINE, PAPER = (
    f"var(--fc-{name}, {light})"
    for name, light in (("ink", "#1c2024"), ("quiet", "#5f6b76"), ("line", "#b3bcc5"), ("paper", "#ffffff"))
)
BEFORE, AFTER = "var(--fc-before, #b84c00)", "var(--fc-after, #0072b2)"
FLAGGED = "var(--fc-flagged, #d1350f)"


# Elements ------------------------------------------------------------------------------------------------------------


def element(name: str, *children: object, **attributes: object) -> Markup:
    """Return an SVG element; ``fill_opacity`` becomes fill-opacity, ``class_`` becomes class, None is left out.

    >>> element("text", "a < b", x=1.50, class_="label", id=None)
    Markup('<text x="1.5" class="label">a &lt; b</text>')
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{number(value) if isinstance(value, float) else escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = "".join(escape(child) for child in children)
    return Markup(f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>")


def number(value: float) -> str:
    """Format a coordinate with one decimal, without a trailing zero.

    >>> number(12.04), number(-0.01), number(3.26)
    ('12', '0', '3.3')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def text(words: str, x: float, y: float, *, colour: str = QUIET, size: float = 12, **style: object) -> Markup:
    """Return a text element; ``bold=True`` and ``anchor`` stand for the SVG attributes."""
    weight = 600 if style.pop("bold", False) else None
    anchor = style.pop("anchor", None)
    return element(
        "text", words, x=x, y=y, text_anchor=anchor, fill=colour, font_size=size, font_weight=weight, **style
    )


def picture(width: float, height: float, description: str, *children: Markup, class_: str = "fc-chart") -> Markup:
    """Return a whole picture; screen readers read the description."""
    return element(
        "svg",
        element("title", description),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=int(width),
        height=int(height),
        role="img",
        aria_label=description,
        class_=class_,
        font_family="system-ui, sans-serif",
    )


def shape(kind: str, x: float, y: float, radius: float, **style: object) -> Markup:
    """Return a circle, square or diamond of roughly that radius.

    >>> shape("circle", 10.0, 10.0, 9.0, fill="red")
    Markup('<circle cx="10" cy="10" r="9" fill="red"/>')
    """
    if kind == "circle":
        return element("circle", cx=x, cy=y, r=radius, **style)
    half = radius * (0.9 if kind == "square" else 0.8)
    turn = f"rotate(45 {number(x)} {number(y)})" if kind == "diamond" else None
    return element("rect", x=x - half, y=y - half, width=2 * half, height=2 * half, transform=turn, **style)


# Marks of classes ----------------------------------------------------------------------------------------------------

_CLASSES = (
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


@dataclass(frozen=True)
class Mark:
    """How a class is drawn: each class has its own letter, and consecutive classes differ in colour."""

    letter: str
    shape: str
    colour: str
    ink: str
    name: str


UNKNOWN_MARK = Mark("?", "circle", "#9aa5b1", "#1c2024", "unknown")


def mark(graph: Graph, number: int) -> Mark:
    """Return the mark of a class; a negative number is the unknown class.

    >>> graph = Graph(2, [[0, 1]], labels=[0, 1], class_names=("theory", "neural nets"))
    >>> mark(graph, 1).letter, mark(graph, 1).name, mark(graph, -1).letter
    ('B', 'neural nets', '?')
    """
    if number < 0:
        return UNKNOWN_MARK
    colour, ink = _CLASSES[number % len(_CLASSES)]
    kind = _SHAPES[number // len(_CLASSES) % len(_SHAPES)]
    return Mark(_letter(number), kind, colour, ink, class_name(graph, number))


def _letter(number: int) -> str:
    """A, B, … Z, AA, AB, …"""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def badge(sign: Mark) -> Markup:
    """Return a class's mark as a small picture, for legends."""
    size = 11 if len(sign.letter) == 1 else 9
    letter = text(sign.letter, 10, 14, anchor="middle", colour=sign.ink, bold=True, size=size)
    filled = shape(sign.shape, 10.0, 10.0, 9.0, fill=sign.colour)
    return element("svg", filled, letter, width=20, height=20, viewBox="0 0 20 20", aria_hidden="true", class_="mark")
