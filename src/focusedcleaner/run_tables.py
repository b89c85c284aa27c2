"""The tables of a run folder: edges with scores and evidence as CSV, written and read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.io.disk import read_text
from focusedcleaner.io.spreadsheet import escape, unescape

_NUMBERS = ("score", "planted", "common_neighbours", "attribute_similarity")
"""Columns that hold one number per edge; others may hold a vector."""
_TEXTS = ("rows", "weight", "time")
"""Columns that hold what the input table says of an edge, as text; of several rows, separated by semicolons."""


def edge_table(
    graph: Graph,
    edges: IntArray,
    scores: FloatArray,
    evidence: Mapping[str, NDArray[Any]],
    details: Mapping[str, Iterable[str]] | None = None,
) -> bytes:
    """Edges as CSV: rank, both ends by their names in the graph, score, a column per kind of evidence, and details."""
    u, v = ([escape(str(graph.name(node))) for node in ends] for ends in edges.reshape(-1, 2).T)
    texts = {name: [escape(text) for text in column] for name, column in (details or {}).items()}
    return table({"rank": np.arange(1, len(u) + 1), "u": u, "v": v, "score": scores, **evidence, **texts})


def table(columns: Mapping[str, Iterable[Any]]) -> bytes:
    """Columns as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(map(escape, columns))
    writer.writerows(zip(*([_cell(value) for value in column] for column in columns.values()), strict=True))
    return buffer.getvalue().encode()


def _cell(value: Any) -> str:
    """A number with nine digits; a vector with four decimals per number, joined by semicolons."""
    if isinstance(value, np.ndarray):
        return ";".join(f"{part:.4f}" for part in value)
    return f"{value:.9g}" if isinstance(value, float | np.floating) else str(value)


def read_edge_table(path: Path, graph: Graph) -> tuple[IntArray, dict[str, NDArray[Any]]]:
    """The edges of a table by node number, and the other columns from the score on, except those of text."""
    with prefix_errors(path):
        header, *rows = read_rows(path) or [[]]
        header = unescape(header)
        if header[:4] != ["rank", "u", "v", "score"]:
            raise InputError("its columns must begin with rank, u, v, score")
        if any(len(row) != len(header) for row in rows):
            raise InputError("a row has too few or too many cells")
        _, u, v, *columns = zip(*rows, strict=True) if rows else [()] * len(header)
        names = {str(graph.name(node)): node for node in range(graph.num_nodes)}
        numbers = names | {escape(name): node for name, node in names.items()}  # older files hold the plain names
        try:
            edges = np.array([[numbers[name] for name in ends] for ends in (u, v)], dtype=np.int64).T
            named = zip(header[3:], columns, strict=True)
            found = {name: _numbers(column) for name, column in named if name not in _TEXTS}
        except KeyError as unknown:
            raise InputError(f"names node {unknown}, which the cleaned graph does not have") from None
        except ValueError:
            raise InputError("a score or a piece of evidence is not a number") from None
        for name in _NUMBERS:
            if name in found and found[name].ndim != 1:
                raise InputError(f"{name} must be one number for each edge")
        return edges, found


def read_rows(path: Path) -> list[list[str]]:
    """All rows of a CSV file."""
    try:
        return list(csv.reader(io.StringIO(read_text(path), newline="")))
    except csv.Error as error:
        raise InputError(f"is not a CSV file: {error}") from None


def _numbers(cells: Iterable[str]) -> NDArray[Any]:
    """R finite values, or R × C where a cell holds a vector."""
    values = np.array([[float(part) for part in cell.split(";")] for cell in cells], dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
