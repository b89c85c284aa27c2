"""``focusedcleaner demo``: poison a real graph, clean it, and show the result."""

from __future__ import annotations

import shlex
import time
from typing import Any

import numpy as np

from focusedcleaner import datasets
from focusedcleaner.attacks import attack
from focusedcleaner.classifiers import classifier
from focusedcleaner.cli.console import grid, note, print_json, progress_bar, results_table, screen
from focusedcleaner.cli.options import DemoOptions
from focusedcleaner.cli.sanitize import runs_folder, write_run_report
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import percent
from focusedcleaner.graph import Graph, Split
from focusedcleaner.runs import REPORT, RunFolder, free_path
from focusedcleaner.sanitizers import AUTO, Sanitation, sanitizer_for
from focusedcleaner.scoring import score

ATTACK, POWER = "mettack", "10%"
SEEDS = 3
"""Trainings of the GCN whose accuracies are averaged."""


def demo(options: DemoOptions) -> None:
    """Run the demo; its result stays in a run folder, with the report."""
    start, seed = time.perf_counter(), options.seed
    with runs_folder():
        name, clean = _graph(seed)
        with progress_bar("Poisoning") as progress:
            poisoning = attack(ATTACK).poison(clean, POWER, seed=seed, progress=progress)
        method = sanitizer_for(poisoning.graph, AUTO, {})
        with RunFolder.opened(free_path("demo", method.name)) as folder:
            with progress_bar("Cleaning") as progress:
                sanitation = method.sanitize(poisoning.graph, seed=seed, progress=progress)
            folder.finish(sanitation, {"graph": name, "poisoned by": f"{ATTACK}, {POWER}"})
            write_run_report(folder.path, clean)
    result = score(sanitation.removed, poisoned=poisoning.graph, clean=clean)
    graphs = {"clean": clean, "poisoned": poisoning.graph, "cleaned": sanitation.graph}
    fields = {
        "graph": name.lower(),
        "method": sanitation.method,
        "status": sanitation.verdict.status,
        "planted": result.attacked,
        "removed": result.removed,
        "hits": result.hits,
        "esr": result.esr,
        "oracle_esr": result.oracle_esr,
        "accuracy": accuracies(graphs, seed),
        "seconds": round(time.perf_counter() - start, 3),
        "run": str(folder.path),
        "report": str(folder.path / REPORT),
        "review": f"focusedcleaner review {shlex.quote(str(folder.path))}",
    }
    if options.json:
        print_json(fields)
    else:
        _show(fields, graphs, sanitation, len(poisoning.removed))


def _graph(seed: int) -> tuple[str, Graph]:
    """Cora with a split, or a synthetic graph of its size if Cora can't be loaded."""
    try:
        with progress_bar("Fetching Cora", bytes_=True) as progress:
            name, graph = "Cora", datasets.load("cora", progress=progress)
    except InputError as error:
        note(f"{error}; a synthetic graph of its size is used instead")
        whole = datasets.synthetic(2700, 4.0, 7, 0.81, 1433, words_per_node=18, seed=seed, with_split=False)
        name, graph = "Synthetic", whole.largest_component()
    return name, graph.with_split(Split.random(graph.labels, seed=seed))  # type: ignore[arg-type]


def accuracies(graphs: dict[str, Graph], seed: int) -> dict[str, float]:
    """The mean accuracy of a two-layer GCN on the test nodes of each graph."""
    accuracy: dict[str, float] = {}
    with progress_bar("Training GCNs") as progress:
        for name, graph in graphs.items():
            models = (classifier("gcn").fit(graph, seed=number) for number in range(seed, seed + SEEDS))
            accuracy[name] = float(np.mean([model.accuracy(graph) for model in models]))
            progress(len(accuracy), len(graphs))
    return accuracy


def _show(fields: dict[str, Any], graphs: dict[str, Graph], sanitation: Sanitation, cut: int) -> None:
    console, clean = screen(), graphs["clean"]
    console.print_heading(f"{fields['graph'].capitalize()}, poisoned and cleaned")
    console.print(
        f"{clean.num_nodes:,} nodes, {clean.num_edges:,} edges, {clean.num_classes} classes. The classes of 20 % of "
        "the nodes are known; a graph neural network (GCN) predicts the others.\n"
    )
    counts = grid(justify="right", style="bold")
    cleaner = f"FocusedCleaner ({sanitation.method}) in {sanitation.seconds:.1f} s"
    counts.add_row(f"{fields['planted']:,}", f"edges planted by an attacker (METTACK), who removed {cut:,} others")
    counts.add_row(f"{fields['removed']:,}", f"edges removed by {cleaner}")
    counts.add_row(f"{fields['hits']:,}", "of these had been planted")
    console.print(counts, "")
    console.print(f"Its verdict, without knowing that: {sanitation.headline}. {sanitation.verdict.explanation}\n")
    table = results_table("graph", "edges", "within a class", f"GCN accuracy (mean of {SEEDS})")
    for name, graph in graphs.items():
        table.add_row(name, f"{graph.num_edges:,}", percent(graph.homophily), percent(fields["accuracy"][name]))
    console.print(table)
    console.print(
        "\nESR, the share of edges that were both planted and removed among all planted or removed ones, is "
        f"{percent(fields['esr'])}. An oracle that knows the planted edges and removes as many would reach "
        f"{percent(fields['oracle_esr'])}."
    )
    console.print_dim(f"The demo took {fields['seconds']:.0f} s.\n")
    console.print_pointers(
        "Next, with a graph of your own",
        ("focusedcleaner sanitize GRAPH.npz", "or an edge list (.csv), or .graphml"),
        ("focusedcleaner attack cora --out bad.npz", "a poisoned graph to experiment with"),
        ("focusedcleaner methods", "all methods and their settings"),
    )
    console.print()
    console.print_pointers(
        "The result of this demo",
        (fields["report"], "the report: open it in a browser"),
        (fields["review"], "judge the edges one by one"),
    )
