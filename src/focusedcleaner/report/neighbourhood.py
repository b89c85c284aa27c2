"""The neighbourhood of an edge, and a picture of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from markupsafe import Markup
from numpy.typing import ArrayLike

from focusedcleaner.formatting import readable
from focusedcleaner.graph import UNKNOWN, BoolArray, FloatArray, Graph, IntArray, no_pairs, pair_keys
from focusedcleaner.report.layout import positions
from focusedcleaner.report.svg import (
    FLAGGED,
    INK,
    LINE,
    PAPER,
    QUIET,
    Mark,
    element,
    mark,
    number,
    picture,
    shape,
    text,
)


@dataclass(frozen=True)
class Neighbourhood:
    """The nodes around an edge (u, v), as many as fit in a picture."""

    nodes: IntArray
    """n node numbers: u and v, then the others by distance."""
    hops: IntArray
    """n steps from the nearer end: 0 for u and v."""
    sides: IntArray
    """n times −1, 1 or 0: whether a node is reached from u, from v or from both."""
    edges: IntArray
    """m × 2 positions in ``nodes``: the graph's edges among them, without (u, v) itself."""
    left_out: int
    """Number of nodes within the same distance that did not fit."""


def neighbourhood(
    graph: Graph, u: int, v: int, *, hops: int = 1, most: int = 40, adjacency: sp.csr_array | None = None
) -> Neighbourhood:
    """Return the nodes within some hops of an edge: common neighbours first, then an even sample of the others.

    Args:
        graph: the poisoned graph, which contains the edge.
        u: one end.
        v: the other end.
        hops: largest distance.
        most: largest number of nodes, including the ends.
        adjacency: ``graph.adjacency()``, if at hand: building it takes time in proportion to the graph.

    >>> graph = Graph(5, [[0, 1], [0, 2], [1, 2], [1, 3], [3, 4]])
    >>> around = neighbourhood(graph, 0, 1)
    >>> around.nodes, around.sides, around.left_out
    (array([0, 1, 2, 3]), array([-1,  1,  0,  1]), 0)
    """
    rows = graph.adjacency() if adjacency is None else adjacency
    nodes, distance, sides = np.array([u, v]), np.zeros(2, dtype=np.int64), np.array([-1, 1])
    left_out, seen = 0, nodes
    for hop in range(1, hops + 1):
        last = distance == hop - 1
        ring, ring_sides = _next_ring(rows, nodes[last], sides[last])
        new = ~np.isin(ring, seen)
        ring, ring_sides = ring[new], ring_sides[new]
        seen = np.concatenate([seen, ring])
        sample = _sample(ring_sides, most - len(nodes))
        left_out += len(ring) - len(sample)
        nodes = np.concatenate([nodes, ring[sample]])
        distance = np.concatenate([distance, np.full(len(sample), hop)])
        sides = np.concatenate([sides, ring_sides[sample]])
    return Neighbourhood(nodes, distance, sides, _edges_among(rows, nodes), left_out)


def _row(rows: sp.csr_array, node: int) -> IntArray:
    return np.asarray(rows.indices[rows.indptr[node] : rows.indptr[node + 1]], dtype=np.int64)


def _next_ring(rows: sp.csr_array, nodes: IntArray, sides: IntArray) -> tuple[IntArray, IntArray]:
    """The neighbours of some nodes, without repetition, and their sides: 0 for those with neighbours on both sides."""
    lists = [_row(rows, node) for node in nodes]
    if not lists:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    ring, position = np.unique(np.concatenate(lists), return_inverse=True)
    origin = np.repeat(sides, [len(row) for row in lists])
    low, high = np.ones(len(ring), dtype=np.int64), -np.ones(len(ring), dtype=np.int64)
    np.minimum.at(low, position, origin)
    np.maximum.at(high, position, origin)
    return ring, np.where(low == high, low, 0)


def _sample(sides: IntArray, room: int) -> IntArray:
    """The positions to keep: all common neighbours, then an even sample of both sides."""
    if len(sides) <= room:
        return np.arange(len(sides))
    middle, left, right = (np.flatnonzero(sides == side) for side in (0, -1, 1))
    if len(middle) >= room:
        return middle[_evenly(len(middle), max(room, 0))]
    room -= len(middle)
    for_left = min(len(left), max(room // 2, room - len(right)))
    parts = (middle, left[_evenly(len(left), for_left)], right[_evenly(len(right), room - for_left)])
    return np.sort(np.concatenate(parts))


def _evenly(size: int, wanted: int) -> IntArray:
    return np.arange(wanted) * size // max(wanted, 1)


def _edges_among(rows: sp.csr_array, nodes: IntArray) -> IntArray:
    """The edges among some nodes as pairs of positions i < j, without the edge between the two ends (0, 1)."""
    inside = rows[nodes][:, nodes].tocoo()
    pairs = np.column_stack([inside.row, inside.col]).astype(np.int64)
    return pairs[(pairs[:, 0] < pairs[:, 1]) & (pairs.sum(axis=1) > 1)]


# The picture ---------------------------------------------------------------------------------------------------------


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
    """Draw a neighbourhood as a self-contained SVG element.

    The edge is a thick line between two large nodes. A class has a colour and a letter; a node whose class was
    predicted is pale.

    Args:
        graph: the poisoned graph, for the names of nodes and classes.
        around: the neighbourhood.
        classes: N class numbers, −1 where unknown; None draws all nodes without a class.
        known: N booleans: whether a class is known rather than predicted; None means that all are.
        flagged: R × 2 other flagged edges, drawn dashed.
        width: in pixels.
        height: in pixels.

    >>> graph = Graph(4, [[0, 1], [0, 2], [1, 3]], labels=[0, 1, 0, 1], names=("<b>", "bob", "cy", "di"))
    >>> svg = drawing(graph, neighbourhood(graph, 0, 1), graph.labels)
    >>> svg[:5], "<b>" in svg
    (Markup('<svg '), False)
    """
    numbers = np.full(graph.num_nodes, UNKNOWN) if classes is None else classes
    kinds = numbers[around.nodes]
    marks = [mark(graph, int(kind)) for kind in kinds]
    certain = [known is None or bool(known[node]) for node in around.nodes]
    names = [readable(graph.name(node)) for node in around.nodes]
    places = positions(around.sides, around.hops, kinds, around.edges, width=width, height=height)
    nodes = [_node(*one) for one in zip(places, around.hops.tolist(), marks, certain, names, strict=True)]
    return picture(
        width,
        height,
        f"The edge between {names[0]} and {names[1]} and its neighbourhood: {_counts(around, marks)}.",
        *_lines(graph, around, places, flagged),
        *nodes[::-1],
        *_labels(places, names, around, width),
        class_="fc-neighbourhood",
    )


def _counts(around: Neighbourhood, marks: Sequence[Mark]) -> str:
    """Describe the neighbours, for screen readers."""
    sides = around.sides[2:][around.hops[2:] == 1]
    shared, left, right = (int((sides == side).sum()) for side in (0, -1, 1))
    first, second = marks[0].name, marks[1].name
    drawn = f"{left} other neighbours of the first ({first}), {right} of the second ({second}), {shared} of both"
    return f"{drawn}; {around.left_out:,} more are not drawn" if around.left_out else drawn


def _lines(graph: Graph, around: Neighbourhood, places: FloatArray, flagged: ArrayLike | None) -> list[Markup]:
    pairs = np.sort(around.nodes[around.edges], axis=1)
    others = no_pairs() if flagged is None else np.sort(np.asarray(flagged).reshape(-1, 2), axis=1)
    dashed = np.isin(pair_keys(pairs, graph.num_nodes), pair_keys(others, graph.num_nodes))
    lines = []
    for chosen, style in (
        (around.edges[~dashed], {"stroke": LINE, "stroke_width": 1}),
        (
            around.edges[dashed],
            {"stroke": FLAGGED, "stroke_width": 1.5, "stroke_dasharray": "4 3", "class_": "fc-also"},
        ),
        (np.array([[0, 1]]), {"stroke": FLAGGED, "stroke_width": 4, "stroke_linecap": "round", "class_": "fc-edge"}),
    ):
        if len(chosen):
            path = "".join(_line(places[one], places[other]) for one, other in chosen)
            lines.append(element("path", d=path, fill="none", **style))
    return lines


def _line(one: FloatArray, other: FloatArray) -> str:
    return f"M{number(one[0])} {number(one[1])}L{number(other[0])} {number(other[1])}"


def _node(place: FloatArray, hop: int, sign: Mark, certain: bool, name: str) -> Markup:
    x, y = float(place[0]), float(place[1])
    radius = (12.0, 8.0, 6.5)[min(hop, 2)]
    stroke = {"stroke": sign.colour, "stroke_width": 1.5} if hop else {"stroke": FLAGGED, "stroke_width": 2.5}
    pale = () if certain else (shape(sign.shape, x, y, radius, fill=PAPER, fill_opacity=0.78),)
    ink = sign.ink if certain else INK
    letter = text(sign.letter, x, y + radius * 0.38, anchor="middle", colour=ink, bold=True, size=radius * 1.1)
    title = element("title", f"{name}: {sign.name}{'' if certain or sign.letter == '?' else ' (predicted)'}")
    return element("g", title, shape(sign.shape, x, y, radius, fill=sign.colour, **stroke), *pale, letter)


def _labels(places: FloatArray, names: Sequence[str], around: Neighbourhood, width: float) -> list[Markup]:
    """The names of the two ends, and of all nodes if there is room."""
    shown = len(names) if len(names) <= 10 and width >= 480 else 2
    room = int(abs(places[1, 0] - places[0, 0]) / 7.5)  # letters between the ends, roughly
    halo = {"paint_order": "stroke", "stroke": PAPER, "stroke_width": 3, "unicode_bidi": "isolate", "anchor": "middle"}
    labels = []
    for row, (name, (x, y)) in enumerate(zip(names[:shown], places[:shown].tolist(), strict=True)):
        below, size = (26, 12) if row < 2 else (19, 10)
        labels.append(text(readable(name, room), x, y + below, colour=INK, size=size, bold=row < 2, **halo))
    if around.left_out:
        labels.append(text(f"+ {around.left_out:,} more", 6, 14, colour=QUIET, size=10))
    return labels
