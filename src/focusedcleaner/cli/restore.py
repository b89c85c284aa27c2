"""``focusedcleaner restore``: edges that the attacker may have removed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from focusedcleaner.budget import edges_allowed
from focusedcleaner.cli.console import count, note, percent, print_json, progress_bar, screen
from focusedcleaner.cli.review import check_output
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import readable, why
from focusedcleaner.io import SUFFIXES, save_graph
from focusedcleaner.restore import Missing, missing_edges
from focusedcleaner.runs import GRAPH, MISSING, Run, read_run
from focusedcleaner.runs.missing import write_missing

TOP = 10


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    folder: Path
    limit: str
    seed: int
    out: Path | None
    force: bool


def run(request: Request, *, json: bool) -> None:
    """Check everything, look for missing edges, write them down; insert them only where a file was asked for."""
    done = read_run(request.folder)
    edges_allowed(request.limit, done.graph.num_edges, what="limit")
    if request.out is not None:
        if request.out.resolve() == (request.folder / GRAPH).resolve():
            raise InputError(f"{request.out}: is the run's cleaned graph itself: choose another name")
        check_output(request.out, force=request.force, kinds=SUFFIXES)
    if not done.complete:
        note(f"{request.folder} was interrupted: its graph is cleaned in part")
    with progress_bar("Hiding edges and finding them again") as progress:
        missing = missing_edges(done.graph, request.limit, seed=request.seed, excluded=done.removed, progress=progress)
    write_missing(done, missing)
    if request.out is not None:
        save_graph(done.graph.with_edges(missing.pairs), request.out)
    if json:
        print_json(_fields(request, missing))
    else:
        _show(request, done, missing)


def _fields(request: Request, missing: Missing) -> dict[str, object]:
    return {
        "proposed": len(missing.pairs),
        "candidates": missing.candidates,
        "reach": missing.reach,
        "seed": request.seed,
        "missing": str(request.folder / MISSING),
        "out": None if request.out is None else str(request.out),
    }


def _show(request: Request, done: Run, missing: Missing) -> None:
    console = screen()
    title = f"{count(len(missing.pairs), 'edge')} that may be missing"
    console.print(Text(title, style="bold"))
    console.print(
        f"The likeliest of {count(missing.candidates, 'pair')}, among which were {percent(missing.reach)} of the edges "
        "hidden on trial. Where few edges are missing, most proposals are wrong.\n"
    )
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right", style="dim")
    table.add_column(no_wrap=True)
    table.add_column()
    for row, (u, v) in enumerate(missing.pairs[:TOP]):
        ends = f"{readable(done.graph.name(u))} – {readable(done.graph.name(v))}"
        table.add_row(str(row + 1), ends, why(done.graph, missing.evidence, missing.scores, row, (u, v)))
    if len(missing.pairs):
        console.print(table)
        console.print()
    console.print(
        Text.assemble(f"{request.folder / MISSING}  ", ("every proposal, with the evidence", "dim")), soft_wrap=True
    )
    if request.out is None:
        console.print(Text("Nothing was inserted; --out GRAPH.npz writes the cleaned graph with them.", style="dim"))
    else:
        console.print(Text.assemble(f"{request.out}  ", ("the cleaned graph with all of them", "dim")), soft_wrap=True)
