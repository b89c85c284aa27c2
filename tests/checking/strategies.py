"""Odd graphs: without edges, labels or attributes, of one class, with strange names."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from focusedcleaner.graph import UNKNOWN, Graph, Split


@st.composite
def odd_graphs(draw: st.DrawFn, *, max_nodes: int = 12) -> Graph:
    """Any small graph that can be made; most of them can't be sanitized."""
    nodes = draw(st.integers(1, max_nodes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pairs = rng.integers(0, nodes, (draw(st.integers(0, 3 * nodes)), 2))
    columns = draw(st.sampled_from([None, 0, 1, 4]))
    attributes = None if columns is None else rng.integers(-1, 2, (nodes, columns)) * draw(st.sampled_from([0, 1, 1e9]))
    classes = draw(st.integers(0, 4))
    labels = None if not classes else np.where(rng.random(nodes) < 0.3, UNKNOWN, rng.integers(0, classes, nodes))
    names = draw(st.none() | st.just(("\x1b[31mred", "<b>", "a\nb", "x" * 500))) if classes else None
    split = None
    if draw(st.booleans()):
        part = rng.integers(0, 4, nodes)
        split = Split(*(np.flatnonzero(part == number) for number in range(3)))
    notes = draw(st.sampled_from([{}, {"source_column": "user\x1b", "target_column": "item", "other": ""}]))
    return Graph.from_pairs(
        nodes, pairs, attributes=attributes, labels=labels, split=split, class_names=names, notes=notes
    )
