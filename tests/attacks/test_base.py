"""What every attack accepts and refuses, and prefixes of a poisoning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from focusedcleaner.attacks import ATTACKS, Mettack, attack
from focusedcleaner.attacks.base import without_isolation
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io.convert import to_networkx, to_pyg


def small(
    edges: list[list[int]], labels: list[int] | None = None, split: tuple[list[int], list[int], list[int]] | None = None
) -> Graph:
    """A graph of three nodes."""
    return Graph(
        3,
        np.array(edges, dtype=np.int64),
        labels=None if labels is None else np.array(labels),
        split=None if split is None else Split(*(np.array(part, dtype=np.int64) for part in split)),
    )


@pytest.mark.parametrize("convert", [to_pyg, to_networkx], ids=["PyG", "NetworkX"])
def test_graphs_of_other_libraries_are_accepted(convert: Callable[[Graph], Any]) -> None:
    graph = synthetic(60, seed=0)
    ours, theirs = (attack("dice").poison(data, 6, seed=1) for data in (graph, convert(graph)))
    np.testing.assert_array_equal(theirs.added, ours.added)
    np.testing.assert_array_equal(theirs.removed, ours.removed)


def test_a_scipy_adjacency_is_accepted() -> None:
    graph = synthetic(60, seed=0)
    added = attack("random").poison(graph.adjacency(), 6).added
    np.testing.assert_array_equal(added, attack("random").poison(Graph(60, graph.edges), 6).added)
    with pytest.raises(InputError, match="needs a graph with labels"):
        attack("dice").poison(graph.adjacency(), 6)


@pytest.mark.parametrize("name", [name for name in ATTACKS.names() if name not in ("random", "dice")])
def test_unlabelled_graphs_are_refused_before_the_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ATTACKS[name].kind, "flip", lambda *args, **settings: pytest.fail("the attack has begun"))
    with pytest.raises(InputError, match="no labels"):
        attack(name).poison(small([[0, 1]]), 1)
    with pytest.raises(InputError, match="no split"):
        attack(name).poison(small([[0, 1]], [0, 1, 0]), 1)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (small([[0, 1]]), "no labels"),
        (small([[0, 1]], [0, 1, 0]), "no split"),
        (small([[0, 1]], [0, 1, 0], ([], [0], [1])), "no training node"),
        (small([[0, 1]], [0, -1, 0], ([0, 1], [], [2])), "training node 1 has no label"),
        (small([[0, 1]], [0, 1, 0], ([0, 2], [], [1])), "all of one class"),
        (small([]), "has no edges"),
    ],
)
def test_unusable_graphs_are_refused(graph: Graph, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Mettack().poison(graph, 1)


@pytest.mark.parametrize("power", [0, "0%", "101%", 301, -1, 1.5])
def test_unusable_powers_are_refused(power: int | float | str) -> None:
    with pytest.raises(InputError, match="power"):
        Mettack().poison(synthetic(150, seed=0), power)


def test_prefixes_are_checked() -> None:
    poisoning = Mettack().poison(synthetic(60, seed=0), 6)
    with pytest.raises(InputError, match="power 7 is 7 flips, but this attack has made 6"):
        poisoning.prefix(7)
    with pytest.raises(InputError, match="does not flip one pair after the other"):
        attack("dice").poison(synthetic(60, seed=0), 6).prefix(3)


def test_deletions_that_isolate_a_node_are_left_out() -> None:
    path = Graph(4, [[0, 1], [1, 2], [2, 3]])
    flips = np.array([[2, 3], [1, 2], [0, 3], [0, 1]])
    assert without_isolation(path, flips).tolist() == [[0, 3], [1, 2]]
