"""What is checked around every sanitation: the graph, the scales of its attributes, and the scores."""

from __future__ import annotations

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.formatting import readable
from focusedcleaner.graph import FloatArray, Graph

LARGEST_RATIO = 10.0
"""Typical values of two columns that differ by more than this factor are on different scales."""


def removable(graph: Graph) -> int:
    """Upper bound on the edges that can go while no node becomes isolated: E − ⌈non-isolated nodes/2⌉."""
    connected = int((graph.degrees > 0).sum())
    return graph.num_edges - (connected + 1) // 2


def check_sanitizable(graph: Graph) -> None:
    """Raise an `InputError` that says why, if no sanitizer can work on the graph."""
    if graph.num_edges == 0:
        raise InputError("the graph is empty: it has no edges")
    graph.check_labelled("a sanitizer")


def check_finite(method: str, **columns: FloatArray) -> None:
    """Refuse a result with a score that is NaN or infinite; each column has a row per edge."""
    for name, values in columns.items():
        wrong = ~np.isfinite(values)
        if wrong.any():
            cause = "its training diverged; try other settings, or another method"
            raise InputError(f"{method}: the {name} of {wrong.sum():,} of {len(values):,} edges is not finite: {cause}")


def attribute_notes(graph: Graph) -> list[str]:
    """Say, in one sentence each, what about the attributes was changed before use.

    >>> attribute_notes(Graph(2, [[0, 1]], attributes=[[40, 1e6], [30, 2e6]], attribute_names=["age", "balance"]))
    ['attributes are on different scales (age about 30, balance about 1e+06): each column was scaled']
    """
    if graph.attributes is None:
        return []
    if graph.features is None:
        return ["the attributes are the same at every node: they are not used"]
    columns, scales = graph.attributes.column_scales
    least, most = int(scales.argmin()), int(scales.argmax())
    if scales[most] / LARGEST_RATIO <= scales[least]:
        return []
    typical = ", ".join(f"{_column_name(graph, columns[place])} about {scales[place]:.3g}" for place in (least, most))
    return [f"attributes are on different scales ({typical}): each column was scaled"]


def _column_name(graph: Graph, column: int) -> str:
    return f"column {column}" if graph.attribute_names is None else readable(graph.attribute_names[column], 30)
