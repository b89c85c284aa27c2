"""``focusedcleaner score``: a run against the truth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.table import Table
from rich.text import Text

from focusedcleaner.cli.console import count, note, percent, print_json, screen
from focusedcleaner.cli.inputs import Given
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.runs import read_run
from focusedcleaner.scoring import Score
from focusedcleaner.scoring import score as compare


def run(folder: Path, truth: Given, *, json: bool) -> None:
    """Score a run folder."""
    done = read_run(folder)
    if not done.complete:
        note(f"{folder} was interrupted: {done.record['removed']:,} of {done.record['budget']:,} edges were removed")
    clean = aligned(truth.read(), done.poisoned)
    found = compare(done.removed, poisoned=done.poisoned, clean=clean)
    if json:
        print_json(fields(found))
    else:
        show(found)


def fields(found: Score) -> dict[str, float]:
    """What ``--json`` prints."""
    names = ("esr", "f1", "cr", "oracle_esr", "attacked", "removed", "hits")
    return {name: getattr(found, name) for name in names}


def aligned(truth: Graph, graph: Graph) -> Graph:
    """The truth with its nodes numbered as the graph's: by their names, or as they are where one has no names."""
    known = {truth.name(node): node for node in range(truth.num_nodes)}
    wanted = [graph.name(node) for node in range(graph.num_nodes)]
    both = truth.names is not None and graph.names is not None
    if truth.num_nodes != graph.num_nodes:
        raise InputError(
            f"the truth has {truth.num_nodes:,} nodes and the run's graph {graph.num_nodes:,}: they can't be compared"
        )
    missing = [name for name in wanted if name not in known]
    if missing and both:
        raise InputError(f"the truth has no node {missing[0]!r}, but the run's graph has: they can't be compared")
    if missing or (truth.names is None and graph.names is None):
        return truth
    number = np.empty(truth.num_nodes, dtype=np.int64)
    number[[known[name] for name in wanted]] = np.arange(truth.num_nodes)
    edges = Graph.from_pairs(truth.num_nodes, number[truth.edges]).edges
    return replace(Graph(truth.num_nodes, edges), names=graph.names)


def show(found: Score) -> None:
    """A small table, the oracle's figures beside ours."""
    console = screen()
    console.print(
        f"{count(found.attacked, 'edge')} had been planted, {found.removed:,} were removed, "
        f"{found.hits:,} of them rightly.\n"
    )
    # The oracle removes as many edges, planted ones first.
    best = Score(found.attacked, found.removed, min(found.attacked, found.removed))
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    table.add_column("this run", justify="right")
    table.add_column("oracle", justify="right")
    table.add_column("what it is", style="dim")
    rows = (
        ("ESR", found.esr, found.oracle_esr, "rightly removed, of all removed or planted"),
        ("F1", found.f1, best.f1, "the same, as a harmonic mean"),
        ("CR", found.cr, best.cr, "rightly removed, of all planted"),
    )
    for name, ours, oracle, meaning in rows:
        table.add_row(Text(name, style="bold"), percent(ours), percent(oracle), meaning)
    console.print(table)
    console.print(Text("\nThe oracle knows the truth and removes as many edges.", style="dim"))
