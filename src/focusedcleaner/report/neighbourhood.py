"""The neighbourhood of an edge, and a picture of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from markupsafe import Markup
from numpy.typing import ArrayLike

from focusedcleaner.formatting import readable
from focusedcleaner.graph import UNKNOWN, BoolArray, FloatArray, Graph, IntArray, no_pairs, pair_keys
from focusedcleaner.report.rendering import NO_CLASS, mark, render_svg

GAP = 19.0
"""Least distance between two nodes of an arc or a column, in pixels."""
_INNER = 34.0
"""Least distance of a fan from its end."""
_MARGIN = 14.0
_SPREAD = np.pi * 0.82
"""Angle of the fan behind an end; the name of the end is written below it."""


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
    pairs = np.argwhere(rows[nodes][:, nodes].toarray())
    edges = pairs[(pairs[:, 0] < pairs[:, 1]) & (pairs.sum(axis=1) > 1)]  # not the edge between the ends, (0, 1)
    return Neighbourhood(nodes, distance, sides, edges, left_out)


def _next_ring(rows: sp.csr_array, nodes: IntArray, sides: IntArray) -> tuple[IntArray, IntArray]:
    """The neighbours of some nodes, without repetition, and their sides: 0 for those with neighbours on both sides."""
    near = rows[nodes].tocoo()
    ring, position, count = np.unique(near.col, return_inverse=True, return_counts=True)
    mean_side = np.bincount(position, sides[near.row], len(ring)) / count  # −1 or 1 if all neighbours are on one side
    return ring.astype(np.int64), mean_side.astype(np.int64)


def _sample(sides: IntArray, room: int) -> IntArray:
    """The positions to keep: all common neighbours, then an even sample of both sides."""
    if len(sides) <= room:
        return np.arange(len(sides))
    middle, left, right = (np.flatnonzero(sides == side) for side in (0, -1, 1))
    for_middle = min(len(middle), max(room, 0))
    room = max(room, 0) - for_middle
    for_left = min(len(left), max(room // 2, room - len(right)))
    parts = ((middle, for_middle), (left, for_left), (right, room - for_left))
    return np.sort(np.concatenate([part[np.arange(size) * len(part) // max(size, 1)] for part, size in parts]))


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
    kinds = np.full(len(around.nodes), UNKNOWN) if classes is None else classes[around.nodes]
    classless = classes is None or bool((classes == UNKNOWN).all())
    places = positions(around, kinds, width, height)
    nodes = [
        {
            "name": readable(graph.name(node)),
            "mark": NO_CLASS if classless else mark(graph, int(kind)),
            "hop": int(hop),
            "known": known is None or bool(known[node]),
        }
        for node, kind, hop in zip(around.nodes, kinds, around.hops, strict=True)
    ]
    labelled = nodes if len(nodes) <= 10 and width >= 480 else nodes[:2]
    room = int(abs(places[1, 0] - places[0, 0]) / 8.5)  # letters between the ends, roughly
    pairs = np.sort(around.nodes[around.edges], axis=1)
    others = no_pairs() if flagged is None else np.sort(np.asarray(flagged).reshape(-1, 2), axis=1)
    dashed = np.isin(pair_keys(pairs, graph.num_nodes), pair_keys(others, graph.num_nodes))
    return render_svg(
        "neighbourhood.svg",
        width=width,
        height=height,
        nodes=nodes,
        places=places.tolist(),
        labels=[readable(node["name"], room) for node in labelled],
        plain=around.edges[~dashed].tolist(),
        dashed=around.edges[dashed].tolist(),
        neighbour_sides=around.sides[2:][around.hops[2:] == 1].tolist(),
        left_out=around.left_out,
    )


def positions(around: Neighbourhood, kinds: IntArray, width: float, height: float) -> FloatArray:
    """Return x and y of each node (n × 2), deterministically.

    The ends are side by side. Neighbours of one end form a fan behind it, sorted by kind (n numbers), and more distant
    nodes stand behind the nearer ones that they are joined to. Neighbours of both ends stand between them.
    """
    hops, order = around.hops, kinds.astype(np.float64)
    places = _place(around.sides, hops, order, width, height)
    pairs = np.concatenate([around.edges, around.edges[:, ::-1]])
    for hop in range(2, int(hops.max(initial=0)) + 1):
        outer, inner = pairs[(hops[pairs[:, 0]] == hop) & (hops[pairs[:, 1]] == hop - 1)].T
        total = np.bincount(outer, places[inner, 1], len(hops))
        mean_height = total / np.maximum(np.bincount(outer, minlength=len(hops)), 1)
        order = np.where(hops == hop, mean_height, order)
        places = _place(around.sides, hops, order, width, height)
    return places


def _place(sides: IntArray, hops: IntArray, order: FloatArray, width: float, height: float) -> FloatArray:
    others = hops > 0
    left, right = (int((others & (sides == side)).sum()) for side in (-1, 1))
    shift = 0.1 * width * (left - right) / max(left + right, 12)  # more width for the fuller side
    reach = width * 0.18
    centre = np.array([width / 2 + shift, height / 2])
    places = np.tile(centre, (len(sides), 1))
    places[:2, 0] += [-reach, reach]
    ranked = np.lexsort((order, hops))
    for side in (-1, 1):
        nodes = ranked[(others & (sides == side))[ranked]]
        room = np.array([width / 2 - side * shift - reach - _MARGIN, height / 2 - _MARGIN])
        places[nodes] = centre + [side * reach, 0] + [side, 1] * _fan(hops[nodes], room)
    middle = ranked[(others & (sides == 0))[ranked]]
    places[middle] = centre + _columns(len(middle), reach, height)
    return places


def _fan(hops: IntArray, room: FloatArray) -> FloatArray:
    """Concentric arcs to the right of the origin, filled from the inside; each hop has its own arcs."""
    sizes = [int((hops == hop).sum()) for hop in np.unique(hops)]
    inner = max(_INNER, 0.4 * room.min())
    arcs = _arc_sizes(sizes, inner, room.mean())
    shares = np.linspace(0, 1, len(arcs)) if len(arcs) > 1 else np.full(len(arcs), 0.6)
    places = [np.empty((0, 2))]
    for size, share in zip(arcs, shares, strict=True):
        angles = _SPREAD * ((np.arange(size) + 0.5) / max(size, 1) - 0.5)
        places.append((inner + share * (room - inner)) * np.column_stack([np.cos(angles), np.sin(angles)]))
    return np.concatenate(places)


def _arc_sizes(sizes: list[int], inner: float, outer: float) -> list[int]:
    """The number of nodes on each arc, in proportion to its radius; at most six arcs a hop."""
    arcs: list[int] = []
    for size in sizes:
        for wanted in range(1, 7):
            radii = np.linspace(inner, outer, len(arcs) + wanted + 1)[len(arcs) : len(arcs) + wanted]
            if (_SPREAD * radii / GAP).sum() >= size:
                break
        cumulative = np.round(np.cumsum(radii / radii.sum()) * size).astype(int)
        arcs += np.diff(cumulative, prepend=0).tolist()
    return arcs


def _columns(size: int, reach: float, height: float) -> FloatArray:
    """Alternately above and below the middle, slightly staggered; more columns are added when the first is full."""
    rows = max(1, int((height / 2 - 40) // GAP))
    node = np.arange(size)
    up = np.where(node % 2 == 0, -1.0, 1.0)
    row, column = (node // 2) % rows, (node // 2) // rows
    offset = (column + 1) // 2 * np.where(column % 2 == 0, 1.0, -1.0)
    step = min(GAP + 6, (reach - GAP) / max(1.0, abs(offset).max(initial=0)))
    stagger = 7.0 * np.where(row % 2 == 0, 1.0, -1.0) * up
    return np.column_stack([offset * step + stagger, up * (28 + row * GAP)])
