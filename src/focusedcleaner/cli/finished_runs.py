"""The commands on a finished run: ``score``, ``report`` and ``restore``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.text import Text

from focusedcleaner import scoring
from focusedcleaner.budget import edges_allowed
from focusedcleaner.cli.console import edge_list, note, print_json, progress_bar, results_table, screen
from focusedcleaner.cli.inputs import check_output, read_truth
from focusedcleaner.cli.options import ReportOptions, RestoreOptions, ScoreOptions
from focusedcleaner.cli.signals import deferred
from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.formatting import count, percent
from focusedcleaner.graph import Graph
from focusedcleaner.io import SUFFIXES, check_savable, save_graph
from focusedcleaner.io.transaction import write_files
from focusedcleaner.report import write_report
from focusedcleaner.restore import Missing, missing_edges
from focusedcleaner.runs import (
    GRAPH,
    MISSING,
    REPORT,
    Run,
    opened_run,
    original_for,
    read_missing,
    read_run,
    write_missing,
)
from focusedcleaner.scoring import Score

SHOWN_PROPOSALS = 10


def _clean_graph(truth: str, options: ScoreOptions | ReportOptions, run: Run) -> Graph:
    more = {name: getattr(options, name) for name in ("nodes", "adjacency", "largest_component")}
    return read_truth(truth, options, run.poisoned, **more)


def score(options: ScoreOptions) -> None:
    """Score a run, and the proposals of `restore` if there are any."""
    run = read_run(options.run_folder)
    if not run.complete:
        total = "" if run.record.get("auto_budget") else f" of {run.record['budget']:,}"
        note(f"{run.path} was interrupted: {run.record['removed']:,}{total} edges were removed")
    clean = _clean_graph(options.truth, options, run)
    result = scoring.score(run.removed, poisoned=run.poisoned, clean=clean)
    proposed = read_missing(run)
    restored = None if proposed is None else scoring.score_restored(proposed, poisoned=run.poisoned, clean=clean)
    if options.json:
        fields: dict[str, object] = {**result.to_dict()}
        if restored is not None:
            fields["restored"] = {
                name: getattr(restored, name) for name in ("precision", "recall", "cut", "proposed", "hits")
            }
        print_json(fields)
        return
    _show_score(result)
    if restored is not None:
        screen().print(
            f"\n{count(restored.cut, 'edge')} had been cut by the attacker; restore proposed {restored.proposed:,}, "
            f"{restored.hits:,} of them rightly:\n"
            f"precision {percent(restored.precision)}, recall {percent(restored.recall)}."
        )


def _show_score(result: Score) -> None:
    console = screen()
    console.print(
        f"{count(result.attacked, 'edge')} had been planted, {result.removed:,} were removed; "
        f"{result.hits:,} of the removed edges had been planted.\n"
    )
    table = results_table("", "this run", "oracle")
    table.add_column("definition", style="dim")
    for name, metric, definition in (
        ("ESR", "esr", "planted and removed, of all edges planted or removed"),
        ("F1", "f1", "the harmonic mean of precision and recall"),
        ("precision", "precision", "planted, of all removed edges"),
        ("recall (CR)", "cr", "removed, of all planted edges"),
    ):
        values = (percent(getattr(one, metric)) for one in (result, result.oracle))
        table.add_row(Text(name, style="bold"), *values, definition)
    console.print(table)
    console.print_dim("\nThe oracle knows the clean graph and removes as many edges, planted ones first.")


def report(options: ReportOptions) -> None:
    """Write the report and print its path."""
    with opened_run(options.run_folder) as run:
        default = run.path / REPORT
        path = options.out or default
        with prefix_errors(path):
            if path.exists() and path.resolve() != default.resolve():
                raise InputError("exists already: choose another file for the report")
            if not path.parent.is_dir():
                raise InputError(f"there is no folder {path.parent}")
        clean = None if options.truth is None else _clean_graph(options.truth, options, run)
        write_report(run, path, truth=clean)
    if options.json:
        print_json({"report": str(path)})
    else:
        screen().print_line(str(path))


def restore(options: RestoreOptions) -> None:
    """Check the options, rank the missing edges and write them; insert them only into ``out``."""
    out = options.out
    with opened_run(options.run_folder) as run:
        edges_allowed(options.limit, run.graph.num_edges, what="limit")
        if out is not None:
            if out.resolve() == (run.path / GRAPH).resolve():
                raise InputError(f"{out}: is the run's cleaned graph itself: choose another name")
            check_output(out, force=options.force, suffixes=SUFFIXES)
            check_savable(run.graph, out)
            original = original_for(run, out)
        if not run.complete:
            note(f"{run.path} was interrupted: its graph is only partly cleaned")
        with progress_bar("Hiding edges and finding them again") as progress:
            missing = missing_edges(
                run.graph, options.limit, seed=options.seed, excluded=run.removed, progress=progress
            )
        with deferred():
            write_missing(run, missing)
            if out is not None:
                if original is None:
                    save_graph(run.graph.with_edges(missing.pairs), out)
                else:
                    added = np.concatenate([run.added, missing.pairs])
                    write_files({out: original.content(run.poisoned, run.removed, added)})
    if options.json:
        print_json(
            {
                "proposed": len(missing.pairs),
                "candidates": missing.candidates,
                "reach": missing.reach,
                "seed": options.seed,
                "missing": str(run.path / MISSING),
                "out": None if out is None else str(out),
            }
        )
    else:
        _show_missing(run, missing, out)


def _show_missing(run: Run, missing: Missing, out: Path | None) -> None:
    console = screen()
    console.print_heading(f"{count(len(missing.pairs), 'edge')} that may be missing")
    console.print(
        f"The likeliest of {count(missing.candidates, 'candidate')}, which included {percent(missing.reach)} of the "
        "edges hidden on trial. If few edges are missing, most proposals are wrong.\n"
    )
    if len(missing.pairs):
        pairs = missing.pairs[:SHOWN_PROPOSALS]
        console.print(edge_list(run.graph, pairs, missing.evidence, missing.scores, planted=False), "")
    console.print_line(f"{run.path / MISSING}  ", "every proposal, with its evidence")
    if out is None:
        console.print_dim("Nothing was inserted; --out GRAPH.npz writes the graph with the proposals.")
    else:
        console.print_line(f"{out}  ", "the cleaned graph with all proposals")
