"""``focusedcleaner classify``: the accuracy of node classifiers on a graph, or before and after a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from focusedcleaner.accuracy import Accuracy, Comparison
from focusedcleaner.classifiers import CLASSIFIERS, Classifier
from focusedcleaner.cli.console import note, print_json, progress_bar, results_table, screen
from focusedcleaner.cli.inputs import read_graph
from focusedcleaner.cli.options import ClassifyOptions
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count, percent
from focusedcleaner.graph import Graph
from focusedcleaner.run_record import RECORD
from focusedcleaner.runs import read_run
from focusedcleaner.settings import parse_pairs

ALL = "all"


def classify(options: ClassifyOptions) -> None:
    """Train each model once per seed and print its accuracy on the test nodes; of a run, before and after it."""
    models = _models(options.model, options.settings or [])
    graph = read_graph(options)
    compared = Comparison.of(graph, _before(options, graph), seed=options.seed)
    if graph.split != compared.after.split and (split := compared.after.split) is not None:
        sizes = f"{len(split.train):,} for training, {len(split.val):,} for validation, {len(split.test):,} for testing"
        note(f"the graph has no test nodes, so a split was drawn (seed {options.seed}): {sizes}")
    if compared.note:
        note(compared.note)
    for model in models:
        model.check_size(compared.after if compared.before is None else compared.before)
    graphs = 1 if compared.before is None else 2
    each = options.seeds * graphs
    outcomes: list[Accuracy] = []
    with progress_bar("Training") as progress:

        def report(done: int, total: int, stage: str = "", /) -> None:
            progress(len(outcomes) * each + done, len(models) * each)

        for model in models:
            outcomes.append(compared.measure(model, seeds=options.seeds, seed=options.seed, progress=report))
    if options.json:
        fields = [outcome.to_dict() for outcome in outcomes]
        print_json(fields[0] if options.model != ALL and len(fields) == 1 else {"models": fields})
    else:
        _show(outcomes, compared, options.seeds)


def _before(options: ClassifyOptions, graph: Graph) -> Graph | None:
    """Of a run folder, the graph before the sanitation; None where other options change the edges or the nodes."""
    if options.adjacency is not None or options.largest_component or not (Path(options.graph) / RECORD).is_file():
        return None
    return replace(graph, edges=read_run(options.graph).poisoned.edges)


def _models(names: str, settings: list[str]) -> list[Classifier]:
    """The named models, each once."""
    unique = list(dict.fromkeys(name.strip() for name in names.split(",")))
    if unique == [ALL]:
        unique = list(CLASSIFIERS.names())
    if settings and len(unique) > 1:
        raise InputError("--set goes with one model, not with several")
    return [CLASSIFIERS.make(name, **parse_pairs(settings)) for name in unique]


def _show(outcomes: list[Accuracy], compared: Comparison, seeds: int) -> None:
    console, graph, before = screen(), compared.after, compared.before
    console.print_heading(f"Accuracy on {count(compared.test_nodes, 'test node')}")
    training = 0 if graph.split is None else len(graph.split.train)
    edges = f"{graph.num_edges:,} edges"
    if before is not None:
        edges = f"{before.num_edges:,} edges before the sanitation and {graph.num_edges:,} after it"
    console.print(
        f"{graph.num_nodes:,} nodes, {edges}, {training:,} training nodes; "
        f"mean and standard deviation of {count(seeds, 'training')}.\n"
    )
    columns = ["accuracy", "±"] if before is None else ["before", "±", "after", "±", "difference"]
    table = results_table("model", *columns, "seconds each")
    best = max(outcome.mean for outcome in outcomes)
    trainings = seeds * (1 if before is None else 2)
    for outcome in outcomes:
        cells = [percent(outcome.mean), _points(outcome.accuracies)]
        if outcome.accuracies_before is not None and outcome.before is not None and outcome.difference is not None:
            cells = [percent(outcome.before), _points(outcome.accuracies_before), *cells]
            cells.append(f"{100 * outcome.difference:+.1f} points")
        style = "bold" if len(outcomes) > 1 and outcome.mean == best else ""
        table.add_row(outcome.model, *cells, f"{outcome.seconds / trainings:.1f}", style=style)
    console.print(table)


def _points(accuracies: tuple[float, ...]) -> str:
    """The standard deviation in percentage points."""
    return f"{100 * float(np.std(accuracies)):.1f}"
