"""The picture of the demo."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks.picture import BARS, FILE, Demo, draw, positions
from focusedcleaner.graph import Graph


def lines(picture: str, kind: str) -> int:
    """The number of lines of a kind in a picture."""
    paths = ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}path")
    return sum(path.attrib["d"].count("L") for path in paths if path.get("class") == kind)


@pytest.fixture
def demo(graph: Graph) -> Demo:
    """Five planted edges, of which four are removed, with two others."""
    pairs = np.array([[0, node] for node in range(1, 150)])
    pairs = pairs[~graph.has_edges(pairs)][:5]
    poisoned = graph.with_edges(pairs)
    cleaned = poisoned.without_edges(np.concatenate([pairs[:4], graph.edges[:2]]))
    return Demo(graph, poisoned, cleaned, {"clean": 0.8, "poisoned": 0.5, "cleaned": 0.75})


def test_every_edge_is_drawn_once(demo: Demo) -> None:
    picture = draw(demo)
    assert lines(picture, "planted") == 5 + 1  # one stays
    assert lines(picture, "inside") + lines(picture, "between") == demo.clean.num_edges
    for words in (">5 edges<", "4 of them removed, and 2 others", ">80.0 %<", ">50.0 %<", ">75.0 %<"):
        assert words in picture
    assert draw(demo) == picture


def test_classes_do_not_overlap(graph: Graph) -> None:
    assert graph.labels is not None
    places = positions(replace(graph, attributes=None))
    for one in range(graph.num_classes):
        inside = places[graph.labels == one]
        middle = inside.mean(axis=0)
        radius = ((inside - middle) ** 2).sum(axis=1).max()
        assert (((places[graph.labels != one] - middle) ** 2).sum(axis=1) > radius).all()


def test_the_picture_of_the_readme_is_there() -> None:
    picture = FILE.read_text()
    assert len(picture) < 200_000
    assert lines(picture, "inside") + lines(picture, "between") == 5069 - 20, "Cora, without what the attacker removed"
    assert picture.count("<rect") == 1 + len(BARS)
    for words in ("Poisoned", "Cleaned", "planted by an attacker"):
        assert words in picture
