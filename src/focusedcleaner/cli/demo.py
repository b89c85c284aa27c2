"""``focusedcleaner demo``: poison a real graph, clean it, show what happened."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.table import Table
from rich.text import Text

from focusedcleaner import datasets
from focusedcleaner.attacks import Poisoning, attack
from focusedcleaner.classifiers import classifier
from focusedcleaner.cli.console import Update, note, percent, print_json, progress_bar, screen
from focusedcleaner.cli.sanitize import parent_made
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.report import write_report
from focusedcleaner.runs import REPORT, RunFolder, free_path, read_run
from focusedcleaner.sanitizers import Sanitation, sanitizer
from focusedcleaner.scoring import Score, score

ATTACK, METHOD = "mettack", "cld"
POWER = BUDGET = "10%"
SEEDS = 3
"""Trainings of the GCN whose accuracies are averaged."""


@dataclass(frozen=True)
class Story:
    """Everything that the demo tells."""

    name: str
    folder: Path
    poisoning: Poisoning
    sanitation: Sanitation
    found: Score
    accuracy: dict[str, float]
    seconds: float

    @property
    def review(self) -> str:
        """The command that opens the run for a person to judge."""
        return f"focusedcleaner review {shlex.quote(str(self.folder))}"

    def graphs(self) -> dict[str, Graph]:
        return {"clean": self.poisoning.clean, "poisoned": self.poisoning.graph, "cleaned": self.sanitation.graph}


def run(*, seed: int, json: bool) -> None:
    """Tell the story; what was done stays in a run folder, with its report."""
    out = free_path("demo", METHOD)
    with parent_made(out, True), RunFolder.opened(out) as folder:
        story = _story(folder, seed)
    if json:
        print_json(_fields(story))
    else:
        _show(story)


def _story(folder: RunFolder, seed: int) -> Story:
    start = time.perf_counter()
    name, clean = _graph(seed)
    with progress_bar("Poisoning") as progress:
        poisoning = attack(ATTACK).poison(clean, POWER, seed=seed, progress=progress)
    with progress_bar("Cleaning") as progress:
        sanitation = sanitizer(METHOD).sanitize(poisoning.graph, BUDGET, seed=seed, progress=progress)
    found = score(sanitation.removed, poisoned=poisoning.graph, clean=clean)
    graphs = {"clean": clean, "poisoned": poisoning.graph, "cleaned": sanitation.graph}
    with progress_bar("Training GCNs") as progress:
        accuracy = _accuracies(graphs, seed, progress)
    folder.finish(sanitation, {"graph": name, "poisoned by": f"{ATTACK}, {POWER}"})
    write_report(read_run(folder.path), folder.path / REPORT, truth=clean)
    return Story(name, folder.path, poisoning, sanitation, found, accuracy, time.perf_counter() - start)


def _graph(seed: int) -> tuple[str, Graph]:
    """Cora, or a graph of its size where Cora can't be reached, with a split."""
    try:
        with progress_bar("Fetching Cora", bytes_=True) as progress:
            graph = datasets.load("cora", progress=progress)
        name = "Cora"
    except InputError as error:
        note(f"{error}; a synthetic graph of its size stands in")
        name = "Synthetic"
        graph = datasets.synthetic(2700, 4.0, 7, 0.81, 1433, words_per_node=18, seed=seed, with_split=False)
        graph = graph.largest_component()
    return name, graph.with_split(Split.random(graph.labels, seed=seed))  # type: ignore[arg-type]


def _accuracies(graphs: dict[str, Graph], seed: int, progress: Update) -> dict[str, float]:
    """The mean accuracy of a two-layer GCN on the test nodes of each graph."""
    found: dict[str, float] = {}
    for place, (name, graph) in enumerate(graphs.items()):
        runs = []
        for number in range(SEEDS):
            runs.append(classifier("gcn").fit(graph, seed=seed + number).accuracy(graph))
            progress(place * SEEDS + number + 1, len(graphs) * SEEDS)
        found[name] = float(np.mean(runs))
    return found


def _fields(story: Story) -> dict[str, object]:
    return {
        "graph": story.name.lower(),
        "planted": story.found.attacked,
        "removed": story.found.removed,
        "hits": story.found.hits,
        "esr": story.found.esr,
        "oracle_esr": story.found.oracle_esr,
        "accuracy": story.accuracy,
        "seconds": round(story.seconds, 3),
        "run": str(story.folder),
        "report": str(story.folder / REPORT),
        "review": story.review,
    }


def _show(story: Story) -> None:
    console = screen()
    clean, found = story.poisoning.clean, story.found
    console.print(Text(f"{story.name}, poisoned and cleaned", style="bold"))
    console.print(
        f"{clean.num_nodes:,} nodes, {clean.num_edges:,} edges, {clean.num_classes} classes. The classes of 20 % of "
        "the nodes are known; a graph neural network (GCN) is to tell the others.\n"
    )
    console.print(_edges(story))
    console.print()
    console.print(_graphs(story))
    console.print(
        f"\nESR, the share of rightly removed edges among all removed or planted ones, is {percent(found.esr)}. An "
        f"oracle that knows the planted edges and removes as many would reach {percent(found.oracle_esr)}."
    )
    console.print(Text(f"All of this took {story.seconds:.0f} s.\n", style="dim"))
    _show_lines(
        "Next, with a graph of your own",
        ("focusedcleaner sanitize GRAPH.npz", "or an edge list (.csv), or .graphml"),
        ("focusedcleaner attack cora --out bad.npz", "a poisoned graph to try things on"),
        ("focusedcleaner methods", "what else there is"),
    )
    console.print()
    _show_lines(
        "Look at what was found here",
        (str(story.folder / REPORT), "the report: open it in a browser"),
        (story.review, "judge the edges one by one"),
    )


def _show_lines(title: str, *lines: tuple[str, str]) -> None:
    console = screen()
    console.print(Text(title, style="bold"))
    for command, what in lines:
        console.print(Text.assemble(f"  {command:<42}", (what, "dim")), soft_wrap=True)


def _edges(story: Story) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold")
    table.add_column()
    found, cut = story.found, len(story.poisoning.removed)
    table.add_row(f"{found.attacked:,}", f"edges planted by an attacker (METTACK), who cut {cut:,} others")
    table.add_row(f"{found.removed:,}", f"edges removed by FocusedCleaner (cld) in {story.sanitation.seconds:.1f} s")
    table.add_row(f"{found.hits:,}", "of these were planted")
    return table


def _graphs(story: Story) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("graph")
    for title in ("edges", "within a class", f"GCN's accuracy (mean of {SEEDS})"):
        table.add_column(title, justify="right")
    for name, graph in story.graphs().items():
        table.add_row(name, f"{graph.num_edges:,}", percent(graph.homophily), percent(story.accuracy[name]))
    return table
