"""Run folders: the result of a sanitation on disk, complete or absent.

    run.json        settings, versions, input, timings
    removed.csv     the removed edges in order of removal, each with its score and its evidence
    added.csv       the inserted edges with their scores, if there are any
    suspects.csv    the most suspicious edges that were not removed, if the method lists them
    scores.csv      every edge with its score, the highest first, if `sanitize --scores` asked for it
    sanitized.npz   the cleaned graph
    sanitized.csv   the file that the graph was read from, or .tsv, .txt, .parquet, .graphml, without the removed edges
    trace.csv       one row per round
    report.html     the report, which the command line writes
    missing.csv     edges that the attacker may have removed, if `restore` was run
    checkpoint.npz  the state to resume from, while the run is interrupted

A run on a graph folder has Parquet files instead (`run_columns`) and names the folder, which it needs to be read.

A run is written into a hidden folder beside its final place (``.RUN.part``), which is renamed at the end. A resumed run
replaces the files of its own folder in one transaction. Whoever writes a run has its folder locked from the beginning.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.errors import InputError, ResumableRun, prefix_errors
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs, pair_keys
from focusedcleaner.io import TableOptions, graph_files, load_npz
from focusedcleaner.io.original import ORIGINAL_SUFFIXES, Original, open_original
from focusedcleaner.io.transaction import JOURNAL, locked, recover, remove_litter, sync_folder, write_files
from focusedcleaner.restore.missing import Missing
from focusedcleaner.run_columns import as_parquet, read_edge_columns, stored_graph, stored_place, stored_run_files
from focusedcleaner.run_record import RECORD, Status, make_record, read_record
from focusedcleaner.run_tables import edge_table, read_edge_table, read_rows, table
from focusedcleaner.sanitizers.sanitation import Sanitation, no_scores
from focusedcleaner.verdict import Estimate, Verdict

CLEANED = "sanitized"
REMOVED, ADDED, SUSPECTS, GRAPH, TRACE = "removed.csv", "added.csv", "suspects.csv", "sanitized.npz", "trace.csv"
CHECKPOINT, REPORT, MISSING, SCORES = "checkpoint.npz", "report.html", "missing.csv", "scores.csv"
_POSITIONS = ("round", "removed", "added")


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
        """Reserve and lock the folder of a run; it is removed again if nothing was written.

        With ``resume``, a run that was written but not yet moved to its place is moved there.

        Raises:
            InputError: the folder exists, is in use, can't be written, or holds an interrupted run and ``resume`` is
                False.
        """
        with ExitStack() as stack:
            with prefix_errors(path):
                folder = cls._locked(path, resume, stack)
                recover(folder.work)
                remove_litter(folder.work)
                if folder.work != path and (folder.work / RECORD).is_file():
                    if not resume:
                        start = f"take it over with --resume, or remove {folder.work} to start again"
                        raise ResumableRun(f"a run was cut off here before its folder had its name: {start}")
                    folder = folder._moved()
                elif folder.checkpoint.exists() and not resume:
                    raise ResumableRun(
                        f"a run was interrupted here: continue it with --resume, or remove {folder.work} to start again"
                    )
            yield folder

    @classmethod
    def _locked(cls, path: Path, resume: bool, stack: ExitStack) -> RunFolder:
        """Check the place and lock its folder; start again if another process has moved that meanwhile."""
        target = Path(os.path.abspath(path))
        while True:
            exists = target.exists()
            if exists and not resume:
                if (target / CHECKPOINT).exists():
                    raise ResumableRun("holds an interrupted run: continue it with --resume, or choose another folder")
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
            with ExitStack() as attempt:
                if not exists:
                    folder.work.mkdir(exist_ok=True)
                held = attempt.enter_context(locked(folder.work))
                if not exists:
                    attempt.callback(_remove_if_empty, folder.work)
                if held and target.exists() == exists:
                    stack.push(attempt.pop_all())
                    return folder

    def _moved(self) -> RunFolder:
        """Give the finished folder its name."""
        os.rename(self.work, self.path)
        sync_folder(self.path.parent)
        return RunFolder(self.path, self.path)

    def finish(
        self,
        sanitation: Sanitation,
        source: Mapping[str, Any],
        *,
        status: Status = "complete",
        scores: bool = False,
        original: Original | None = None,
    ) -> None:
        """Write the run, without its report.

        Args:
            sanitation: the result.
            source: what the graph was read from.
            status: whether the run is complete.
            scores: whether to write the scores of all edges, if the method has them.
            original: the file that the graph was read from, to be written again without the removed edges.
        """
        graph = sanitation.poisoned
        place = stored_place(graph, self.path)
        record = json.dumps(make_record(sanitation, {**source, **place}, status), indent=2, ensure_ascii=False)
        files = {TRACE: table(sanitation.trace), RECORD: f"{record}\n".encode()}
        if place:
            files |= stored_run_files(sanitation, scores=scores)
        else:
            files |= self._tables(sanitation, original, scores=scores)
        old = {ADDED, SUSPECTS, SCORES, MISSING, REPORT, *([CHECKPOINT] if status == "complete" else [])}
        old |= {*map(as_parquet, (ADDED, SUSPECTS, SCORES)), *(f"{CLEANED}{suffix}" for suffix in ORIGINAL_SUFFIXES)}
        old -= files.keys()
        write_files(
            {self.work / name: files[name] for name in files},
            remove=[self.work / name for name in sorted(old)],
        )
        if self.work != self.path:
            with prefix_errors(self.path):
                self._moved()

    def _tables(self, sanitation: Sanitation, original: Original | None, *, scores: bool) -> dict[str, bytes]:
        """The tables of edges as CSV, and the cleaned graph."""
        graph = sanitation.poisoned
        details = {} if original is None else original.details(graph, sanitation.removed)
        files = {REMOVED: edge_table(graph, sanitation.removed, sanitation.scores, sanitation.evidence, details)}
        if len(sanitation.added):
            files[ADDED] = edge_table(graph, sanitation.added, sanitation.added_scores, {})
        if len(sanitation.suspects):
            columns = sanitation.suspect_scores, sanitation.suspect_evidence
            details = {} if original is None else original.details(graph, sanitation.suspects)
            files[SUSPECTS] = edge_table(graph, sanitation.suspects, *columns, details)
        if scores and sanitation.edge_scores is not None:
            edges, values, columns_of_all = sanitation.ranked_edges()
            numbers = {name: column * 1 for name, column in columns_of_all.items()}  # true as 1
            files[SCORES] = edge_table(graph, edges, values, numbers)
        files |= {path.name: content for path, content in graph_files(sanitation.graph, self.work / GRAPH).items()}
        if original is not None:
            suffix = original.path.suffix.lower()
            files[f"{CLEANED}{suffix}"] = original.content(graph, sanitation.removed, sanitation.added)
        return files


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


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
    suspects: IntArray = field(default_factory=no_pairs)
    """S × 2 node numbers: edges that were not removed, most suspicious first."""
    suspect_scores: FloatArray = field(default_factory=no_scores)
    suspect_evidence: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    stored: Graph | None = None
    """The graph before the sanitation, if it is that of a graph folder."""

    @property
    def complete(self) -> bool:
        return bool(self.record["status"] == "complete")

    @property
    def verdict(self) -> Verdict:
        """Whether edges were planted, as far as the method could tell."""
        fields = self.record["verdict"]
        if fields is None:
            return Verdict("uncertain", "this run was made before verdicts were kept")
        return Verdict.of(fields)

    @property
    def estimate(self) -> Estimate | None:
        """The number of planted edges, from methods that estimate it."""
        fields = self.record["estimate"]
        return None if fields is None else Estimate(*(fields[name] for name in ("number", "low", "high")))

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        return self.verdict.headline(self.estimate)

    @property
    def listing(self) -> str:
        """The file that lists the flagged edges: the removed ones or, where there are none, the suspects."""
        return self.table_name(SUSPECTS if self.record.get("suspects") and not self.record["removed"] else REMOVED)

    def table_name(self, name: str) -> str:
        """The file of a table: removed.csv, or removed.parquet in a run on a graph folder."""
        return name if self.stored is None else as_parquet(name)

    @cached_property
    def flagged(self) -> Run:
        """The run as reports and reviews show it: where nothing was removed, as if the suspects had been."""
        if self.listing == self.table_name(REMOVED):
            return self
        rest, scores, evidence = self.graph.without_edges(self.suspects), self.suspect_scores, self.suspect_evidence
        return replace(self, graph=rest, removed=self.suspects, scores=scores, evidence=evidence)

    @cached_property
    def poisoned(self) -> Graph:
        """The graph before the sanitation."""
        if self.stored is not None:
            return self.stored
        return self.graph.without_edges(self.added).with_edges(self.removed)


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a run folder, complete or interrupted; all its files must belong to one run."""
    while True:
        folder = _checked(Path(path))
        before = _state(folder)
        try:
            run = _read_files(folder)
        except InputError:
            if _state(folder) == before:
                raise
        else:
            if _state(folder) == before:
                return run


@contextmanager
def opened_run(path: str | os.PathLike[str]) -> Iterator[Run]:
    """Read a run folder, which no process can replace inside the block.

    Raises:
        InputError: the folder is no run, or a process is writing the run.
    """
    while True:
        folder = _checked(Path(path))
        with ExitStack() as stack:
            with prefix_errors(folder):
                held = stack.enter_context(locked(folder, shared=True))
            if held:
                yield read_run(path)
                return


def _checked(folder: Path) -> Path:
    """The folder itself, if it holds a run; one whose writing was cut off is completed."""
    if not folder.exists():
        raise InputError(f"{folder}: there is no such run folder")
    if folder.is_dir():
        recover(folder)
    if not folder.is_dir() or not (folder / RECORD).is_file():
        raise InputError(f"{folder}: is not a run folder: it has no {RECORD}")
    return folder


def _state(folder: Path) -> object:
    """Changes whenever the run in a folder is replaced."""
    try:
        about = (folder / RECORD).stat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns, (folder / JOURNAL).exists()


def _read_files(folder: Path) -> Run:
    record = read_record(folder)
    stored = stored_graph(folder, record["input"]) if "folder" in record["input"] else None
    graph = load_npz(folder / GRAPH, renumber=False) if stored is None else stored
    removed, scores, evidence = _listed(folder, record, graph, "removed", REMOVED)
    added, added_scores, _ = _listed(folder, record, graph, "added", ADDED)
    suspects = _listed(folder, record, graph, "suspects", SUSPECTS)
    if stored is not None:
        graph = stored.without_edges(removed).with_edges(added)
    run = Run(folder, record, graph, removed, scores, evidence, added, added_scores, *suspects, stored)
    pairs = np.sort(run.suspects, axis=1)
    if len(np.unique(pair_keys(pairs, graph.num_nodes))) < len(pairs) or not graph.has_edges(pairs).all():
        raise InputError(f"{folder / run.table_name(SUSPECTS)}: every line must be another edge of the cleaned graph")
    with prefix_errors(folder):
        fingerprint = run.poisoned.fingerprint()
        # A graph that still has a removed edge would have the same fingerprint.
        total = graph.num_edges + len(removed) - len(added)
        if total != run.poisoned.num_edges or fingerprint != record["input"].get("fingerprint", fingerprint):
            name = GRAPH if stored is None else run.table_name(REMOVED)
            raise InputError(f"{name} does not belong to this run: {RECORD} tells of another graph")
    return run


def _listed(
    folder: Path, record: Mapping[str, Any], graph: Graph, key: str, file: str
) -> tuple[IntArray, FloatArray, dict[str, NDArray[Any]]]:
    """The edges of a table with their scores and evidence; their number is as `run.json` says."""
    if not record[key] and file != REMOVED:
        return no_pairs(), no_scores(), {}
    if graph.stored is None:
        edges, columns = read_edge_table(folder / file, graph)
    else:
        edges, columns = read_edge_columns(folder / as_parquet(file), graph)
    if record[key] != len(edges):
        raise InputError(f"{folder}: {RECORD} tells of {record[key]} {key} edges, {file} of {len(edges)}")
    return edges, columns.pop("score"), columns


def original_suffix(run: Run) -> str | None:
    """The suffix of the file that the run's graph was read from; None if it is no file that can be written again."""
    source = run.record["input"]
    suffix = Path(str(source.get("graph", ""))).suffix.lower()
    known = suffix in ORIGINAL_SUFFIXES and isinstance(source.get("sha256"), str) and "adjacency" not in source
    return suffix if known else None


def original_for(run: Run, out: Path) -> Original | None:
    """The file that the run's graph was read from, opened again, if an output file is to be of its kind.

    Raises:
        InputError: it is gone, or another file is in its place. An npz file can do without: it loses weights and
            directions alone.
    """
    suffix = original_suffix(run)
    if suffix is None or out.suffix.lower() != suffix:
        return None
    try:
        return _original(run)
    except InputError:
        if suffix == ".npz":
            return None
        raise


def _original(run: Run) -> Original:
    source = run.record["input"]
    named = Path(str(source.get("graph", "")))
    places = [named, *(folder / named for folder in run.path.resolve().parents[:2])]
    path = next((place for place in places if place.is_file()), named)
    columns = source.get("columns", {})
    try:
        options = TableOptions(**columns)
    except TypeError:
        raise InputError(f"{run.path / RECORD}: its columns are not those of a table") from None
    try:
        return open_original(path, options, sha256=source.get("sha256"))
    except InputError as error:
        raise InputError(f"{error}: put back the file that the run was made from, or use --out with a .npz") from None


def read_trace(folder: Path) -> dict[str, list[float]]:
    """Read `trace.csv`: a list of numbers per column, empty if the method left no trace."""
    with prefix_errors(folder / TRACE):
        header, *rows = read_rows(folder / TRACE) or [[]]
        try:
            columns = [[float(cell) for cell in column] for column in zip(*rows, strict=True)]
        except ValueError:
            raise InputError("is not a table of numbers") from None
        trace = dict(zip(header, columns, strict=False))
        if not all(math.isfinite(value) for name in _POSITIONS for value in trace.get(name, ())):
            raise InputError(f"{', '.join(_POSITIONS)} must be numbers in every row")
    return trace


def write_missing(run: Run, missing: Missing) -> None:
    """Write the edges that `restore` proposes; earlier proposals are replaced."""
    write_files({run.path / MISSING: edge_table(run.graph, missing.pairs, missing.scores, missing.evidence)})


def read_missing(run: Run) -> IntArray | None:
    """The proposed pairs (M × 2, the likeliest first); None if `restore` has not been run."""
    path = run.path / MISSING
    if not path.exists():
        return None
    pairs, _ = read_edge_table(path, run.graph)
    with prefix_errors(path):
        if run.graph.has_edges(np.sort(pairs, axis=1)).any():
            raise InputError("proposes an edge that the cleaned graph has: it belongs to another run; restore again")
    return pairs
