"""Marks of classes: distinct and legible."""

from __future__ import annotations

from focusedcleaner.graph import Graph
from focusedcleaner.report.rendering import mark


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_letters_are_legible_on_their_colours() -> None:
    graph = Graph(2, [[0, 1]])
    for number in range(-1, 7):
        sign = mark(graph, number)
        assert contrast(sign.colour, sign.ink) >= 4.5, sign


def test_many_classes_have_distinct_marks() -> None:
    graph = Graph(2, [[0, 1]])
    marks = [mark(graph, number) for number in range(60)]
    assert len({sign.letter for sign in marks}) == 60
    assert (marks[0].letter, marks[25].letter, marks[26].letter) == ("A", "Z", "AA")
    assert len({(sign.colour, sign.shape) for sign in marks[:21]}) == 21
