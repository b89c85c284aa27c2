"""A run in words: what was done, to which edges, and why."""

from __future__ import annotations

import math
import shlex

from rich.table import Table
from rich.text import Text

from focusedcleaner.budget import AUTO
from focusedcleaner.cli.console import count, percent, screen
from focusedcleaner.formatting import estimate_in_words, why
from focusedcleaner.runs import ADDED, GRAPH, REMOVED, REPORT, Run, asked_budget
from focusedcleaner.sanitizers import SANITIZERS

TOP = 5


def show(run: Run) -> None:
    """A short summary for people."""
    console = screen()
    method = run.record["method"]
    inserted = f" and added {len(run.added):,} others" if len(run.added) else ""
    console.print(Text(f"Removed {len(run.removed):,} of {run.poisoned.num_edges:,} edges{inserted}", style="bold"))
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    about = SANITIZERS[method].summary if method in SANITIZERS.names() else ""
    facts.add_row("method", f"{method}: {about}" if about else method)
    facts.add_row("budget", _budget(run))
    if run.record.get("estimate"):
        facts.add_row("planted", estimate_in_words(run.record["estimate"], run.poisoned.num_edges))
    facts.add_row("time", f"{run.record['seconds']:.1f} s")
    if not math.isnan(run.poisoned.homophily):
        facts.add_row(
            "same class",
            f"{percent(run.poisoned.homophily)} of the edges before, {percent(run.graph.homophily)} after "
            "(where both classes are known)",
        )
    console.print(facts)
    console.print()
    if len(run.removed):
        console.print(_suspects(run))
        console.print()
    _print_places(run)


def _budget(run: Run) -> str:
    """The budget and, where not all of it was used, why."""
    budget, changed = run.record["budget"], len(run.removed) + len(run.added)
    if asked_budget(run.record) == AUTO:
        return f"{count(changed, 'edge')}, as the method chose"
    missing = f"; after {changed:,} no candidate was left" if changed < budget else ""
    return f"{count(budget, 'edge')}{missing}"


def _suspects(run: Run) -> Table:
    table = Table(
        title="Removed first", title_justify="left", title_style="bold", box=None, pad_edge=False, show_header=False
    )
    table.add_column(justify="right", style="dim")
    table.add_column(no_wrap=True)
    table.add_column()
    for row, (u, v) in enumerate(run.removed[:TOP]):
        table.add_row(
            str(row + 1),
            f"{run.graph.name(u)} – {run.graph.name(v)}",
            why(run.graph, run.evidence, run.scores, row, (u, v)),
        )
    return table


def _print_places(run: Run) -> None:
    console = screen()
    path = shlex.quote(str(run.path))
    lines = (
        (str(run.path / REPORT), "the report: open it in a browser"),
        (str(run.path / REMOVED), "every removed edge, with the evidence"),
        *([(str(run.path / ADDED), "every added edge")] if len(run.added) else []),
        (str(run.path / GRAPH), "the cleaned graph"),
        (f"focusedcleaner review {path}", "to judge the edges one by one"),
        (f"focusedcleaner score {path} --truth CLEAN", "if you know the clean graph"),
    )
    width = max(len(place) for place, _ in lines)
    console.print(Text("Look at", style="bold"))
    for place, what in lines:
        console.print(Text.assemble(f"{place:<{width}}  ", (what, "dim")), soft_wrap=True)
