"""The surroundings of an edge: who they are, and a picture of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from markupsafe import Markup
from numpy.typing import ArrayLike

from focusedcleaner.formatting import readable
from focusedcleaner.graph import UNKNOWN, BoolArray, FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.report import palette
from focusedcleaner.report.layout import positions
from focusedcleaner.report.palette import Mark, mark
from focusedcleaner.report.svg import element, number, shape


@dataclass(frozen=True)
class Neighbourhood:
    """The nodes around an edge (u, v), as many as a picture has room for."""

    nodes: IntArray
    """n node numbers, u and v first, then nearer before farther ones."""
    hops: IntArray
    """n steps from the nearer end: 0 for u and v."""
    sides: IntArray
    """n times −1, 1 or 0: whether a node is reached from u, from v or from both."""
    edges: IntArray
    """m × 2 places in ``nodes``: the graph's edges among them, without (u, v) itself."""
    left_out: int
    """Nodes as near that were not taken."""

    @property
    def ends(self) -> tuple[int, int]:
        return int(self.nodes[0]), int(self.nodes[1])


def neighbourhood(
    graph: Graph, u: int, v: int, *, hops: int = 1, most: int = 40, adjacency: sp.csr_array | None = None
) -> Neighbourhood:
    """The nodes within some hops of an edge's ends, common neighbours first, then an even sample of the others.

    Args:
        graph: the poisoned graph, with the edge in it.
        u: one end.
        v: the other end.
        hops: how far to go.
        most: nodes to take at most, the ends included.
        adjacency: ``graph.adjacency()``, where it is at hand: making it takes as long as the graph is large.

    >>> graph = Graph(5, [[0, 1], [0, 2], [1, 2], [1, 3], [3, 4]])
    >>> around = neighbourhood(graph, 0, 1)
    >>> around.nodes, around.sides, around.left_out
    (array([0, 1, 2, 3]), array([-1,  1,  0,  1]), 0)
    """
    rows = graph.adjacency() if adjacency is None else adjacency
    nodes, distance, sides = np.array([u, v]), np.zeros(2, dtype=np.int64), np.array([-1, 1])
    left_out, seen = 0, np.array([u, v])
    for hop in range(1, hops + 1):
        last = distance == hop - 1
        found, side = _next_ring(rows, nodes[last], sides[last])
        fresh = ~np.isin(found, seen)
        found, side = found[fresh], side[fresh]
        seen = np.concatenate([seen, found])
        taken = _sample(side, most - len(nodes))
        left_out += len(found) - len(taken)
        nodes = np.concatenate([nodes, found[taken]])
        distance = np.concatenate([distance, np.full(len(taken), hop)])
        sides = np.concatenate([sides, side[taken]])
    return Neighbourhood(nodes, distance, sides, _edges_among(rows, nodes), left_out)


def _row(rows: sp.csr_array, node: int) -> IntArray:
    return np.asarray(rows.indices[rows.indptr[node] : rows.indptr[node + 1]], dtype=np.int64)


def _next_ring(rows: sp.csr_array, nodes: IntArray, sides: IntArray) -> tuple[IntArray, IntArray]:
    """The neighbours of some nodes, each once, and whose side they are on: 0 where nodes of both sides know them."""
    lists = [_row(rows, node) for node in nodes]
    if not lists:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    found, where = np.unique(np.concatenate(lists), return_inverse=True)
    origin = np.repeat(sides, [len(row) for row in lists])
    low, high = np.ones(len(found), dtype=np.int64), -np.ones(len(found), dtype=np.int64)
    np.minimum.at(low, where, origin)
    np.maximum.at(high, where, origin)
    return found, np.where(low == high, low, 0)


def _sample(sides: IntArray, room: int) -> IntArray:
    """Places to take: all in the middle, then as many as there is room for, evenly from both sides' lists."""
    if len(sides) <= room:
        return np.arange(len(sides))
    middle, others = np.flatnonzero(sides == 0), np.flatnonzero(sides != 0)
    if len(middle) >= room:
        return middle[_evenly(len(middle), max(room, 0))]
    left, right = others[sides[others] < 0], others[sides[others] > 0]
    room -= len(middle)
    for_left = min(len(left), max(room // 2, room - len(right)))
    parts = (middle, left[_evenly(len(left), for_left)], right[_evenly(len(right), room - for_left)])
    return np.sort(np.concatenate(parts))


def _evenly(size: int, wanted: int) -> IntArray:
    return np.arange(wanted) * size // max(wanted, 1)


def _edges_among(rows: sp.csr_array, nodes: IntArray) -> IntArray:
    order = np.argsort(nodes)
    ordered = nodes[order]
    pairs = []
    for place, node in enumerate(nodes):
        row = _row(rows, node)
        at = np.minimum(np.searchsorted(ordered, row), len(nodes) - 1)
        others = order[at[ordered[at] == row]]
        pairs.append(np.column_stack([np.full(len(others), place), others]))
    edges = np.concatenate(pairs)
    return edges[(edges[:, 0] < edges[:, 1]) & (edges.sum(axis=1) > 1)]


def drawing(
    graph: Graph,
    around: Neighbourhood,
    classes: IntArray | None = None,
    *,
    known: BoolArray | None = None,
    flagged: ArrayLike | None = None,
    width: int = 340,
    height: int = 220,
) -> Markup:
    """A picture of a neighbourhood, as an SVG element that needs nothing else.

    The edge in question is a thick line between two large nodes. A class has a colour and a letter; where it was
    predicted and is not known, the node is pale. The colours follow the page's custom properties (`palette`).

    Args:
        graph: the poisoned graph, for the names of nodes and classes.
        around: what to draw.
        classes: N class numbers, −1 where unknown; None draws nodes without classes.
        known: N booleans: whose class is known rather than predicted; None means all.
        flagged: R × 2 other edges that were flagged, which are dashed.
        width: in pixels.
        height: in pixels.

    >>> graph = Graph(4, [[0, 1], [0, 2], [1, 3]], labels=[0, 1, 0, 1], names=("<b>", "bob", "cy", "di"))
    >>> picture = drawing(graph, neighbourhood(graph, 0, 1), graph.labels)
    >>> picture[:5], "<b>" in picture
    (Markup('<svg '), False)
    """
    numbers = np.full(graph.num_nodes, UNKNOWN) if classes is None else classes
    marks = [mark(graph, int(numbers[node])) for node in around.nodes]
    sure = [known is None or bool(known[node]) for node in around.nodes]
    names = [readable(graph.name(node)) for node in around.nodes]
    kinds = numbers[around.nodes]
    places = positions(around.sides, around.hops, kinds, around.edges, width=width, height=height)
    radii = [12.0, 12.0, *(8.0 if hop == 1 else 6.5 for hop in around.hops[2:])]
    title = f"The edge between {names[0]} and {names[1]} and its surroundings: {_in_words(around, marks)}."
    nodes = [
        _node(place, radius, sign, certain, name, hop == 0)
        for place, radius, sign, certain, name, hop in zip(places, radii, marks, sure, names, around.hops, strict=True)
    ][::-1]
    return element(
        "svg",
        element("title", title),
        *_lines(graph, around, places, flagged),
        *nodes,
        *_labels(places, names, around, width),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=title,
        class_="fc-neighbourhood",
        font_family="system-ui, sans-serif",
    )


def _in_words(around: Neighbourhood, marks: Sequence[Mark]) -> str:
    """Who is there, for those who listen to the picture."""
    sides = around.sides[2:][around.hops[2:] == 1]
    shared, left, right = (int((sides == side).sum()) for side in (0, -1, 1))
    first, second = marks[0].name, marks[1].name
    drawn = f"{left} other neighbours of the first ({first}), {right} of the second ({second}), {shared} of both"
    return f"{drawn}; {around.left_out:,} more are not drawn" if around.left_out else drawn


def _lines(graph: Graph, around: Neighbourhood, places: FloatArray, flagged: ArrayLike | None) -> list[Markup]:
    pairs = np.sort(around.nodes[around.edges], axis=1)
    removed = no_pairs() if flagged is None else np.sort(np.asarray(flagged).reshape(-1, 2), axis=1)
    dashed = np.isin(pairs @ [graph.num_nodes, 1], removed @ [graph.num_nodes, 1])
    lines = []
    for chosen, style in (
        (~dashed, {"stroke": palette.LINE, "stroke_width": 1}),
        (dashed, {"stroke": palette.FLAGGED, "stroke_width": 1.5, "stroke_dasharray": "4 3", "class_": "fc-also"}),
    ):
        if chosen.any():
            path = "".join(_line(places[one], places[other]) for one, other in around.edges[chosen])
            lines.append(element("path", d=path, fill="none", **style))
    thick = {"stroke": palette.FLAGGED, "stroke_width": 4, "stroke_linecap": "round", "class_": "fc-edge"}
    return [*lines, element("path", d=_line(places[0], places[1]), fill="none", **thick)]


def _line(one: FloatArray, other: FloatArray) -> str:
    return f"M{number(one[0])} {number(one[1])}L{number(other[0])} {number(other[1])}"


def _node(place: FloatArray, radius: float, sign: Mark, certain: bool, name: str, end: bool) -> Markup:
    x, y = float(place[0]), float(place[1])
    style = {
        "fill": sign.colour,
        "stroke": palette.FLAGGED if end else sign.colour,
        "stroke_width": 2.5 if end else 1.5,
    }
    pale = () if certain else (shape(sign.shape, x, y, radius, fill=palette.PAPER, fill_opacity=0.78),)
    letter = element(
        "text",
        sign.letter,
        x=x,
        y=y + radius * 0.38,
        text_anchor="middle",
        font_size=radius * 1.1,
        font_weight=600,
        fill=sign.ink if certain else palette.INK,
        aria_hidden="true",
    )
    about = f"{name}: {sign.name}{'' if certain or sign.letter == '?' else ' (predicted)'}"
    return element("g", element("title", about), shape(sign.shape, x, y, radius, **style), *pale, letter)


def _labels(places: FloatArray, names: Sequence[str], around: Neighbourhood, width: float) -> list[Markup]:
    """Names of the two ends, and of all where there is room."""
    shown = len(names) if len(names) <= 10 and width >= 480 else 2
    room = int(abs(places[1, 0] - places[0, 0]) / 7.5)  # letters between the ends, roughly
    style = {
        "paint_order": "stroke",
        "stroke": palette.PAPER,
        "stroke_width": 3,
        "fill": palette.INK,
        "text_anchor": "middle",
        "unicode_bidi": "isolate",
    }
    labels = [
        element(
            "text",
            readable(name, room),
            x=float(x),
            y=float(y) + (26 if place < 2 else 19),
            font_size=12 if place < 2 else 10,
            font_weight=600 if place < 2 else None,
            **style,
        )
        for place, (name, (x, y)) in enumerate(zip(names[:shown], places[:shown], strict=True))
    ]
    if around.left_out:
        more = f"+ {around.left_out:,} more"
        labels.append(element("text", more, x=6, y=14, font_size=10, fill=palette.QUIET))
    return labels
