"""The charts of a report as SVG. "Before" is outlined and orange, "after" is solid and blue: legible in grey, too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from focusedcleaner.report.rendering import render_svg

WIDTHS = (720, 340)
"""Widths of the large charts in pixels: for a screen and for a phone, so that their text keeps its size."""
_LETTER = 7
"""Width of a letter, roughly."""


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


def axis_end(value: float) -> float:
    """Return the round number at or above a value at which an axis from 0 ends.

    >>> axis_end(553), axis_end(590), axis_end(0)
    (600, 600, 1)
    """
    if value <= 0:
        return 1
    steps = ticks(0, value, 4)
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


def degrees(data: Mapping[str, Any], width: int = WIDTHS[0]) -> Markup:
    """Draw the number of nodes in each range of degrees, before and after.

    Args:
        data: the result of `summary.degree_bins` for the poisoned and the cleaned graph.
        width: in pixels.
    """
    bins, (before, after) = data["bins"], data["nodes"]
    every = math.ceil((_LETTER * max(map(len, bins)) + 8) * len(bins) / (width - 68))
    modes = [f"most nodes ({max(counts):,}) have {bins[counts.index(max(counts))]}" for counts in (before, after)]
    return _chart(
        f"Nodes by number of neighbours. Before, {modes[0]}; after, {modes[1]}. The largest range is {bins[-1]}.",
        (width, 260),
        len(bins),
        (0, axis_end(max(*before, *after))),
        bars={"before": before, "after": after},
        x_labels=[(column + 0.5, bins[column]) for column in range(0, len(bins), every)],
        x_title="neighbours of a node",
        y_title="nodes",
    )


def trace(title: str, xs: Sequence[float], values: Sequence[float | None]) -> Markup:
    """Draw one quantity over the rounds or the edges changed so far, labelled with its last value."""
    finite = [value for value in values if value is not None]
    low, high = min(finite), max(finite)
    margin = 0.5 if high == low else 0.0
    return _chart(
        f"{title}: from {label(finite[0])} to {label(finite[-1])}, between {label(low)} and {label(high)}.",
        (300, 150),
        max(xs),
        (low - margin * (abs(low) or 1), high + margin * (abs(high) or 1)),
        curves=[(label(finite[-1]), xs, values, None)],
        x_labels=[(end, label(end)) for end in (0, max(xs))],
        margins=(14, 62, 24, 50),
        wanted=3,
        whole=False,
    )


def hits(data: Mapping[str, Any], planted: int, edges: int, width: int = WIDTHS[0]) -> Markup:
    """Draw the planted edges among those removed so far, beside the oracle's and the random order's.

    Args:
        data: ``removed`` and ``hits``, both increasing.
        planted: number of planted edges.
        edges: number of edges of the poisoned graph.
        width: in pixels.
    """
    end, found = data["removed"][-1], data["hits"][-1]
    best, chance = min(end, planted), end * planted / edges
    return _chart(
        f"Planted edges among the removed edges: {found:,} after {end:,} removals. "
        f"An oracle finds {best:,}, a random order {chance:,.0f}.",
        (width, 320),
        end,
        (0, axis_end(best)),
        curves=[
            (f"oracle: {best:,}", [0, best, end], [0, best, best], "6 4"),
            (f"random: {chance:,.0f}", [0, end], [0, chance], "1 4"),
            (f"this run: {found:,}", data["removed"], data["hits"], None),
        ],
        x_labels=[
            (value, label(value)) for value in ticks(0, end, 6 if width == WIDTHS[0] else 3) if value == round(value)
        ],
        x_title="edges removed",
        y_title="planted edges among them",
        margins=(26, 110, 40, 46),
    )


def _chart(
    description: str,
    size: tuple[int, int],
    x_end: float,
    y_range: tuple[float, float],
    *,
    curves: Sequence[tuple[str, Sequence[float], Sequence[float | None], str | None]] = (),
    margins: tuple[int, int, int, int] = (26, 16, 40, 52),
    wanted: int = 4,
    whole: bool = True,
    **values: Any,
) -> Markup:
    """Draw a chart from 0 to ``x_end``; the template draws bars and labels at their ``values`` on the axes.

    A curve has a label, xs, ys (None interrupts it) and a dash pattern (None for the main curve). Margins are the top,
    right, bottom and left one. About ``wanted`` horizontal lines are drawn, for counts only at ``whole`` numbers.
    """
    (width, height), (top, right, bottom, left) = size, margins

    def x(value: float) -> float:
        return float(np.interp(value, (0, x_end), (left, width - right)))

    def y(value: float) -> float:
        return float(np.interp(value, y_range, (height - bottom, top)))

    lines = []
    for words, xs, ys, dashes in curves:
        points = [None if value is None else (x(at), y(value)) for at, value in zip(xs, ys, strict=True)]
        lines.append((words, points, [point for point in points if point][-1], dashes))
    return render_svg(
        "chart.svg",
        description=description,
        size=size,
        **{"class": "narrow" if size[0] == WIDTHS[1] else "wide" if size[0] == WIDTHS[0] else ""},
        margins=margins,
        x=x,
        y=y,
        curves=list(zip(lines, _apart([end[1] for _, _, end, _ in lines], 16), strict=True)),
        y_ticks=[(value, label(value)) for value in ticks(*y_range, wanted) if not whole or value == round(value)],
        **values,
    )


def _apart(heights: Sequence[float], gap: float) -> list[float]:
    """Move labels up until none covers another."""
    moved = list(heights)
    free = math.inf
    for label_number in sorted(range(len(heights)), key=lambda one: -heights[one]):
        moved[label_number] = min(heights[label_number], free - gap)
        free = moved[label_number]
    return moved
