"""Evidence as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from focusedcleaner.formatting import readable, why
from focusedcleaner.graph import Graph, Split


def test_known_classes_of_the_ends_are_named() -> None:
    graph = Graph(4, [[0, 1], [2, 3]], labels=[0, 1, 1, 1], split=Split([0, 2], [1], [3]), class_names=("ants", "bees"))
    ants, bees = np.array([0.9, 0.1]), np.array([0.2, 0.8])

    def words(edge: tuple[int, int], one: Any, other: Any) -> str:
        return why(graph, {"classes_u": np.array([one]), "classes_v": np.array([other])}, np.zeros(1), 0, edge)

    assert words((0, 1), ants, bees) == "one end is ants, the other is bees"
    assert words((0, 1), ants, ants) == "one end is ants, the other is bees but looks like ants (90 %)"
    assert words((1, 2), bees, bees) == "both ends are bees"
    assert words((2, 3), bees, ants) == "one end is bees, the other looks like ants (90 %)"
    assert words((3, 3), ants, ants) == "both ends look like ants"
    assert why(graph, {}, np.array([0.25]), 0) == "score 0.25"
    assert why(graph, {"attribute_similarity": np.array([-0.07])}, np.zeros(1), 0) == "attributes 0 % alike"


def test_names_are_one_visible_line() -> None:
    assert readable("a\n\tb  c") == "a b c"
    assert readable("\x1b[31mred\x00\u2028") == "�[31mred�"
    assert len(readable("x" * 10_000)) == 60
