"""The order of the nodes in which methods compute."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.attacks import Nettack
from focusedcleaner.classifiers import classifier
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph, IntArray, Split
from focusedcleaner.node_order import NodeOrder, order_by_name
from focusedcleaner.restore import missing_edges
from focusedcleaner.sanitizers import Sanitation, sanitizer


def renumbered(graph: Graph, seed: int) -> tuple[Graph, IntArray]:
    """The same graph with its nodes in another order and without names, and the old number of each node."""
    nodes = np.random.default_rng(seed).permutation(graph.num_nodes)
    return replace(graph.subgraph(nodes), names=None), nodes


def pairs_before(pairs: IntArray, nodes: IntArray) -> list[list[int]]:
    return np.sort(nodes[pairs], axis=1).tolist()


@given(seed=st.integers(0, 10_000))
def test_any_numbering_leads_to_the_same_graph(seed: int) -> None:
    graph = replace(synthetic(40, seed=seed), names=None)
    other, _ = renumbered(graph, seed)
    assert other.in_canonical_order() == graph.in_canonical_order()


def test_twins_lead_to_the_same_graph_too() -> None:
    star = Graph(6, [[0, leaf] for leaf in range(1, 6)], labels=[0, 1, 1, 1, 1, 0])
    other, _ = renumbered(star, 1)
    assert other.in_canonical_order() == star.in_canonical_order()


def test_a_split_an_attribute_and_a_label_each_tell_nodes_apart() -> None:
    path = Graph(3, [[0, 1], [1, 2]])
    for change in ({"labels": [0, 0, 1]}, {"attributes": [[0.0], [0.0], [2.5]]}, {"split": Split([0], [1], [2])}):
        graph = replace(path, **change)
        back = graph.subgraph([2, 1, 0])
        assert replace(back, names=None).in_canonical_order() == graph.in_canonical_order()


def test_names_decide_where_there_are_any() -> None:
    graph = Graph(3, [[0, 1], [1, 2]], names=("b", "c", "a"))
    assert graph.canonical_order.nodes.tolist() == [2, 0, 1]
    assert graph.in_canonical_order().names == ("a", "b", "c")


def test_a_graph_with_sorted_names_is_taken_as_it_is() -> None:
    graph = Graph(3, [[0, 1], [1, 2]], names=(3, 11, 20))
    assert graph.in_canonical_order() is graph


def test_numbers_in_another_order_are_no_names() -> None:
    graph = synthetic(40, seed=3)
    nodes = np.random.default_rng(1).permutation(40)
    other = graph.subgraph(nodes)
    assert other.names == tuple(nodes.tolist())
    assert other.in_canonical_order() == graph.in_canonical_order()


def test_names_of_several_kinds_have_an_order() -> None:
    names = [("x", 1), "10", 10, -3, "9", np.int64(4)]
    assert [names[place] for place in order_by_name(names)] == [-3, 4, 10, "10", "9", ("x", 1)]


def test_vectors_change_sides_with_the_ends() -> None:
    order = NodeOrder(np.array([3, 1, 0, 2]))
    columns = {"classes_u": np.eye(2), "classes_v": 1 - np.eye(2), "degree": np.array([1, 2])}
    pairs, back = order.pairs_back(np.array([[0, 1], [2, 3]]), columns)
    assert pairs.tolist() == [[1, 3], [0, 2]]
    assert back["classes_u"].tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert back["classes_v"].tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert back["degree"].tolist() == [1, 2]


@pytest.mark.parametrize("name", ["cld", "lp", "agreement", "block-model", "random", "gasoline"])
def test_a_sanitizer_answers_the_same_in_any_numbering(name: str) -> None:
    graph = synthetic(120, seed=2)
    other, nodes = renumbered(graph, 5)
    one, two = (sanitizer(name).sanitize(each, 12) for each in (graph, other))
    assert pairs_before(two.removed, nodes) == one.removed.tolist()
    assert pairs_before(two.added, nodes) == one.added.tolist()
    assert two.scores.tolist() == one.scores.tolist()
    for result in (one, two):
        assert result.evidence["degree_u"].tolist() == result.poisoned.degrees[result.removed[:, 0]].tolist()
    for column in ("classes_u", "victim_score_u"):  # the ends may have changed sides, each with its own evidence
        if column in one.evidence:
            assert by_end(two, column, nodes) == by_end(one, column, np.arange(120))


def by_end(result: Sanitation, column: str, numbers: IntArray) -> dict[tuple[int, int], object]:
    """The evidence about each end of each removed edge, by row and the node's number."""
    ends = numbers[result.removed]
    columns = (result.evidence[column], result.evidence[f"{column[:-2]}_v"])
    return {(row, ends[row, side]): columns[side][row].tolist() for row in range(len(ends)) for side in (0, 1)}


def test_the_drawn_split_belongs_to_the_nodes() -> None:
    graph = synthetic(200, seed=2, with_split=False)
    other, nodes = renumbered(graph, 5)
    one, two = (each.with_drawn_split(3).split for each in (graph, other))
    assert one is not None
    assert two is not None
    assert [sorted(nodes[part].tolist()) for part in two.parts] == [part.tolist() for part in one.parts]


def test_an_attack_keeps_its_targets() -> None:
    graph = synthetic(120, seed=2)
    other, nodes = renumbered(graph, 5)
    place = np.argsort(nodes)
    one = Nettack(targets=(3, 14), per_target=2).poison(graph, 10)
    two = Nettack(targets=(int(place[3]), int(place[14])), per_target=2).poison(other, 10)
    assert one.flips is not None
    assert two.flips is not None
    assert pairs_before(two.flips, nodes) == one.flips.tolist()
    assert one.settings["targets"] == [3, 14]


def test_a_classifier_predicts_the_same_in_any_numbering() -> None:
    graph = synthetic(120, seed=2)
    other, nodes = renumbered(graph, 5)
    one, two = (classifier("gcn", epochs=20).fit(each) for each in (graph, other))
    assert one.predict(graph)[nodes].tolist() == two.predict(other).tolist()


def test_missing_edges_are_the_same_in_any_numbering() -> None:
    graph = synthetic(120, seed=2)
    other, nodes = renumbered(graph, 5)
    hidden = np.array([[0, 1]])
    place = np.argsort(nodes)
    one = missing_edges(graph, 10, repeats=1, trees=10, excluded=hidden)
    two = missing_edges(other, 10, repeats=1, trees=10, excluded=np.sort(place[hidden], axis=1))
    assert pairs_before(two.pairs, nodes) == one.pairs.tolist()
    assert two.scores.tolist() == one.scores.tolist()
