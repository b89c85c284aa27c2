"""Where the nodes of a neighbourhood are drawn: the two ends left and right, everybody else on his side."""

from __future__ import annotations

import numpy as np

from focusedcleaner.graph import FloatArray, IntArray

GAP = 19.0
"""The least distance between two nodes of an arc or a column, in pixels."""
_INNER = 34.0
"""How far from an end its fan begins, at least."""
_MARGIN = 14.0
_SPREAD = np.pi * 0.82
"""The angle of the fan behind an end; straight below it there is room for its name."""


def positions(
    sides: IntArray, hops: IntArray, kinds: IntArray, edges: IntArray, *, width: float, height: float
) -> FloatArray:
    """x and y of each node (n × 2), the two ends being the first two; the same input gives the same picture.

    Neighbours of an end stand in a fan behind it, those of one kind together, and farther nodes behind the nearer ones
    that they are joined to; whoever belongs to both ends stands between them.

    Args:
        sides: −1 for a node that belongs to the left end, 1 to the right one, 0 to both.
        hops: steps from the nearer end.
        kinds: whatever the nodes of a fan are to be sorted by.
        edges: m × 2 places of joined nodes.
        width: of the picture.
        height: of the picture.
    """
    order = kinds.astype(np.float64)
    places = _placed(sides, hops, order, width, height)
    for hop in range(2, int(hops.max(initial=0)) + 1):
        order = np.where(hops == hop, _mean_height(places, hops, edges, hop), order)
        places = _placed(sides, hops, order, width, height)
    return places


def _mean_height(places: FloatArray, hops: IntArray, edges: IntArray, hop: int) -> FloatArray:
    """The mean y of each node's neighbours that are one hop nearer."""
    pairs = np.concatenate([edges, edges[:, ::-1]])
    outer, inner = pairs[(hops[pairs[:, 0]] == hop) & (hops[pairs[:, 1]] == hop - 1)].T
    total = np.bincount(outer, places[inner, 1], len(hops))
    return np.asarray(total / np.maximum(np.bincount(outer, minlength=len(hops)), 1))


def _placed(sides: IntArray, hops: IntArray, order: FloatArray, width: float, height: float) -> FloatArray:
    others = hops > 0
    left, right = (int((others & (sides == side)).sum()) for side in (-1, 1))
    # The fuller side gets more of the width.
    tilt = 0.1 * width * (left - right) / max(left + right, 12)
    reach = width * 0.18
    centre = np.array([width / 2 + tilt, height / 2])
    places = np.tile(centre, (len(sides), 1))
    places[0, 0] -= reach
    places[1, 0] += reach
    ranked = np.lexsort((order, hops))
    for side in (-1, 1):
        mine = ranked[(sides == side)[ranked] & others[ranked]]
        room = np.array([width / 2 - side * tilt - reach - _MARGIN, height / 2 - _MARGIN])
        places[mine] = centre + [side * reach, 0] + [side, 1] * _fan(hops[mine], room)
    middle = ranked[(sides == 0)[ranked] & others[ranked]]
    places[middle] = centre + _columns(len(middle), reach, height)
    return places


def _fan(hops: IntArray, room: FloatArray) -> FloatArray:
    """Arcs to the right of the origin, one behind the other, filled from the inside, each hop with arcs of its own."""
    sizes = [int((hops == hop).sum()) for hop in np.unique(hops)]
    inner = max(_INNER, 0.4 * room.min())
    arcs = _arcs(sizes, inner, room.mean())
    shares = np.linspace(0, 1, len(arcs)) if len(arcs) > 1 else np.full(len(arcs), 0.6)
    places = []
    for size, share in zip(arcs, shares, strict=True):
        axes = inner + share * (room - inner)
        angles = _SPREAD * ((np.arange(size) + 0.5) / max(size, 1) - 0.5)
        places.append(axes * np.column_stack([np.cos(angles), np.sin(angles)]))
    return np.concatenate(places) if places else np.empty((0, 2))


def _arcs(sizes: list[int], inner: float, outer: float) -> list[int]:
    """How many nodes stand on each arc: the outer ones are longer."""
    arcs: list[int] = []
    for size in sizes:
        wanted = 1
        while True:
            radii = np.linspace(inner, outer, len(arcs) + wanted + 1)[len(arcs) : len(arcs) + wanted]
            if (_SPREAD * radii / GAP).sum() >= size or wanted >= 6:
                break
            wanted += 1
        shares = np.round(np.cumsum(radii / radii.sum()) * size).astype(int)
        arcs += np.diff(shares, prepend=0).tolist()
    return arcs


def _columns(size: int, reach: float, height: float) -> FloatArray:
    """Above and below the middle in turn, swaying a little; further columns beside the first once it is full."""
    rows = max(1, int((height / 2 - 40) // GAP))
    number = np.arange(size)
    up = np.where(number % 2 == 0, -1.0, 1.0)
    row, column = (number // 2) % rows, (number // 2) // rows
    place = (column + 1) // 2 * np.where(column % 2 == 0, 1.0, -1.0)
    step = min(GAP + 6, (reach - GAP) / max(1.0, abs(place).max(initial=0)))
    sway = 7.0 * np.where(row % 2 == 0, 1.0, -1.0) * up
    return np.column_stack([place * step + sway, up * (28 + row * GAP)])
