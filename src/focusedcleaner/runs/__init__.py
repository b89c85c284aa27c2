"""The run folder: what a sanitation leaves behind, whole or not at all.

    run.json        settings, versions, input, timings
    removed.csv     the removed edges in their order, each with its score and the evidence for it
    added.csv       only where edges were inserted: these, with their scores
    sanitized.npz   the cleaned graph
    trace.csv       what each round saw
    report.html     all of this for people
    missing.csv     only where it was asked for: edges that the attacker may have removed
    checkpoint.npz  only while the run is interrupted: what it goes on from

While a run is under way its folder is a hidden one beside its place (``.RUN.part``), and a run that goes on after an
interruption works in its own folder; every file is replaced whole, `run.json` last.
"""

from __future__ import annotations

import csv
import io
import json
import os
import platform
from collections.abc import Hashable, Iterable, Iterator, Mapping
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
from focusedcleaner.io import load_graph, save_graph
from focusedcleaner.io.disk import prefix_errors, read_text, write_files
from focusedcleaner.sanitizers.base import Estimate, Sanitation, no_scores

RECORD, REMOVED, ADDED, GRAPH, TRACE = "run.json", "removed.csv", "added.csv", "sanitized.npz", "trace.csv"
CHECKPOINT, REPORT, MISSING = "checkpoint.npz", "report.html", "missing.csv"
Status = Literal["complete", "interrupted"]
_SAME = ("method", "settings", "budget", "seed")


# The folder ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunFolder:
    """A place for a run, checked before anything is computed."""

    path: Path
    work: Path
    """Where files are written: ``path`` itself where it is there already, else a hidden sibling."""

    @property
    def checkpoint(self) -> Path:
        """The file that a sanitizer saves its state to and goes on from."""
        return self.work / CHECKPOINT

    @classmethod
    @contextmanager
    def opened(cls, path: Path, *, resume: bool = False) -> Iterator[RunFolder]:
        """Take a place for a run; what was made and is still empty at the end is removed.

        Raises:
            InputError: the place is taken, can't be written to, or holds a run that was cut off and ``resume`` is not
                asked for.
        """
        with prefix_errors(path):
            target = Path(os.path.abspath(path))
            taken = target.exists()
            if taken and not resume:
                raise InputError("exists already: choose another folder for the run")
            if taken and not (target / RECORD).is_file():
                raise InputError(f"is not a run folder: it has no {RECORD}")
            _check_parent(path.parent)
            folder = cls(path, path if taken else path.with_name(f".{target.name}.part"))
            if folder.checkpoint.exists() and not resume:
                raise InputError(f"a run was cut off here: go on with --resume, or remove {folder.work} to begin again")
            folder.work.mkdir(exist_ok=True)
        try:
            yield folder
        finally:
            if folder.work != path and folder.work.is_dir() and not any(folder.work.iterdir()):
                folder.work.rmdir()

    def finish(
        self,
        sanitation: Sanitation,
        source: Mapping[str, Any],
        *,
        status: Status = "complete",
    ) -> None:
        """Write the run; a complete one has no checkpoint. Its report is the caller's business.

        Args:
            sanitation: what was done.
            source: what the graph was read from.
            status: whether all of it was done.
        """
        about = record(sanitation, source, status)
        save_graph(sanitation.graph, self.work / GRAPH)
        graph, added = sanitation.poisoned, {}
        if len(sanitation.added):
            added = {self.work / ADDED: edges_csv(graph, sanitation.added, sanitation.added_scores, {})}
        write_files(
            {
                self.work / REMOVED: edges_csv(graph, sanitation.removed, sanitation.scores, sanitation.evidence),
                **added,
                self.work / TRACE: _csv(sanitation.trace),
                self.work / RECORD: _json(about),
            }
        )
        if self.work != self.path:
            with prefix_errors(self.path):
                os.rename(self.work, self.path)
        (self.path / MISSING).unlink(missing_ok=True)  # it told of the graph as it was before
        if status == "complete":
            (self.path / CHECKPOINT).unlink(missing_ok=True)


def _check_parent(parent: Path) -> None:
    if not parent.is_dir():
        raise InputError(f"can't be written: {parent} {'is not a folder' if parent.exists() else 'does not exist'}")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"can't be written: {parent} is not writable")


def free_path(graph: str, method: str) -> Path:
    """``runs/GRAPH-METHOD``, with the first number from 2 on that is free where that is taken."""
    stem = f"{Path(graph).stem}-{method}"
    number = 1
    while True:
        path = Path("runs") / (stem if number == 1 else f"{stem}-{number}")
        if not path.exists() and not path.with_name(f".{path.name}.part").exists():
            return path
        number += 1


def write_run(sanitation: Sanitation, path: str | os.PathLike[str], *, source: Mapping[str, Any] | None = None) -> None:
    """Write a run folder; it must not exist.

    Args:
        sanitation: what was done.
        path: the folder.
        source: what the graph was read from, as `run.json` is to say it.
    """
    with RunFolder.opened(Path(path)) as folder:
        folder.finish(sanitation, source or {})


# Writing -------------------------------------------------------------------------------------------------------------


def record(sanitation: Sanitation, source: Mapping[str, Any], status: Status) -> dict[str, Any]:
    """What `run.json` says."""
    graph = sanitation.poisoned
    return {
        "status": status,
        "method": sanitation.method,
        "settings": dict(sanitation.settings),
        "budget": sanitation.budget,
        "auto_budget": sanitation.auto,
        "removed": len(sanitation.removed),
        "added": len(sanitation.added),
        "estimate": None if sanitation.estimate is None else _rounded(sanitation.estimate),
        "seed": sanitation.seed,
        "seconds": round(sanitation.seconds, 3),
        "input": {
            **source,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "fingerprint": graph.fingerprint(),
        },
        "versions": {
            "focusedcleaner": version("focusedcleaner"),
            "python": platform.python_version(),
            **{package: version(package) for package in ("torch", "numpy", "scipy")},
        },
    }


def _rounded(estimate: Estimate) -> dict[str, float]:
    return {name: round(value, 1) for name, value in vars(estimate).items()}


def _json(thing: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(thing, indent=2, ensure_ascii=False)}\n".encode()


def edges_csv(graph: Graph, edges: IntArray, scores: FloatArray, evidence: Mapping[str, NDArray[Any]]) -> bytes:
    """A table of edges: rank, both ends by the ids of the graph's owner, score, and a column per kind of evidence."""
    u, v = ([graph.name(node) for node in ends] for ends in edges.reshape(-1, 2).T)
    return _csv({"rank": np.arange(1, len(u) + 1), "u": u, "v": v, "score": scores, **evidence})


def _csv(columns: Mapping[str, Iterable[Any]]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*([_cell(value) for value in column] for column in columns.values()), strict=True))
    return buffer.getvalue().encode()


def _cell(value: Any) -> str:
    """A number in nine digits, a row of numbers in four decimals each, joined by semicolons."""
    if isinstance(value, np.ndarray):
        return ";".join(f"{part:.4f}" for part in value)
    return f"{value:.9g}" if isinstance(value, float | np.floating) else str(value)


# Reading -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A run folder that was read."""

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
    """A × 2 node numbers: edges that were inserted, in their order."""
    added_scores: FloatArray = field(default_factory=no_scores)

    @property
    def complete(self) -> bool:
        return bool(self.record["status"] == "complete")

    @cached_property
    def poisoned(self) -> Graph:
        """The graph as it was before."""
        return self.graph.without_edges(self.added).with_edges(self.removed)


def asked_budget(record: Mapping[str, Any]) -> int | str:
    """The budget that a run was given: a number of edges, or "auto"."""
    budget: int | str = AUTO if record.get("auto_budget") else record["budget"]
    return budget


def check_same(path: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to go on with a run other than the one whose record is there, saying what differs.

    Args:
        path: the run folder.
        before: its record.
        now: method, settings, budget ("auto" where the method chooses), seed and the graph's fingerprint.
    """
    before = {**before, "budget": asked_budget(before)}
    for key in _SAME:
        if before[key] != now[key]:
            was, is_now = _difference(before[key], now[key])
            raise InputError(f"{path} was made with {key} {was}, not {is_now}: resume with the same")
    if before["input"].get("fingerprint") != now["fingerprint"]:
        raise InputError(f"{path} was made from another graph or another split: resume with the same")


def _difference(was: Any, now: Any) -> tuple[str, str]:
    """Two settings in words: where both are dicts, their first difference alone."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in {**was, **now}:
            if was.get(key) != now.get(key):
                inner = _difference(was.get(key), now.get(key))
                return f"{key} {inner[0]}", inner[1]
    return str(was), str(now)


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a run folder, complete or interrupted."""
    folder = Path(path)
    if not folder.exists():
        raise InputError(f"{folder}: there is no such run folder")
    if not folder.is_dir() or not (folder / RECORD).is_file():
        raise InputError(f"{folder}: is not a run folder: it has no {RECORD}")
    about = read_record(folder)
    graph = load_graph(folder / GRAPH)
    removed, values = read_edges(folder / REMOVED, graph)
    if about["removed"] != len(removed):
        raise InputError(f"{folder}: {RECORD} tells of {about['removed']} removed edges, {REMOVED} of {len(removed)}")
    added, more = no_pairs(), {"score": no_scores()}
    if about.get("added"):
        added, more = read_edges(folder / ADDED, graph)
        if about["added"] != len(added):
            raise InputError(f"{folder}: {RECORD} tells of {about['added']} added edges, {ADDED} of {len(added)}")
    return Run(folder, about, graph, removed, values.pop("score"), values, added, more["score"])


def read_edges(path: Path, graph: Graph) -> tuple[IntArray, dict[str, NDArray[Any]]]:
    """The edges of a table by their nodes' numbers, and its other columns."""
    with prefix_errors(path):
        rows = list(csv.reader(io.StringIO(read_text(path), newline="")))
        if not rows or rows[0][:4] != ["rank", "u", "v", "score"]:
            raise InputError("its columns must begin with rank, u, v, score")
        if any(len(row) != len(rows[0]) for row in rows):
            raise InputError("a row has too few or too many cells")
        columns = dict(zip(rows[0], zip(*rows[1:], strict=True), strict=False)) or dict.fromkeys(rows[0], ())
        edges = _numbers_of(graph, columns["u"], columns["v"])
        try:
            return edges, {name: _values(columns.get(name, ())) for name in rows[0][3:]}
        except ValueError:
            raise InputError("a score or a piece of evidence is not a number") from None


def read_record(folder: Path) -> dict[str, Any]:
    """Read `run.json`."""
    with prefix_errors(folder / RECORD):
        try:
            about = json.loads(read_text(folder / RECORD))
        except (json.JSONDecodeError, RecursionError):
            raise InputError("is not JSON") from None
        needed = {"status", "removed", "input", *_SAME}
        if not isinstance(about, dict) or not needed <= set(about) or not isinstance(about["input"], dict):
            raise InputError("is not the record of a run")
        return about


def read_trace(folder: Path) -> dict[str, list[float]]:
    """Read `trace.csv`: a list of numbers per column; nothing where a method left no trace."""
    with prefix_errors(folder / TRACE):
        rows = list(csv.reader(io.StringIO(read_text(folder / TRACE), newline="")))
        try:
            columns = [[float(cell) for cell in column] for column in zip(*rows[1:], strict=True)]
        except ValueError:
            raise InputError("is not a table of numbers") from None
    return dict(zip(rows[0], columns, strict=False)) if rows else {}


def _values(cells: Iterable[str]) -> NDArray[Any]:
    rows = [[float(part) for part in cell.split(";")] for cell in cells]
    table = np.array(rows, dtype=np.float64)
    return table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table


def _numbers_of(graph: Graph, *ends: Iterable[str]) -> IntArray:
    """Node numbers of ids as text, one column for each of ``ends``."""
    number: dict[Hashable, int] = {str(graph.name(node)): node for node in range(graph.num_nodes)}
    try:
        found = [[number[text] for text in column] for column in ends]
    except KeyError as missing:
        raise InputError(f"names node {missing}, which the cleaned graph has not") from None
    return np.array(found, dtype=np.int64).T.reshape(-1, len(ends))
