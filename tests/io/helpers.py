"""Random small graphs, and the path of three nodes as an npz file."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from focusedcleaner.graph import Graph, Split
from focusedcleaner.io.node_text import name_problem

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
"""For examples that share one folder, on a busy machine."""

values = st.one_of(st.sampled_from([0.0, 1.0, 0.1, 1e-300, 3e38 * 10]), st.floats(-1e6, 1e6))
texts = st.text(max_size=4).filter(lambda text: not name_problem(text))
plain = st.text("abcXYZ09 ,;\"'é–<&", min_size=1, max_size=5).filter(lambda text: text == text.strip())


def split(train: list[int], val: list[int], test: list[int]) -> Split:
    return Split(*(np.array(part, dtype=np.int64) for part in (train, val, test)))


@st.composite
def graphs(draw: st.DrawFn, text: st.SearchStrategy[str] = texts, min_attributes: int = 0) -> Graph:
    """Graphs of up to six nodes with all optional parts."""
    size = draw(st.integers(1, 6))
    possible = list(combinations(range(size), 2))
    chosen = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    ids = st.one_of(text, st.integers(-(2**70), 2**70))
    names = draw(st.none() | st.lists(ids, min_size=size, max_size=size, unique_by=str))
    class_names = draw(st.none() | st.lists(text, max_size=4, unique=True))
    most = 3 if class_names is None else len(class_names) - 1
    labels = draw(st.none() | st.lists(st.integers(-1, most), min_size=size, max_size=size))
    if labels is not None and class_names is None:  # every class has a node
        labels = [sorted(set(labels) - {-1}).index(label) if label >= 0 else -1 for label in labels]
    parts = draw(st.none() | st.lists(st.sampled_from("tvsx"), min_size=size, max_size=size))
    return Graph.from_pairs(
        size,
        np.array(chosen, dtype=np.int64),
        labels=labels,
        split=None if parts is None else Split(*(np.flatnonzero(np.array(parts) == part) for part in "tvs")),
        names=None if names is None else tuple(names),
        class_names=class_names,
        **draw(_attributes(size, text, min_attributes)),
    )


@st.composite
def _attributes(draw: st.DrawFn, size: int, text: st.SearchStrategy[str], fewest: int) -> dict[str, Any]:
    if draw(st.booleans()):
        return {}
    width = draw(st.integers(fewest, 3))
    cells = draw(st.lists(values, min_size=size * width, max_size=size * width))
    key = text.filter(lambda name: name not in ("id", "label", "split"))
    names = draw(st.none() | st.lists(key, min_size=width, max_size=width, unique=True))
    matrix = sp.csr_array(np.array(cells, dtype=np.float64).reshape(size, width))
    return {"attributes": matrix, "attribute_names": names}


def npz_arrays(**changed: Any) -> dict[str, Any]:
    """The arrays of a path of three nodes, with some changed or, if None, left out."""
    whole: dict[str, Any] = {
        "adj_data": np.ones(4, dtype=np.float32),
        "adj_indices": np.array([1, 0, 2, 1], dtype=np.int32),
        "adj_indptr": np.array([0, 1, 3, 4], dtype=np.int32),
        "adj_shape": np.array([3, 3]),
        "attr_data": np.array([1, 5]),
        "attr_indices": np.array([0, 1]),
        "attr_indptr": np.array([0, 1, 1, 2]),
        "attr_shape": np.array([3, 2]),
        "labels": np.array([0, 1, 1], dtype=np.int8),
    }
    return {name: array for name, array in (whole | changed).items() if array is not None}


def stored(folder: Path, **changed: Any) -> Path:
    path = folder / "graph.npz"
    np.savez(path, **npz_arrays(**changed))
    return path
