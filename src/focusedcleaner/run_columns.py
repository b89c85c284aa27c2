"""A run on a graph folder: its tables as Parquet, written and read by columns, and the folder, found again.

    removed.parquet        rank, both ids, score and evidence, and so added.parquet, suspects.parquet, scores.parquet
    sanitized.parquet      the edges that remain: source and target by their ids
    split.parquet          the split of the run: id, and train, val, test or null

The graph is not copied: `run.json` names its folder, as seen from the run's, and its checksum.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.adjacency_rows import StoredNames
from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.graph import PARTS, FloatArray, Graph, IntArray, Split
from focusedcleaner.io.disk import checked_file
from focusedcleaner.io.folder import is_folder, open_folder
from focusedcleaner.io.parquet_table import ParquetTable
from focusedcleaner.sanitizers.sanitation import Sanitation

if TYPE_CHECKING:
    import polars as pl

REMOVED, ADDED, SUSPECTS, SCORES = "removed.parquet", "added.parquet", "suspects.parquet", "scores.parquet"
CLEANED, SPLIT = "sanitized.parquet", "split.parquet"
_HEADER = ["rank", "u", "v", "score"]


def as_parquet(name: str) -> str:
    """The name of a table in a run on a graph folder: removed.parquet for removed.csv."""
    return f"{name.removesuffix('.csv')}.parquet"


def stored_place(graph: Graph, run: Path) -> dict[str, str]:
    """What `run.json` says of a graph folder: where it is, seen from the run's folder; empty for another graph."""
    stored = graph.stored
    if stored is None or stored.folder is None or stored.checksum is None:
        return {}
    try:
        place = Path(os.path.relpath(stored.folder, run.parent.resolve())).as_posix()
    except ValueError:  # another drive of Windows
        place = stored.folder
    return {"folder": place, "checksum": stored.checksum}


def stored_graph(run: Path, source: Mapping[str, Any]) -> Graph:
    """The graph folder that a run was made from, with the split of the run; ``source`` is what `run.json` says."""
    with prefix_errors(run):
        named = [Path(str(source[name])) for name in ("folder", "graph") if name in source]
        places = [run.parent / named[0], *named]
        place = next((place for place in places if is_folder(place)), None)
        if place is None:
            raise InputError(f"the graph folder {places[0]} that the run was made from is gone: put it back")
        graph = open_folder(place)
        if graph.stored is None or graph.stored.checksum != source.get("checksum"):
            raise InputError(f"{place} is another graph than the one that the run was made from: put that back")
    return graph.with_split(read_split(run / SPLIT, graph)) if (run / SPLIT).is_file() else graph


def stored_run_files(sanitation: Sanitation, *, scores: bool) -> dict[str, bytes]:
    """The tables of a run on a graph folder by name."""
    graph = sanitation.poisoned
    files = {REMOVED: edge_columns(graph, sanitation.removed, sanitation.scores, sanitation.evidence)}
    if len(sanitation.added):
        files[ADDED] = edge_columns(graph, sanitation.added, sanitation.added_scores, {})
    if len(sanitation.suspects):
        columns = sanitation.suspect_scores, sanitation.suspect_evidence
        files[SUSPECTS] = edge_columns(graph, sanitation.suspects, *columns)
    if scores and sanitation.edge_scores is not None:
        files[SCORES] = edge_columns(graph, *sanitation.ranked_edges())
    files[CLEANED] = remaining_columns(graph, sanitation.removed, sanitation.added)
    if graph.split is not None:
        files[SPLIT] = split_columns(graph)
    return files


def edge_columns(graph: Graph, edges: IntArray, scores: FloatArray, evidence: Mapping[str, NDArray[Any]]) -> bytes:
    """Edges as Parquet: rank, both ends by their ids, score, and a column per kind of evidence.

    A vector has four decimals per number, as in a CSV file.
    """
    u, v = ids_of(graph, edges)
    ranks = np.arange(1, len(edges) + 1)
    shown = {name: values if values.ndim == 1 else _short(values) for name, values in evidence.items()}
    return parquet({"rank": ranks, "u": u, "v": v, "score": scores, **shown})


def _short(vectors: NDArray[Any]) -> NDArray[np.float32]:
    return np.round(vectors, 4).astype(np.float32)


def remaining_columns(graph: Graph, removed: IntArray, added: IntArray) -> bytes:
    """The edges of a graph without some and with others, as an edge table: source and target by their ids."""
    kept = np.ones(graph.num_edges, dtype=bool)
    kept[graph.edge_numbers(removed)] = False
    source, target = ids_of(graph, np.concatenate([graph.edges[kept], added.reshape(-1, 2)]))
    return parquet({"source": source, "target": target})


def split_columns(graph: Graph) -> bytes:
    """The part of the split that each node is in, by its id; null for a node in none."""
    import polars as pl

    parts = np.full(graph.num_nodes, len(PARTS))
    for number, nodes in enumerate(graph.split.parts if graph.split else ()):
        parts[nodes] = number
    words = pl.Series([*PARTS, None], dtype=pl.String)[parts]
    (ids,) = ids_of(graph, np.arange(graph.num_nodes).reshape(-1, 1))
    return parquet({"id": ids, "split": words})


def read_split(path: Path, graph: Graph) -> Split:
    """Read what `split_columns` wrote."""
    import polars as pl

    with prefix_errors(path):
        frame = _frame(path)
        if frame.columns != ["id", "split"] or frame["split"].dtype != pl.String or len(frame) != graph.num_nodes:
            raise InputError("is not the split of this run's graph")
        return Split(*((frame["split"] == part).fill_null(False).arg_true().to_numpy() for part in PARTS))


def parquet(columns: Mapping[str, Any]) -> bytes:
    """Columns as a Parquet file."""
    import polars as pl

    buffer = io.BytesIO()
    pl.DataFrame(dict(columns)).write_parquet(buffer)
    return buffer.getvalue()


def ids_of(graph: Graph, nodes: IntArray) -> list[Any]:
    """The ids of nodes (P × K), as K columns."""
    if graph.names is None:
        return [np.ascontiguousarray(column) for column in nodes.T]
    if not isinstance(graph.names, StoredNames):
        return [[graph.names[node] for node in column] for column in nodes.T.tolist()]
    return [graph.names.column[np.ascontiguousarray(column)] for column in nodes.T]


def numbers_of(graph: Graph, ids: pl.Series) -> IntArray:
    """The node numbers of ids; −1 where there is no such node."""
    import polars as pl

    known = range(graph.num_nodes) if graph.names is None else graph.names
    column = pl.Series(known.column if isinstance(known, StoredNames) else list(known))
    if column.dtype != ids.dtype:
        return np.full(len(ids), -1)
    table = pl.DataFrame({"id": column}).with_row_index("node")
    found = pl.DataFrame({"id": ids}).join(table, on="id", how="left", maintain_order="left")["node"]
    return found.cast(pl.Int64).fill_null(-1).to_numpy()


def read_edge_columns(path: Path, graph: Graph) -> tuple[IntArray, dict[str, NDArray[Any]]]:
    """The edges of a table by node number, and the other columns from the score on."""
    with prefix_errors(path):
        frame = _frame(path)
        if frame.columns[:4] != _HEADER:
            raise InputError(f"its columns must begin with {', '.join(_HEADER)}")
        edges = np.stack([numbers_of(graph, frame[end]) for end in ("u", "v")], axis=1)
        if len(unknown := np.flatnonzero((edges < 0).any(axis=1))):
            raise InputError(f"row {unknown[0] + 1} names a node that the graph does not have")
        return edges, {name: _numbers(frame[name]) for name in frame.columns[3:]}


def _numbers(column: pl.Series) -> NDArray[Any]:
    """R finite values, or R × C where a cell holds a vector."""
    flat = column.explode() if column.dtype.is_nested() else column
    if not flat.dtype.is_numeric() or flat.null_count() or not flat.is_finite().all():
        raise InputError(f"the column {column.name!r} must hold a finite number for each edge")
    return column.to_numpy().astype(np.float64, copy=False)


def _frame(path: Path) -> pl.DataFrame:
    table = ParquetTable.read(checked_file(path))
    return table.frame(range(table.width))
