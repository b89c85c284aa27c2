"""A frame to draw data in: scales, round ticks, a quiet grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from focusedcleaner.report import palette
from focusedcleaner.report.svg import element, number


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """About so many round numbers from low to high, both included where they are round.

    >>> ticks(0, 553, 4), ticks(-1.3, 0.2, 4)
    ([0, 200, 400], [-1.0, -0.5, 0.0])
    """
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    power = 10.0 ** math.floor(math.log10(span / wanted))
    step = power * min((1, 2, 5, 10), key=lambda factor: abs(span / (factor * power) - wanted))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return [round(place * step, digits) if digits else round(place * step) for place in range(first, last + 1)]


def top(value: float, wanted: int = 4) -> float:
    """The round number at or above a value that an axis from 0 may end with.

    >>> top(553), top(590), top(0)
    (600, 600, 1)
    """
    if value <= 0:
        return 1
    steps = ticks(0, value, wanted)
    return value if steps[-1] == value else steps[-1] + steps[1] - steps[0]


def label(value: float) -> str:
    """A number as short as a tick's label should be.

    >>> label(1500), label(0.25), label(2e-5), label(1250000)
    ('1,500', '0.25', '2.0e−5', '1.25M')
    """
    size = abs(value)
    if size >= 1e6:
        words = f"{value / 1e6:.3g}M"
    elif 0 < size < 1e-3:
        words = f"{value:.1e}".replace("e-0", "e-")
    else:
        words = f"{value:,.0f}" if size >= 1000 else f"{value:.3g}"
    return words.replace("-", "−")


@dataclass(frozen=True)
class Frame:
    """A plot's place in its picture and its two scales."""

    width: float
    height: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    left: float = 52.0
    right: float = 16.0
    top: float = 26.0
    bottom: float = 40.0

    def x(self, value: float) -> float:
        """Where a value lies from the left, in pixels."""
        return self.left + (self.width - self.left - self.right) * _part(value, self.x_range)

    def y(self, value: float) -> float:
        """Where a value lies from the top, in pixels."""
        return self.height - self.bottom - (self.height - self.top - self.bottom) * _part(value, self.y_range)

    def path(self, xs: Sequence[float], ys: Sequence[float]) -> str:
        """A line through the points, broken where a value is missing."""
        text, pen = [], "M"
        for x, y in zip(xs, ys, strict=True):
            if not math.isfinite(y):
                pen = "M"
                continue
            text.append(f"{pen}{number(self.x(x))} {number(self.y(y))}")
            pen = "L"
        return "".join(text)

    def rows(self, wanted: int = 4, *, whole: bool = False) -> list[Markup]:
        """Horizontal lines with their values, whole numbers alone where things are counted."""
        parts = []
        for value in ticks(*self.y_range, wanted):
            if whole and value != round(value):
                continue
            height = self.y(value)
            rule = f"M{number(self.left)} {number(height)}H{number(self.width - self.right)}"
            parts.append(element("path", d=rule, stroke=palette.LINE, stroke_width=0.5, opacity=0.7))
            parts.append(text(label(value), self.left - 7, height + 4, anchor="end"))
        return parts

    def columns(self, values: Sequence[float], names: Sequence[str] | None = None) -> list[Markup]:
        """Labels below the plot."""
        shown = [label(value) for value in values] if names is None else names
        below = self.height - self.bottom + 16
        return [text(name, self.x(value), below, anchor="middle") for value, name in zip(values, shown, strict=True)]

    def titles(self, x: str = "", y: str = "") -> list[Markup]:
        """What the axes are: y above the plot on the left, x below it in the middle."""
        middle = (self.left + self.width - self.right) / 2
        named = [text(x, middle, self.height - 6, anchor="middle")] if x else []
        return [*named, text(y, 4.0, 12.0)] if y else named


def _part(value: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return (value - low) / (high - low) if high > low else 0.5


def text(
    words: str,
    x: float,
    y: float,
    *,
    anchor: str | None = None,
    colour: str = palette.QUIET,
    bold: bool = False,
    size: int = 12,
) -> Markup:
    """Words in a picture."""
    weight = 600 if bold else None
    return element("text", words, x=x, y=y, text_anchor=anchor, fill=colour, font_size=size, font_weight=weight)


def picture(frame: Frame, words: str, *inside: Markup) -> Markup:
    """The whole picture; ``words`` say what it shows to those who don't see it."""
    return element(
        "svg",
        element("title", words),
        *inside,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(frame.width)} {number(frame.height)}",
        width=int(frame.width),
        height=int(frame.height),
        role="img",
        aria_label=words,
        class_="fc-chart",
        font_family="system-ui, sans-serif",
    )
