"""The neighbourhood of an edge and its picture."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph
from focusedcleaner.report.neighbourhood import Neighbourhood, drawing, neighbourhood, positions
from focusedcleaner.report.rendering import mark
from tests.strategies import labelled_graphs

SVG = "{http://www.w3.org/2000/svg}"


def star(leaves: int, shared: int) -> Graph:
    """Nodes 0 and 1, joined, with so many leaves each and so many common neighbours."""
    pairs = [[0, 1]]
    for end in (0, 1):
        pairs += [[end, 2 + end * leaves + leaf] for leaf in range(leaves)]
        pairs += [[end, 2 + 2 * leaves + node] for node in range(shared)]
    return Graph.from_pairs(2 + 2 * leaves + shared, pairs)


@settings(max_examples=60, deadline=None)
@given(labelled_graphs(), st.integers(1, 3), st.integers(0, 99))
def test_it_equals_a_breadth_first_search(graph: Graph, hops: int, pick: int) -> None:
    u, v = (int(node) for node in graph.edges[pick % graph.num_edges])
    around = neighbourhood(graph, u, v, hops=hops, most=graph.num_nodes)
    plain = nx.Graph(graph.edges.tolist())
    far = {end: nx.single_source_shortest_path_length(plain, end, hops) for end in (u, v)}
    expected = {node: min(far[end].get(node, 99) for end in (u, v)) for node in {*far[u], *far[v]}}
    assert dict(zip(around.nodes.tolist(), around.hops.tolist(), strict=True)) == expected
    assert around.nodes[:2].tolist() == [u, v]
    assert (np.diff(around.hops) >= 0).all()
    assert around.left_out == 0
    near = {node: side for node, side, hop in zip(around.nodes, around.sides, around.hops, strict=True) if hop == 1}
    assert {node for node, side in near.items() if side == 0} == {*plain[u]} & {*plain[v]}
    assert {node for node, side in near.items() if side < 0} == {*plain[u]} - {*plain[v], v}
    induced = {frozenset(pair) for pair in plain.subgraph(expected).edges} - {frozenset((u, v))}
    assert {frozenset(pair) for pair in around.nodes[around.edges].tolist()} == induced
    assert len(around.edges) == len(induced)


@pytest.mark.parametrize(("leaves", "shared", "most"), [(30, 4, 20), (3, 50, 20), (1, 0, 2), (40, 0, 9), (2, 2, 40)])
def test_common_neighbours_are_kept_when_there_is_no_room(leaves: int, shared: int, most: int) -> None:
    around = neighbourhood(star(leaves, shared), 0, 1, most=most)
    others = 2 * leaves + shared
    assert len(around.nodes) == min(most, 2 + others)
    assert around.left_out == 2 + others - len(around.nodes)
    taken = {side: int((around.sides[2:] == side).sum()) for side in (-1, 0, 1)}
    assert taken[0] == min(shared, most - 2)
    assert abs(taken[-1] - taken[1]) <= 1
    assert len(np.unique(around.nodes)) == len(around.nodes)


def test_a_prepared_adjacency_changes_nothing(graph: Graph) -> None:
    u, v = graph.edges[5]
    one = neighbourhood(graph, u, v, hops=2)
    other = neighbourhood(graph, u, v, hops=2, adjacency=graph.adjacency())
    assert drawing(graph, one, graph.labels) == drawing(graph, other, graph.labels)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 40), st.integers(0, 30), st.integers(1, 2))
def test_nodes_are_inside_and_on_their_side(leaves: int, shared: int, hops: int) -> None:
    around = neighbourhood(star(leaves, shared), 0, 1, hops=hops, most=90)
    kinds = np.zeros(len(around.nodes), dtype=np.int64)
    places = positions(around, kinds, 340, 220)
    assert ((places > 5) & (places < [335, 215])).all()
    assert places[0, 0] < places[1, 0]
    assert places[0, 1] == places[1, 1]
    assert (places[around.sides < 0, 0] <= places[0, 0]).all()
    assert (places[around.sides > 0, 0] >= places[1, 0]).all()
    between = places[(around.sides == 0) & (around.hops > 0), 0]
    assert ((between > places[0, 0]) & (between < places[1, 0])).all()


def parts(picture: str, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(picture).iter(f"{SVG}{tag}"))


def whole(graph: Graph) -> tuple[int, int, Neighbourhood]:
    u, v = (int(node) for node in graph.edges[graph.degrees[graph.edges].sum(axis=1).argmax()])
    return u, v, neighbourhood(graph, u, v)


def test_the_picture_shows_every_node_and_edge(graph: Graph) -> None:
    u, v, around = whole(graph)
    other = np.sort(around.nodes[around.edges[0]])
    picture = drawing(graph, around, graph.labels, flagged=np.array([[u, v], other[::-1]]))
    groups = parts(picture, "g")
    assert len(groups) == len(around.nodes)
    lines = {path.get("class"): path.get("d", "") for path in parts(picture, "path")}
    assert lines["fc-edge"].count("M") == 1
    assert lines["fc-also"].count("M") == 1
    assert lines[None].count("M") == len(around.edges) - 1
    root = ElementTree.fromstring(picture)
    assert root.get("role") == "img"
    assert f"between {u} and {v}" in (root.get("aria-label") or "")


def test_classes_have_colour_letter_and_name(graph: Graph) -> None:
    assert graph.labels is not None
    _, _, around = whole(graph)
    known = np.zeros(graph.num_nodes, dtype=bool)
    known[around.nodes[::2]] = True
    shown = parts(drawing(graph, around, graph.labels, known=known), "g")[::-1]
    for node, group in zip(around.nodes, shown, strict=True):
        sign = mark(graph, int(graph.labels[node]))
        shapes = [child for child in group if child.tag in (f"{SVG}circle", f"{SVG}rect")]
        assert shapes[0].get("fill") == sign.colour
        assert len(shapes) == (1 if known[node] else 2)
        assert [text.text for text in group.iter(f"{SVG}text")] == [sign.letter]
        title = next(group.iter(f"{SVG}title")).text or ""
        assert title.startswith(f"{node}: {sign.name}")
        assert title.endswith("(predicted)") != known[node]


def test_without_classes_nobody_has_one(graph: Graph) -> None:
    u, _, around = whole(graph)
    nobody = np.full(graph.num_nodes, -1)
    for picture in (drawing(graph, around), drawing(graph, around, nobody)):
        assert not [text.text for group in parts(picture, "g") for text in group.iter(f"{SVG}text")]
        assert "unknown" not in picture
    nobody[u] = 0
    letters = {text.text for group in parts(drawing(graph, around, nobody), "g") for text in group.iter(f"{SVG}text")}
    assert letters == ({"?", "A"} if graph.num_nodes > 1 else {"A"})


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", '" onload="x', "]]>", "a\u202eb", "&amp;", "\x00\x1b[31m", "n" * 999]
)
def test_hostile_names_are_text(name: str) -> None:
    graph = replace(synthetic(num_nodes=30, seed=0), class_names=tuple(f"{name}{number}" for number in range(5)))
    graph = replace(graph, names=tuple(f"{name}{number}" for number in range(30)))
    _, _, around = whole(graph)
    picture = drawing(graph, around, graph.labels, width=640)
    root = ElementTree.fromstring(picture)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "path", "g", "circle", "rect", "text",
    }  # fmt: skip
    assert not [key for element in root.iter() for key in element.attrib if key.startswith("on")]
    assert not re.search("[\u202e\x00\x1b]", picture)
    assert max(len(text.text or "") for text in root.iter(f"{SVG}text")) <= 30
