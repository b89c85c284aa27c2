"""The report's charts. What was before is open and orange, what is after is solid and blue: also in grey."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from focusedcleaner.report import palette
from focusedcleaner.report.axes import Frame, label, picture, text, ticks, top
from focusedcleaner.report.svg import element, number, shape

_OPEN = {"fill": palette.BEFORE, "fill_opacity": 0.15, "stroke": palette.BEFORE, "stroke_width": 1.5}
_SOLID = {"fill": palette.AFTER, "stroke": palette.AFTER, "stroke_width": 1}


def degrees(data: Mapping[str, Any]) -> Markup:
    """Two bars for each range of degrees: nodes before and after.

    Args:
        data: as `measures.degree_bins` gives it for the poisoned and the cleaned graph.
    """
    bins: Sequence[str] = data["bins"]
    before, after = data["nodes"]
    frame = Frame(720, 260, (0, len(bins)), (0, top(max(*before, *after))))
    base, wide = frame.y(0), (frame.x(1) - frame.x(0)) * 0.4
    bars = []
    for place, pair in enumerate(zip(before, after, strict=True)):
        for shift, value, style in zip((0.08, 0.52), pair, (_OPEN, _SOLID), strict=True):
            high = frame.y(value)
            bars.append(
                element("rect", x=frame.x(place + shift), y=high, width=wide, height=max(base - high, 0.0), **style)
            )
    names = list(bins) if len(bins) <= 20 else [name if place % 2 == 0 else "" for place, name in enumerate(bins)]
    words = (
        f"Nodes by their number of neighbours. Before, {_peak(bins, before)}; after, {_peak(bins, after)}. "
        f"The largest range is {bins[-1]}."
    )
    return picture(
        frame,
        words,
        *frame.rows(whole=True),
        *bars,
        *frame.columns([place + 0.5 for place in range(len(bins))], names),
        *frame.titles("neighbours of a node", "nodes"),
        *_key(frame),
    )


def _peak(bins: Sequence[str], counts: Sequence[int]) -> str:
    most = max(range(len(counts)), key=lambda place: counts[place])
    return f"most nodes ({counts[most]:,}) have {bins[most]}"


def _key(frame: Frame) -> list[Markup]:
    """Which mark is which, in the upper right corner."""
    parts = []
    for name, style, x in (("before", _OPEN, frame.width - 150), ("after", _SOLID, frame.width - 70)):
        parts.append(element("rect", x=x, y=3, width=11, height=11, **style))
        parts.append(text(name, x + 16, 13, colour=palette.INK, bold=True))
    return parts


def victim_scores(data: Mapping[str, Any]) -> Markup:
    """The histogram of victim scores before (a line) and after (an area), with the threshold.

    Args:
        data: as `measures.histogram` gives it.
    """
    borders: Sequence[float] = data["borders"]
    before, after = data["nodes"]
    frame = Frame(720, 260, (borders[0], borders[-1]), (0, top(max(*before, *after))))
    area = f"{_steps(frame, borders, after)}V{number(frame.y(0))}H{number(frame.x(borders[0]))}Z"
    shapes = [
        element("path", d=area, **{**_SOLID, "fill_opacity": 0.45}),
        element("path", d=_steps(frame, borders, before), fill="none", stroke=palette.BEFORE, stroke_width=2.5),
    ]
    threshold = data["threshold"]
    if borders[0] < threshold < borders[-1]:
        x = frame.x(threshold)
        rule = f"M{number(x)} {number(frame.top - 6)}V{number(frame.y(0))}"
        shapes.append(element("path", d=rule, stroke=palette.INK, stroke_width=1.2, stroke_dasharray="3 3"))
        left = x > frame.width * 0.7
        words, place = "looks attacked →", x - 6 if left else x + 6
        shapes.append(text(words, place, frame.top + 4, anchor="end" if left else None, colour=palette.INK))
    words = (
        f"Histogram of the nodes' victim scores. Above the threshold of {label(threshold)} lie {data['above'][0]:,} "
        f"nodes before and {data['above'][1]:,} after."
    )
    return picture(
        frame,
        words,
        *frame.rows(whole=True),
        *shapes,
        *frame.columns(ticks(*frame.x_range, 8)),
        *frame.titles("victim score (energy of the ClassDiv mixture)", "nodes"),
        *_key(frame),
    )


def _steps(frame: Frame, borders: Sequence[float], counts: Sequence[int]) -> str:
    """The outline of a histogram, from the bottom left."""
    path = f"M{number(frame.x(borders[0]))} {number(frame.y(0))}"
    for count, right in zip(counts, borders[1:], strict=True):
        path += f"V{number(frame.y(count))}H{number(frame.x(right))}"
    return path


def trace(title: str, changed: Sequence[float], values: Sequence[float | None]) -> Markup:
    """One quantity over the edges removed or changed so far, its last value written at its end."""
    numbers = [math.nan if value is None else value for value in values]
    finite = [value for value in numbers if math.isfinite(value)]
    low, high = min(finite), max(finite)
    if high == low:
        low, high = low - (abs(low) or 1) * 0.5, high + (abs(high) or 1) * 0.5
    frame = Frame(300, 150, (0, max(changed)), (low, high), left=50, right=62, top=14, bottom=24)
    last = max(place for place, value in enumerate(numbers) if math.isfinite(value))
    x, y = frame.x(changed[last]), frame.y(numbers[last])
    words = f"{title}: from {label(finite[0])} to {label(finite[-1])}"
    return picture(
        frame,
        f"{words}, between {label(min(finite))} and {label(max(finite))}.",
        *frame.rows(3),
        element("path", d=frame.path(changed, numbers), fill="none", stroke=palette.AFTER, stroke_width=2),
        element("circle", cx=x, cy=y, r=3, fill=palette.AFTER),
        text(label(numbers[last]), x + 6, y + 4, colour=palette.INK, bold=True),
        *frame.columns([0, max(changed)]),
    )


def hits(data: Mapping[str, Any], planted: int, edges: int) -> Markup:
    """Planted edges among those removed so far, beside the oracle's and chance.

    Args:
        data: ``removed`` and ``hits``, both growing.
        planted: how many edges the attacker added.
        edges: of the poisoned graph.
    """
    removed, found = data["removed"], data["hits"]
    end = removed[-1]
    best = min(end, planted)
    chance = end * planted / edges
    frame = Frame(720, 320, (0, end), (0, top(best)), right=120)
    bend = [0, best, end]
    lines = (
        ("oracle", bend, [0, best, best], {"stroke": palette.QUIET, "stroke_width": 1.5, "stroke_dasharray": "6 4"}),
        ("chance", [0, end], [0, chance], {"stroke": palette.QUIET, "stroke_width": 1.5, "stroke_dasharray": "1 4"}),
        ("this run", removed, found, {"stroke": palette.AFTER, "stroke_width": 3}),
    )
    shapes = [element("path", d=frame.path(xs, ys), fill="none", **style) for _, xs, ys, style in lines]
    for (name, _, ys, _), height in zip(lines, _apart([frame.y(ys[-1]) for _, _, ys, _ in lines], 16), strict=True):
        ours = name == "this run"
        words = f"{name}: {ys[-1]:,.0f}"
        colour = palette.AFTER if ours else palette.QUIET
        shapes.append(text(words, frame.x(end) + 8, height + 4, colour=colour, bold=ours))
    words = (
        f"Planted edges found over removed edges: {found[-1]:,} after {end:,} removals, where an oracle would have "
        f"found {best:,} and chance {chance:,.0f}."
    )
    return picture(
        frame,
        words,
        *frame.rows(whole=True),
        *shapes,
        *frame.columns([value for value in ticks(0, end, 6) if value == round(value)]),
        *frame.titles("edges removed", "planted edges among them"),
    )


def _apart(heights: Sequence[float], gap: float) -> list[float]:
    """The heights of labels, moved up where one would cover another."""
    moved = list(heights)
    free = math.inf
    for place in sorted(range(len(heights)), key=lambda place: -heights[place]):
        moved[place] = min(heights[place], free - gap)
        free = moved[place]
    return moved


def badge(mark: Mapping[str, str]) -> Markup:
    """A class's mark, as the pictures' key shows it.

    Args:
        mark: the fields of a `palette.Mark`.
    """
    size = 11 if len(mark["letter"]) == 1 else 9
    letter = text(mark["letter"], 10, 14, anchor="middle", colour=mark["ink"], bold=True, size=size)
    filled = shape(mark["shape"], 10.0, 10.0, 9.0, fill=mark["colour"])
    return element("svg", filled, letter, width=20, height=20, viewBox="0 0 20 20", aria_hidden="true")
