"""The charts of a report as SVG. "Before" is outlined and orange, "after" is solid and blue: legible in grey, too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from focusedcleaner.report.svg import AFTER, BEFORE, INK, LINE, QUIET, element, number, picture, text

_BEFORE = {"fill": BEFORE, "fill_opacity": 0.15, "stroke": BEFORE, "stroke_width": 1.5}
_AFTER = {"fill": AFTER, "stroke": AFTER, "stroke_width": 1}


# Axes ----------------------------------------------------------------------------------------------------------------


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Return about ``wanted`` round numbers between low and high.

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
    return [round(multiple * step, digits) if digits else round(multiple * step) for multiple in range(first, last + 1)]


def axis_end(value: float, wanted: int = 4) -> float:
    """Return the round number at or above a value at which an axis from 0 ends.

    >>> axis_end(553), axis_end(590), axis_end(0)
    (600, 600, 1)
    """
    if value <= 0:
        return 1
    steps = ticks(0, value, wanted)
    return value if steps[-1] == value else steps[-1] + steps[1] - steps[0]


def label(value: float) -> str:
    """Format a number briefly, for a tick.

    >>> label(1500), label(0.25), label(2e-5), label(1250000)
    ('1,500', '0.25', '2.0e−5', '1.25M')
    """
    size = abs(value)
    if size >= 1e6:
        short = f"{value / 1e6:.3g}M"
    elif 0 < size < 1e-3:
        short = f"{value:.1e}".replace("e-0", "e-")
    else:
        short = f"{value:,.0f}" if size >= 1000 else f"{value:.3g}"
    return short.replace("-", "−")


@dataclass(frozen=True)
class Frame:
    """The plotting area of a chart, with its two linear scales."""

    width: float
    height: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    left: float = 52.0
    right: float = 16.0
    top: float = 26.0
    bottom: float = 40.0

    def x(self, value: float) -> float:
        """Return the horizontal pixel of a value."""
        return self.left + (self.width - self.left - self.right) * _position(value, self.x_range)

    def y(self, value: float) -> float:
        """Return the vertical pixel of a value."""
        return self.height - self.bottom - (self.height - self.top - self.bottom) * _position(value, self.y_range)

    def path(self, xs: Sequence[float], ys: Sequence[float]) -> str:
        """Return a line through the points, interrupted where a value is missing."""
        parts, pen = [], "M"
        for x, y in zip(xs, ys, strict=True):
            if math.isfinite(y):
                parts.append(f"{pen}{number(self.x(x))} {number(self.y(y))}")
            pen = "L" if math.isfinite(y) else "M"
        return "".join(parts)

    def grid(self, wanted: int = 4, *, whole: bool = False) -> list[Markup]:
        """Return horizontal lines with their values; ``whole`` keeps only whole numbers, for counts."""
        parts = []
        for value in ticks(*self.y_range, wanted):
            if whole and value != round(value):
                continue
            y = self.y(value)
            rule = f"M{number(self.left)} {number(y)}H{number(self.width - self.right)}"
            parts.append(element("path", d=rule, stroke=LINE, stroke_width=0.5, opacity=0.7))
            parts.append(text(label(value), self.left - 7, y + 4, anchor="end"))
        return parts

    def x_labels(self, values: Sequence[float], names: Sequence[str] | None = None) -> list[Markup]:
        """Return labels below the plot."""
        shown = [label(value) for value in values] if names is None else names
        below = self.height - self.bottom + 16
        return [text(name, self.x(value), below, anchor="middle") for value, name in zip(values, shown, strict=True)]

    def titles(self, x: str, y: str) -> list[Markup]:
        """Return the titles of both axes."""
        middle = (self.left + self.width - self.right) / 2
        return [text(x, middle, self.height - 6, anchor="middle"), text(y, 4.0, 12.0)]

    def picture(self, description: str, *children: Markup) -> Markup:
        """Return the chart."""
        return picture(self.width, self.height, description, *children)


def _position(value: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return (value - low) / (high - low) if high > low else 0.5


# Charts --------------------------------------------------------------------------------------------------------------


def degrees(data: Mapping[str, Any]) -> Markup:
    """Draw the number of nodes in each range of degrees, before and after.

    Args:
        data: the result of `summary.degree_bins` for the poisoned and the cleaned graph.
    """
    bins: Sequence[str] = data["bins"]
    before, after = data["nodes"]
    frame = Frame(720, 260, (0, len(bins)), (0, axis_end(max(*before, *after))))
    base, width = frame.y(0), (frame.x(1) - frame.x(0)) * 0.4
    bars = []
    for column, pair in enumerate(zip(before, after, strict=True)):
        for shift, value, style in zip((0.08, 0.52), pair, (_BEFORE, _AFTER), strict=True):
            x, y = frame.x(column + shift), frame.y(value)
            bars.append(element("rect", x=x, y=y, width=width, height=max(base - y, 0.0), **style))
    legend = []
    for name, style, x in (("before", _BEFORE, frame.width - 150), ("after", _AFTER, frame.width - 70)):
        legend.append(element("rect", x=x, y=3, width=11, height=11, **style))
        legend.append(text(name, x + 16, 13, colour=INK, bold=True))
    names = [name if len(bins) <= 20 or column % 2 == 0 else "" for column, name in enumerate(bins)]
    return frame.picture(
        f"Nodes by number of neighbours. Before, {_mode(bins, before)}; after, {_mode(bins, after)}. "
        f"The largest range is {bins[-1]}.",
        *frame.grid(whole=True),
        *bars,
        *frame.x_labels([column + 0.5 for column in range(len(bins))], names),
        *frame.titles("neighbours of a node", "nodes"),
        *legend,
    )


def _mode(bins: Sequence[str], counts: Sequence[int]) -> str:
    most = max(range(len(counts)), key=lambda column: counts[column])
    return f"most nodes ({counts[most]:,}) have {bins[most]}"


def trace(title: str, xs: Sequence[float], values: Sequence[float | None]) -> Markup:
    """Draw one quantity over the rounds or the edges changed so far, labelled with its last value."""
    ys = [math.nan if value is None else value for value in values]
    finite = [value for value in ys if math.isfinite(value)]
    low, high = min(finite), max(finite)
    margin = 0.5 if high == low else 0.0
    bounds = low - margin * (abs(low) or 1), high + margin * (abs(high) or 1)
    frame = Frame(300, 150, (0, max(xs)), bounds, left=50, right=62, top=14, bottom=24)
    last = max(row for row, value in enumerate(ys) if math.isfinite(value))
    x, y = frame.x(xs[last]), frame.y(ys[last])
    return frame.picture(
        f"{title}: from {label(finite[0])} to {label(finite[-1])}, between {label(low)} and {label(high)}.",
        *frame.grid(3),
        element("path", d=frame.path(xs, ys), fill="none", stroke=AFTER, stroke_width=2),
        element("circle", cx=x, cy=y, r=3, fill=AFTER),
        text(label(ys[last]), x + 6, y + 4, colour=INK, bold=True),
        *frame.x_labels([0, max(xs)]),
    )


def hits(data: Mapping[str, Any], planted: int, edges: int) -> Markup:
    """Draw the planted edges among those removed so far, beside the oracle's and the random order's.

    Args:
        data: ``removed`` and ``hits``, both increasing.
        planted: number of planted edges.
        edges: number of edges of the poisoned graph.
    """
    removed, planted_removed = data["removed"], data["hits"]
    end = removed[-1]
    best, chance = min(end, planted), end * planted / edges
    frame = Frame(720, 320, (0, end), (0, axis_end(best)), right=120)
    curves = (
        ("oracle", [0, best, end], [0, best, best], {"stroke": QUIET, "stroke_width": 1.5, "stroke_dasharray": "6 4"}),
        ("random", [0, end], [0, chance], {"stroke": QUIET, "stroke_width": 1.5, "stroke_dasharray": "1 4"}),
        ("this run", removed, planted_removed, {"stroke": AFTER, "stroke_width": 3}),
    )
    shapes = [element("path", d=frame.path(xs, ys), fill="none", **style) for _, xs, ys, style in curves]
    for (name, _, ys, _), y in zip(curves, _apart([frame.y(ys[-1]) for _, _, ys, _ in curves], 16), strict=True):
        ours = name == "this run"
        colour = AFTER if ours else QUIET
        shapes.append(text(f"{name}: {ys[-1]:,.0f}", frame.x(end) + 8, y + 4, colour=colour, bold=ours))
    return frame.picture(
        f"Planted edges among the removed edges: {planted_removed[-1]:,} after {end:,} removals. "
        f"An oracle finds {best:,}, a random order {chance:,.0f}.",
        *frame.grid(whole=True),
        *shapes,
        *frame.x_labels([value for value in ticks(0, end, 6) if value == round(value)]),
        *frame.titles("edges removed", "planted edges among them"),
    )


def _apart(heights: Sequence[float], gap: float) -> list[float]:
    """Move labels up until none covers another."""
    moved = list(heights)
    free = math.inf
    for label_number in sorted(range(len(heights)), key=lambda one: -heights[one]):
        moved[label_number] = min(heights[label_number], free - gap)
        free = moved[label_number]
    return moved
