"""Small random graphs for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from focusedcleaner.graph import Graph, Split


@st.composite
def labelled_graphs(draw: st.DrawFn, *, min_nodes: int = 6, max_nodes: int = 14) -> Graph:
    """Graphs with two training classes or more; isolated nodes, leaves, no attributes and no validation occur."""
    nodes = draw(st.integers(min_nodes, max_nodes))
    classes = draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pairs = rng.integers(0, nodes, (draw(st.integers(2, 3 * nodes)), 2))
    pairs = np.concatenate([pairs[pairs[:, 0] != pairs[:, 1]], [[0, 1]]])
    columns = draw(st.integers(0, 6))
    attributes = rng.random((nodes, columns)) * (rng.random((nodes, columns)) < 0.5) if columns else None
    labels = rng.integers(0, classes, nodes)
    labels[:classes] = np.arange(classes)
    order = rng.permutation(np.arange(classes, nodes))
    validation = draw(st.integers(0, 2))
    split = Split(np.append(np.arange(classes), order[0]), order[1 : 1 + validation], order[1 + validation :])
    names = tuple("abc"[:classes])
    return Graph.from_pairs(nodes, pairs, attributes=attributes, labels=labels, split=split, class_names=names)
