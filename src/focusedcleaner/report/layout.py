"""Positions of the nodes in the picture of an edge: the two ends side by side, their neighbours behind them."""

from __future__ import annotations

import numpy as np

from focusedcleaner.graph import FloatArray, IntArray

GAP = 19.0
"""Least distance between two nodes of an arc or a column, in pixels."""
_INNER = 34.0
"""Least distance of a fan from its end."""
_MARGIN = 14.0
_SPREAD = np.pi * 0.82
"""Angle of the fan behind an end; the name of the end is written below it."""


def positions(
    sides: IntArray, hops: IntArray, kinds: IntArray, edges: IntArray, *, width: float, height: float
) -> FloatArray:
    """Return x and y of each node (n × 2), deterministically; the first two nodes are the ends.

    Neighbours of one end form a fan behind it, grouped by kind, and more distant nodes stand behind the nearer ones
    that they are joined to. Neighbours of both ends stand between them.

    Args:
        sides: −1 for a node reached from the left end, 1 from the right end, 0 from both.
        hops: steps from the nearer end.
        kinds: key by which the nodes of a fan are sorted.
        edges: m × 2 positions of joined nodes.
        width: of the picture.
        height: of the picture.
    """
    order = kinds.astype(np.float64)
    places = _place(sides, hops, order, width, height)
    for hop in range(2, int(hops.max(initial=0)) + 1):
        order = np.where(hops == hop, _mean_height(places, hops, edges, hop), order)
        places = _place(sides, hops, order, width, height)
    return places


def _mean_height(places: FloatArray, hops: IntArray, edges: IntArray, hop: int) -> FloatArray:
    """The mean y of each node's neighbours that are one hop nearer."""
    pairs = np.concatenate([edges, edges[:, ::-1]])
    outer, inner = pairs[(hops[pairs[:, 0]] == hop) & (hops[pairs[:, 1]] == hop - 1)].T
    total = np.bincount(outer, places[inner, 1], len(hops))
    return np.asarray(total / np.maximum(np.bincount(outer, minlength=len(hops)), 1))


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
        nodes = ranked[(sides == side)[ranked] & others[ranked]]
        room = np.array([width / 2 - side * shift - reach - _MARGIN, height / 2 - _MARGIN])
        places[nodes] = centre + [side * reach, 0] + [side, 1] * _fan(hops[nodes], room)
    middle = ranked[(sides == 0)[ranked] & others[ranked]]
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
