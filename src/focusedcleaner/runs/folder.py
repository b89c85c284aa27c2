"""Writing a run folder."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.io import save_graph
from focusedcleaner.io.disk import prefix_errors, write_files
from focusedcleaner.restore.missing import Missing
from focusedcleaner.sanitizers.base import Sanitation

RECORD, REMOVED, ADDED, GRAPH, TRACE = "run.json", "removed.csv", "added.csv", "sanitized.npz", "trace.csv"
CHECKPOINT, REPORT, MISSING = "checkpoint.npz", "report.html", "missing.csv"

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
            _check_parent(path.parent)
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
        """Write the run, without its report; a complete run has no checkpoint.

        Args:
            sanitation: the result.
            source: what the graph was read from.
            status: whether the run is complete.
        """
        graph = sanitation.poisoned
        record = json.dumps(run_record(sanitation, source, status), indent=2, ensure_ascii=False)
        save_graph(sanitation.graph, self.work / GRAPH)
        files = {REMOVED: edge_table(graph, sanitation.removed, sanitation.scores, sanitation.evidence)}
        if len(sanitation.added):
            files[ADDED] = edge_table(graph, sanitation.added, sanitation.added_scores, {})
        files |= {TRACE: _table(sanitation.trace), RECORD: f"{record}\n".encode()}
        write_files({self.work / name: content for name, content in files.items()})
        if self.work != self.path:
            with prefix_errors(self.path):
                os.rename(self.work, self.path)
        (self.path / MISSING).unlink(missing_ok=True)  # proposals for the graph as it was before
        if status == "complete":
            (self.path / CHECKPOINT).unlink(missing_ok=True)


def _check_parent(parent: Path) -> None:
    if not parent.is_dir():
        raise InputError(f"can't be written: {parent} {'is not a folder' if parent.exists() else 'does not exist'}")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"can't be written: {parent} is not writable")


def free_path(graph: str, method: str) -> Path:
    """``runs/GRAPH-METHOD``, or the first of ``runs/GRAPH-METHOD-2``, ``-3`` … that is free."""
    stem = f"{Path(graph).stem}-{method}"
    number = 1
    while True:
        path = Path("runs") / (stem if number == 1 else f"{stem}-{number}")
        if not path.exists() and not path.with_name(f".{path.name}.part").exists():
            return path
        number += 1


def write_run(sanitation: Sanitation, path: str | os.PathLike[str], *, source: Mapping[str, Any] | None = None) -> None:
    """Write a run folder, which must not exist.

    Args:
        sanitation: the result.
        path: the folder.
        source: what the graph was read from, for `run.json`.
    """
    with RunFolder.opened(Path(path)) as folder:
        folder.finish(sanitation, source or {})


def run_record(sanitation: Sanitation, source: Mapping[str, Any], status: Status) -> dict[str, Any]:
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


def write_missing(folder: Path, graph: Graph, missing: Missing) -> None:
    """Write the edges that `restore` proposes for a run's cleaned graph; earlier proposals are replaced."""
    write_files({folder / MISSING: edge_table(graph, missing.pairs, missing.scores, missing.evidence)})


def edge_table(graph: Graph, edges: IntArray, scores: FloatArray, evidence: Mapping[str, NDArray[Any]]) -> bytes:
    """Edges as CSV: rank, both ends by their names in the graph, score, and a column per kind of evidence."""
    u, v = ([graph.name(node) for node in ends] for ends in edges.reshape(-1, 2).T)
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
