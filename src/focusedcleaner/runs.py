"""Run folders: the result of a sanitation on disk, complete or absent.

    run.json        settings, versions, input, timings
    removed.csv     the removed edges in order of removal, each with its score and its evidence
    added.csv       the inserted edges with their scores, if there are any
    sanitized.npz   the cleaned graph
    trace.csv       one row per round
    report.html     the report, which the command line writes
    missing.csv     edges that the attacker may have removed, if `restore` was run
    checkpoint.npz  the state to resume from, while the run is interrupted

A run is written into a hidden folder beside its final place (``.RUN.part``), which is renamed at the end. A resumed run
is written into its own folder. Every file is replaced atomically, `run.json` last.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.budget import AUTO
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.io import load_npz, save_graph
from focusedcleaner.io.disk import prefix_errors, read_text, write_files
from focusedcleaner.io.spreadsheet import escape
from focusedcleaner.restore.missing import Missing
from focusedcleaner.sanitizers.base import Sanitation, no_scores

RECORD, REMOVED, ADDED, GRAPH, TRACE = "run.json", "removed.csv", "added.csv", "sanitized.npz", "trace.csv"
CHECKPOINT, REPORT, MISSING = "checkpoint.npz", "report.html", "missing.csv"

_CONFIGURATION = ("method", "settings", "budget", "seed")
"""What a run must share with the run that resumes it, beside the graph."""

Status = Literal["complete", "interrupted"]


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run, checked before anything is computed."""

    path: Path
    work: Path
    """Where files are written: ``path`` if it exists, else a hidden sibling."""

    @property
    def checkpoint(self) -> Path:
        """The file in which a sanitizer saves its state."""
        return self.work / CHECKPOINT

    @classmethod
    @contextmanager
    def opened(cls, path: Path, *, resume: bool = False) -> Iterator[RunFolder]:
        """Reserve the folder of a run; it is removed again if nothing was written.

        Raises:
            InputError: the folder exists, can't be written, or holds an interrupted run and ``resume`` is False.
        """
        with prefix_errors(path):
            target = Path(os.path.abspath(path))
            exists = target.exists()
            if exists and not resume:
                if (target / CHECKPOINT).exists():
                    raise InputError("holds an interrupted run: continue it with --resume, or choose another folder")
                raise InputError("exists already: choose another folder for the run")
            if exists and not (target / RECORD).is_file():
                raise InputError(f"is not a run folder: it has no {RECORD}")
            parent = path.parent
            if not parent.is_dir():
                reason = "is not a folder" if parent.exists() else "does not exist"
                raise InputError(f"can't be written: {parent} {reason}")
            if not os.access(parent, os.W_OK | os.X_OK):
                raise InputError(f"can't be written: {parent} is not writable")
            folder = cls(path, path if exists else path.with_name(f".{target.name}.part"))
            if folder.checkpoint.exists() and not resume:
                raise InputError(
                    f"a run was interrupted here: continue it with --resume, or remove {folder.work} to start again"
                )
            folder.work.mkdir(exist_ok=True)
        try:
            yield folder
        finally:
            if folder.work != path and folder.work.is_dir() and not any(folder.work.iterdir()):
                folder.work.rmdir()

    def finish(self, sanitation: Sanitation, source: Mapping[str, Any], *, status: Status = "complete") -> None:
        """Write the run, without its report; ``source`` says what the graph was read from."""
        graph = sanitation.poisoned
        record = json.dumps(_record(sanitation, source, status), indent=2, ensure_ascii=False)
        save_graph(sanitation.graph, self.work / GRAPH)
        files = {REMOVED: _edge_table(graph, sanitation.removed, sanitation.scores, sanitation.evidence)}
        if len(sanitation.added):
            files[ADDED] = _edge_table(graph, sanitation.added, sanitation.added_scores, {})
        files |= {TRACE: _table(sanitation.trace), RECORD: f"{record}\n".encode()}
        write_files({self.work / name: content for name, content in files.items()})
        if self.work != self.path:
            with prefix_errors(self.path):
                os.rename(self.work, self.path)
        (self.path / MISSING).unlink(missing_ok=True)  # proposals for the graph as it was before
        if status == "complete":
            (self.path / CHECKPOINT).unlink(missing_ok=True)


def free_path(graph: str, method: str) -> Path:
    """``runs/GRAPH-METHOD``, or the first of ``runs/GRAPH-METHOD-2``, ``-3`` … that is free."""
    stem = f"{Path(graph).stem}-{method}"
    names = (stem if number == 1 else f"{stem}-{number}" for number in itertools.count(1))
    runs = Path("runs")
    return next(runs / name for name in names if not (runs / name).exists() and not (runs / f".{name}.part").exists())


def write_run(sanitation: Sanitation, path: str | os.PathLike[str], *, source: Mapping[str, Any] | None = None) -> None:
    """Write a run folder, which must not exist; ``source`` says what the graph was read from, for `run.json`."""
    with RunFolder.opened(Path(path)) as folder:
        folder.finish(sanitation, source or {})


def _record(sanitation: Sanitation, source: Mapping[str, Any], status: Status) -> dict[str, Any]:
    """The content of `run.json`."""
    graph, estimate = sanitation.poisoned, sanitation.estimate
    return {
        "status": status,
        "method": sanitation.method,
        "settings": dict(sanitation.settings),
        "budget": sanitation.budget,
        "auto_budget": sanitation.auto,
        "removed": len(sanitation.removed),
        "added": len(sanitation.added),
        "estimate": None if estimate is None else {name: round(value, 1) for name, value in vars(estimate).items()},
        "seed": sanitation.seed,
        "seconds": round(sanitation.seconds, 3),
        "input": {**source, "nodes": graph.num_nodes, "edges": graph.num_edges, "fingerprint": graph.fingerprint()},
        "versions": {
            "focusedcleaner": version("focusedcleaner"),
            "python": platform.python_version(),
            **{package: version(package) for package in ("torch", "numpy", "scipy")},
        },
    }


def _edge_table(graph: Graph, edges: IntArray, scores: FloatArray, evidence: Mapping[str, NDArray[Any]]) -> bytes:
    """Edges as CSV: rank, both ends by their names in the graph, score, and a column per kind of evidence."""
    u, v = ([escape(str(graph.name(node))) for node in ends] for ends in edges.reshape(-1, 2).T)
    return _table({"rank": np.arange(1, len(u) + 1), "u": u, "v": v, "score": scores, **evidence})


def _table(columns: Mapping[str, Iterable[Any]]) -> bytes:
    """Columns as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*([_cell(value) for value in column] for column in columns.values()), strict=True))
    return buffer.getvalue().encode()


def _cell(value: Any) -> str:
    """A number with nine digits; a vector with four decimals per number, joined by semicolons."""
    if isinstance(value, np.ndarray):
        return ";".join(f"{part:.4f}" for part in value)
    return f"{value:.9g}" if isinstance(value, float | np.floating) else str(value)


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
    graph = load_npz(folder / GRAPH, renumber=False)
    tables = {"added": (no_pairs(), {"score": no_scores()})}
    for key, file in {"removed": REMOVED, **({"added": ADDED} if record.get("added") else {})}.items():
        tables[key] = edges, _ = _read_edge_table(folder / file, graph)
        if record[key] != len(edges):
            raise InputError(f"{folder}: {RECORD} tells of {record[key]} {key} edges, {file} of {len(edges)}")
    (removed, evidence), (added, added_columns) = tables["removed"], tables["added"]
    return Run(folder, record, graph, removed, evidence.pop("score"), evidence, added, added_columns["score"])


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


def check_same_configuration(path: Path, record: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
    """Raise an `InputError` that names the first difference between a run and the run that is to continue it.

    Args:
        path: the run folder.
        record: its record.
        configuration: method, settings, budget ("auto" if the method chooses), seed and the graph's fingerprint.
    """
    before = {**record, "budget": AUTO if record.get("auto_budget") else record["budget"]}
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


def write_missing(run: Run, missing: Missing) -> None:
    """Write the edges that `restore` proposes; earlier proposals are replaced."""
    write_files({run.path / MISSING: _edge_table(run.graph, missing.pairs, missing.scores, missing.evidence)})


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
        names = {str(graph.name(node)): node for node in range(graph.num_nodes)}
        numbers = names | {escape(name): node for name, node in names.items()}  # older files hold the plain names
        try:
            edges = np.array([[numbers[name] for name in ends] for ends in (u, v)], dtype=np.int64).T
            return edges, {name: _numbers(column) for name, column in zip(header[3:], columns, strict=True)}
        except KeyError as unknown:
            raise InputError(f"names node {unknown}, which the cleaned graph does not have") from None
        except ValueError:
            raise InputError("a score or a piece of evidence is not a number") from None


def _rows(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(read_text(path), newline="")))


def _numbers(cells: Iterable[str]) -> NDArray[Any]:
    """R values, or R × C where a cell holds a vector."""
    values = np.array([[float(part) for part in cell.split(";")] for cell in cells], dtype=np.float64)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
