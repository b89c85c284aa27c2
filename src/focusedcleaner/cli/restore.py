"""``focusedcleaner restore``: propose edges that the attacker may have removed."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from focusedcleaner.budget import edges_allowed
from focusedcleaner.cli.console import count, edge_list, heading, note, percent, print_json, progress_bar, screen
from focusedcleaner.cli.inputs import check_output
from focusedcleaner.errors import InputError
from focusedcleaner.io import SUFFIXES, save_graph
from focusedcleaner.restore import Missing, missing_edges
from focusedcleaner.runs.folder import GRAPH, MISSING, write_missing
from focusedcleaner.runs.reading import Run, read_run

TOP = 10


def run(run_folder: Path, limit: str, out: Path | None, force: bool, seed: int, json: bool) -> None:
    """Check the options, rank the missing edges and write them; insert them only into ``out``."""
    finished = read_run(run_folder)
    edges_allowed(limit, finished.graph.num_edges, what="limit")
    if out is not None:
        if out.resolve() == (run_folder / GRAPH).resolve():
            raise InputError(f"{out}: is the run's cleaned graph itself: choose another name")
        check_output(out, force=force, suffixes=SUFFIXES)
    if not finished.complete:
        note(f"{run_folder} was interrupted: its graph is only partly cleaned")
    with progress_bar("Hiding edges and finding them again") as progress:
        missing = missing_edges(finished.graph, limit, seed=seed, excluded=finished.removed, progress=progress)
    write_missing(run_folder, finished.graph, missing)
    if out is not None:
        save_graph(finished.graph.with_edges(missing.pairs), out)
    if json:
        print_json(
            {
                "proposed": len(missing.pairs),
                "candidates": missing.candidates,
                "reach": missing.reach,
                "seed": seed,
                "missing": str(run_folder / MISSING),
                "out": None if out is None else str(out),
            }
        )
    else:
        _show(finished, missing, out)


def _show(finished: Run, missing: Missing, out: Path | None) -> None:
    console = screen()
    console.print(heading(f"{count(len(missing.pairs), 'edge')} that may be missing"))
    console.print(
        f"The likeliest of {count(missing.candidates, 'candidate')}, which included {percent(missing.reach)} of the "
        "edges hidden on trial. If few edges are missing, most proposals are wrong.\n"
    )
    if len(missing.pairs):
        console.print(edge_list(finished.graph, missing.pairs[:TOP], missing.evidence, missing.scores))
        console.print()
    path = finished.path / MISSING
    console.print(Text.assemble(f"{path}  ", ("every proposal, with its evidence", "dim")), soft_wrap=True)
    if out is None:
        console.print(Text("Nothing was inserted; --out GRAPH.npz writes the graph with the proposals.", style="dim"))
    else:
        console.print(Text.assemble(f"{out}  ", ("the cleaned graph with all proposals", "dim")), soft_wrap=True)
