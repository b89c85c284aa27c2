"""``focusedcleaner sanitize``: clean a graph and write a run folder."""

from __future__ import annotations

import json as json_format
import math
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from focusedcleaner.budget import AUTO
from focusedcleaner.cli.console import (
    Stopped,
    count,
    edge_list,
    heading,
    note,
    percent,
    print_json,
    print_pointers,
    progress_bar,
    resume_command,
    screen,
)
from focusedcleaner.cli.inputs import read_graph, read_graph_with_split, source_record
from focusedcleaner.cli.options import GraphSource
from focusedcleaner.cli.report import write_run_report
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import estimate_in_words
from focusedcleaner.graph import Graph
from focusedcleaner.runs.folder import ADDED, GRAPH, RECORD, REMOVED, REPORT, RunFolder, Status, free_path
from focusedcleaner.runs.reading import Run, check_same_configuration, read_record, read_run, requested_budget
from focusedcleaner.sanitizers import SANITIZERS, Interrupted, Sanitation, Sanitizer, sanitizer, sanitizer_for
from focusedcleaner.sanitizers.base import check_sanitizable
from focusedcleaner.scoring import aligned
from focusedcleaner.settings import parse_pairs

TOP = 5
"""Removed edges that the summary shows."""


def run(
    ctx: typer.Context,
    source: GraphSource,
    method: str,
    budget: str | None,
    out: Path | None,
    settings: list[str] | None,
    edges_per_round: int | None,
    resume: bool,
    truth: str | None,
    seed: int,
    json: bool,
) -> None:
    """Check the options, clean the graph, write the run folder and print the result."""
    pairs = [*(settings or []), *([] if edges_per_round is None else [f"edges_per_round={edges_per_round}"])]
    values = parse_pairs(pairs)
    if method != AUTO:
        sanitizer(method, **values)  # refuses a wrong setting before the graph is read
    if resume and out is None:
        raise InputError("--resume needs --out: the folder of the interrupted run")
    with ExitStack() as stack:
        if out is None:
            stack.enter_context(runs_folder())
        else:
            folder = stack.enter_context(RunFolder.opened(out, resume=resume))
        graph = read_graph_with_split(source, seed)
        chosen = sanitizer_for(graph, method, values)
        clean = None if truth is None else aligned(read_graph(GraphSource(truth)), graph)
        if out is None:
            folder = stack.enter_context(RunFolder.opened(free_path(source.graph, chosen.name)))
        earlier = _earlier_record(folder, chosen, graph, budget, seed, resume)
        if earlier is None or earlier["status"] != "complete":
            again = resume_command(ctx.obj, *(["--out", str(folder.path)] if out is None else []))
            record = source_record(source)
            seconds_before = float(earlier["seconds"]) if earlier and folder.checkpoint.exists() else 0.0

            def save(sanitation: Sanitation, status: Status) -> None:
                timed = replace(sanitation, seconds=seconds_before + sanitation.seconds)
                folder.finish(timed, record, status=status)
                write_run_report(folder.path, clean)

            _compute(chosen, graph, budget, seed, folder, save, again)
        elif clean is not None:
            write_run_report(folder.path, clean)
    finished = read_run(folder.path)
    if json:
        keys = ("method", "budget", "removed", *(("added",) if len(finished.added) else ()), "seconds")
        print_json({key: finished.record[key] for key in keys} | {"out": str(folder.path)})
    else:
        _show(finished)


@contextmanager
def runs_folder() -> Iterator[None]:
    """Make the folder ``runs``; remove it again if it stays empty."""
    folder = Path("runs")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {folder} can't be made: {error.strerror}; --out names another") from None
    try:
        yield
    finally:
        if not any(folder.iterdir()):
            folder.rmdir()


def _earlier_record(
    folder: RunFolder, method: Sanitizer, graph: Graph, budget: str | None, seed: int, resume: bool
) -> Mapping[str, Any] | None:
    """The record of the run to resume, if there is one; its configuration must be the same."""
    if not (folder.work / RECORD).is_file():
        if resume and not folder.checkpoint.exists():
            note(f"there is no run in {folder.path} to resume, so the run starts from the beginning")
        return None
    check_sanitizable(graph)
    allowed = method.allowed(graph, budget)
    configuration = {
        "method": method.name,
        "settings": json_format.loads(json_format.dumps(method.settings())),
        "budget": AUTO if allowed is None else allowed,
        "seed": seed,
        "fingerprint": graph.fingerprint(),
    }
    record = read_record(folder.work)
    check_same_configuration(folder.path, record, configuration)
    if record["status"] == "complete":
        note(f"{folder.path} is complete already")
    elif not folder.checkpoint.exists():
        note(f"{folder.path} has lost its checkpoint, so the run starts from the beginning")
    return record


def _compute(
    method: Sanitizer,
    graph: Graph,
    budget: str | None,
    seed: int,
    folder: RunFolder,
    save: Callable[[Sanitation, Status], None],
    again: str,
) -> None:
    """Clean the graph and save the result; after Ctrl-C, the result so far."""
    try:
        with progress_bar("Removing edges") as progress:
            sanitation = method.sanitize(graph, budget, seed=seed, progress=progress, checkpoint=folder.checkpoint)
    except Interrupted as stop:
        partial = stop.sanitation
        changed = len(partial.removed) + len(partial.added)
        if not changed:
            raise Stopped("interrupted before the first edge was removed; nothing was written") from None
        save(partial, "interrupted")
        edges = count(changed, "edge") if partial.auto else f"{changed:,} of {partial.budget:,} edges"
        raise Stopped(
            f"interrupted after {edges}; the result so far is in {folder.path}; continue with: {again}"
        ) from None
    except KeyboardInterrupt:
        kept = f"continue with: {again}" if folder.checkpoint.exists() else "nothing was written"
        raise Stopped(f"interrupted; {kept}") from None
    save(sanitation, "complete")


def _show(run: Run) -> None:
    """Print what was done, the first removed edges, and where the results are."""
    console = screen()
    method, record = run.record["method"], run.record
    added = f" and added {len(run.added):,} others" if len(run.added) else ""
    console.print(heading(f"Removed {len(run.removed):,} of {run.poisoned.num_edges:,} edges{added}"))
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    facts.add_row("method", f"{method}: {SANITIZERS[method].summary}" if method in SANITIZERS.names() else method)
    facts.add_row("budget", _budget(run))
    if record.get("estimate"):
        facts.add_row("planted", estimate_in_words(record["estimate"], run.poisoned.num_edges))
    facts.add_row("time", f"{record['seconds']:.1f} s")
    if not math.isnan(run.poisoned.homophily):
        facts.add_row(
            "same class",
            f"{percent(run.poisoned.homophily)} of the edges before, {percent(run.graph.homophily)} after "
            "(where both classes are known)",
        )
    console.print(facts)
    console.print()
    if len(run.removed):
        console.print(heading("The first edges that were removed"))
        console.print(edge_list(run.graph, run.removed[:TOP], run.evidence, run.scores))
        console.print()
    path = shlex.quote(str(run.path))
    print_pointers(
        "Results",
        (str(run.path / REPORT), "the report: open it in a browser"),
        (str(run.path / REMOVED), "every removed edge, with its evidence"),
        *([(str(run.path / ADDED), "every added edge")] if len(run.added) else []),
        (str(run.path / GRAPH), "the cleaned graph"),
        (f"focusedcleaner review {path}", "judge the edges one by one"),
        (f"focusedcleaner score {path} --truth CLEAN", "compare with the clean graph, if you have it"),
    )


def _budget(run: Run) -> str:
    """The budget and, if not all of it was used, the reason."""
    budget, changed = run.record["budget"], len(run.removed) + len(run.added)
    if requested_budget(run.record) == AUTO:
        return f"{count(changed, 'edge')}, as the method chose"
    shortfall = f"; after {changed:,} no candidate was left" if changed < budget else ""
    return f"{count(budget, 'edge')}{shortfall}"
