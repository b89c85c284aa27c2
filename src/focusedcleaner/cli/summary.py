"""A run in words: what was done, to which edges, and why."""

from __future__ import annotations

import math
import shlex

from rich.table import Table
from rich.text import Text

from focusedcleaner.cli.console import percent, screen
from focusedcleaner.graph import Graph
from focusedcleaner.runs import GRAPH, REMOVED, Run
from focusedcleaner.sanitizers import SANITIZERS

TOP = 5


def show(run: Run) -> None:
    """A short summary for people."""
    console = screen()
    removed, budget = run.record["removed"], run.record["budget"]
    method = run.record["method"]
    console.print(Text(f"Removed {removed:,} of {run.poisoned.num_edges:,} edges", style="bold"))
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    about = SANITIZERS[method].summary if method in SANITIZERS.names() else ""
    facts.add_row("method", f"{method}: {about}" if about else method)
    stopped = "" if removed == budget else ", after which no candidate was left"
    facts.add_row("budget", f"{budget:,} edges{stopped}")
    facts.add_row("time", f"{run.record['seconds']:.1f} s")
    if not math.isnan(run.poisoned.homophily):
        facts.add_row(
            "same class",
            f"{percent(run.poisoned.homophily)} of the edges before, {percent(run.graph.homophily)} after "
            "(where both classes are known)",
        )
    console.print(facts)
    console.print()
    console.print(_suspects(run))
    console.print()
    _print_places(run)


def _suspects(run: Run) -> Table:
    table = Table(
        title="Removed first", title_justify="left", title_style="bold", box=None, pad_edge=False, show_header=False
    )
    table.add_column(justify="right", style="dim")
    table.add_column(no_wrap=True)
    table.add_column()
    for row, (u, v) in enumerate(run.removed[:TOP]):
        table.add_row(str(row + 1), f"{run.graph.name(u)} – {run.graph.name(v)}", why(run, row))
    return table


def _print_places(run: Run) -> None:
    console = screen()
    path = shlex.quote(str(run.path))
    lines = (
        (str(run.path / REMOVED), "every removed edge, with the evidence"),
        (str(run.path / GRAPH), "the cleaned graph"),
        (f"focusedcleaner score {path} --truth CLEAN", "if you know the clean graph"),
    )
    width = max(len(place) for place, _ in lines)
    console.print(Text("Look at", style="bold"))
    for place, what in lines:
        console.print(Text.assemble(f"{place:<{width}}  ", (what, "dim")), soft_wrap=True)


def why(run: Run, row: int) -> str:
    """The evidence against one edge in words, as far as the method gives it."""
    evidence = run.evidence
    words = []
    if "classes_u" in evidence and "classes_v" in evidence:
        one, other = (evidence[f"classes_{end}"][row] for end in "uv")
        first, second = (f"{_class(run.graph, int(p.argmax()))} ({100 * p.max():.0f} %)" for p in (one, other))
        if one.argmax() == other.argmax():
            words.append(f"both look like {first.rpartition(' (')[0]}")
        else:
            words.append(f"looks like {first} – {second}")
    if "common_neighbours" in evidence:
        shared = int(evidence["common_neighbours"][row])
        words.append("no common neighbour" if not shared else f"{shared} common neighbour{'s' if shared > 1 else ''}")
    if "attribute_similarity" in evidence:
        words.append(f"attributes {100 * evidence['attribute_similarity'][row]:.0f} % alike")
    return ", ".join(words) or f"score {run.scores[row]:.3g}"


def _class(graph: Graph, number: int) -> str:
    name = str(number) if graph.class_names is None else graph.class_names[number]
    return f"class {name}" if name.isdigit() else name
