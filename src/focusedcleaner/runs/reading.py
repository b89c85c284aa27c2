"""Reading a run folder."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.budget import AUTO
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.io import load_graph
from focusedcleaner.io.disk import prefix_errors, read_text
from focusedcleaner.runs.folder import ADDED, GRAPH, MISSING, RECORD, REMOVED, TRACE
from focusedcleaner.sanitizers.base import no_scores

_CONFIGURATION = ("method", "settings", "budget", "seed")


@dataclass(frozen=True)
class Run:
    """The content of a run folder."""

    path: Path
    record: Mapping[str, Any]
    graph: Graph
    """The cleaned graph."""
    removed: IntArray
    """R × 2 node numbers, in the order of removal."""
    scores: FloatArray
    evidence: Mapping[str, NDArray[Any]]
    """A column per kind of evidence: R numbers, or R × C."""
    added: IntArray = field(default_factory=no_pairs)
    """A × 2 node numbers: the inserted edges, in the order of insertion."""
    added_scores: FloatArray = field(default_factory=no_scores)

    @property
    def complete(self) -> bool:
        return bool(self.record["status"] == "complete")

    @cached_property
    def poisoned(self) -> Graph:
        """The graph before the sanitation."""
        return self.graph.without_edges(self.added).with_edges(self.removed)


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a run folder, complete or interrupted."""
    folder = Path(path)
    if not folder.exists():
        raise InputError(f"{folder}: there is no such run folder")
    if not folder.is_dir() or not (folder / RECORD).is_file():
        raise InputError(f"{folder}: is not a run folder: it has no {RECORD}")
    record = read_record(folder)
    graph = load_graph(folder / GRAPH)
    removed, evidence = _edges(folder, record, "removed", REMOVED, graph)
    added, added_columns = no_pairs(), {"score": no_scores()}
    if record.get("added"):
        added, added_columns = _edges(folder, record, "added", ADDED, graph)
    return Run(folder, record, graph, removed, evidence.pop("score"), evidence, added, added_columns["score"])


def _edges(
    folder: Path, record: Mapping[str, Any], key: str, file: str, graph: Graph
) -> tuple[IntArray, dict[str, NDArray[Any]]]:
    edges, columns = _read_edge_table(folder / file, graph)
    if record[key] != len(edges):
        raise InputError(f"{folder}: {RECORD} tells of {record[key]} {key} edges, {file} of {len(edges)}")
    return edges, columns


def read_record(folder: Path) -> dict[str, Any]:
    """Read `run.json`."""
    with prefix_errors(folder / RECORD):
        try:
            record = json.loads(read_text(folder / RECORD))
        except (json.JSONDecodeError, RecursionError):
            raise InputError("is not JSON") from None
        required = {"status", "removed", "input", *_CONFIGURATION}
        if not isinstance(record, dict) or not required <= set(record) or not isinstance(record["input"], dict):
            raise InputError("is not the record of a run")
        return record


def requested_budget(record: Mapping[str, Any]) -> int | str:
    """The budget that a run was given: a number of edges, or "auto"."""
    budget: int | str = AUTO if record.get("auto_budget") else record["budget"]
    return budget


def check_same_configuration(path: Path, record: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
    """Raise an `InputError` that names the first difference between a run and the run that is to continue it.

    Args:
        path: the run folder.
        record: its record.
        configuration: method, settings, budget ("auto" if the method chooses), seed and the graph's fingerprint.
    """
    before = {**record, "budget": requested_budget(record)}
    for key in _CONFIGURATION:
        if before[key] != configuration[key]:
            old, new = _difference(before[key], configuration[key])
            raise InputError(f"{path} was made with {key} {old}, not {new}: resume with the same")
    if before["input"].get("fingerprint") != configuration["fingerprint"]:
        raise InputError(f"{path} was made from another graph or another split: resume with the same")


def _difference(old: Any, new: Any) -> tuple[str, str]:
    """Two values as text; of two dicts, the first entry that differs."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {**old, **new}:
            if old.get(key) != new.get(key):
                was, now = _difference(old.get(key), new.get(key))
                return f"{key} {was}", now
    return str(old), str(new)


def read_trace(folder: Path) -> dict[str, list[float]]:
    """Read `trace.csv`: a list of numbers per column, empty if the method left no trace."""
    with prefix_errors(folder / TRACE):
        header, *rows = _rows(folder / TRACE) or [[]]
        try:
            columns = [[float(cell) for cell in column] for column in zip(*rows, strict=True)]
        except ValueError:
            raise InputError("is not a table of numbers") from None
    return dict(zip(header, columns, strict=False))


def read_missing(run: Run) -> IntArray | None:
    """The proposed pairs (M × 2, the likeliest first); None if `restore` has not been run."""
    path = run.path / MISSING
    if not path.exists():
        return None
    pairs, _ = _read_edge_table(path, run.graph)
    with prefix_errors(path):
        if run.graph.has_edges(np.sort(pairs, axis=1)).any():
            raise InputError("proposes an edge that the cleaned graph has: it belongs to another run; restore again")
    return pairs


def _read_edge_table(path: Path, graph: Graph) -> tuple[IntArray, dict[str, NDArray[Any]]]:
    """The edges of a table by node number, and the other columns from the score on."""
    with prefix_errors(path):
        header, *rows = _rows(path) or [[]]
        if header[:4] != ["rank", "u", "v", "score"]:
            raise InputError("its columns must begin with rank, u, v, score")
        if any(len(row) != len(header) for row in rows):
            raise InputError("a row has too few or too many cells")
        _, u, v, *columns = zip(*rows, strict=True) if rows else [()] * len(header)
        edges = _node_numbers(graph, u, v)
        try:
            return edges, {name: _numbers(column) for name, column in zip(header[3:], columns, strict=True)}
        except ValueError:
            raise InputError("a score or a piece of evidence is not a number") from None


def _rows(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(read_text(path), newline="")))


def _numbers(cells: Iterable[str]) -> NDArray[Any]:
    """R values, or R × C where a cell holds a vector."""
    values = np.array([[float(part) for part in cell.split(";")] for cell in cells], dtype=np.float64)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _node_numbers(graph: Graph, *ends: Iterable[str]) -> IntArray:
    """The node numbers of names as text, a column for each of ``ends``."""
    numbers = {str(graph.name(node)): node for node in range(graph.num_nodes)}
    try:
        columns = [[numbers[name] for name in column] for column in ends]
    except KeyError as unknown:
        raise InputError(f"names node {unknown}, which the cleaned graph does not have") from None
    return np.array(columns, dtype=np.int64).T.reshape(-1, len(ends))
