"""``focusedcleaner classify``: the accuracy of node classifiers on a graph."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from focusedcleaner.classifiers import CLASSIFIERS, Classifier
from focusedcleaner.cli.console import print_json, progress_bar, results_table, screen
from focusedcleaner.cli.inputs import read_graph_with_split
from focusedcleaner.cli.options import ClassifyOptions
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count, percent
from focusedcleaner.graph import Graph
from focusedcleaner.settings import parse_pairs

ALL = "all"


def classify(options: ClassifyOptions) -> None:
    """Train each model once per seed and print its accuracy on the test nodes."""
    models = _models(options.model, options.settings or [])
    graph = read_graph_with_split(options, options.seed)
    test_nodes = _labelled_test_nodes(graph)
    outcomes: list[dict[str, Any]] = []
    with progress_bar("Training") as progress:
        for model in models:
            start, accuracies = time.perf_counter(), []
            for seed in range(options.seed, options.seed + options.seeds):
                accuracies.append(model.fit(graph, seed=seed).accuracy(graph))
                progress(len(outcomes) * options.seeds + len(accuracies), len(models) * options.seeds)
            outcomes.append(
                {
                    "model": model.name,
                    "accuracy_mean": float(np.mean(accuracies)),
                    "accuracy_std": float(np.std(accuracies)),
                    "accuracies": accuracies,
                    "seconds": round(time.perf_counter() - start, 3),
                }
            )
    if options.json:
        print_json(outcomes[0] if options.model != ALL and len(outcomes) == 1 else {"models": outcomes})
    else:
        _show(outcomes, graph, test_nodes, options.seeds)


def _models(names: str, settings: list[str]) -> list[Classifier]:
    """The named models, each once."""
    unique = list(dict.fromkeys(name.strip() for name in names.split(",")))
    if unique == [ALL]:
        unique = list(CLASSIFIERS.names())
    if settings and len(unique) > 1:
        raise InputError("--set goes with one model, not with several")
    return [CLASSIFIERS.make(name, **parse_pairs(settings)) for name in unique]


def _labelled_test_nodes(graph: Graph) -> int:
    """The number of test nodes with a label; a graph on which accuracy can't be measured is refused."""
    if graph.labels is None or graph.split is None:
        raise InputError("the graph has no labels: there is nothing to learn and nothing to compare with")
    if not len(graph.split.train):
        raise InputError("the split has no training node")
    labelled = int((graph.labels[graph.split.test] >= 0).sum())
    if not labelled:
        raise InputError("no test node has a label: accuracy can't be measured")
    return labelled


def _show(outcomes: list[dict[str, Any]], graph: Graph, test_nodes: int, seeds: int) -> None:
    console = screen()
    console.print_heading(f"Accuracy on {count(test_nodes, 'test node')}")
    training = 0 if graph.split is None else len(graph.split.train)
    console.print(
        f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges, {training:,} training nodes; "
        f"mean and standard deviation of {count(seeds, 'training')}.\n"
    )
    table = results_table("model", "accuracy", "±", "seconds each")
    best = max(outcome["accuracy_mean"] for outcome in outcomes)
    for outcome in outcomes:
        mean, deviation = outcome["accuracy_mean"], f"{100 * outcome['accuracy_std']:.1f}"
        style = "bold" if len(outcomes) > 1 and mean == best else ""
        table.add_row(outcome["model"], percent(mean), deviation, f"{outcome['seconds'] / seeds:.1f}", style=style)
    console.print(table)
