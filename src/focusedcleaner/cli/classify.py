"""``focusedcleaner classify``: the accuracy of node classifiers on a graph."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from focusedcleaner.classifiers import CLASSIFIERS, Classifier
from focusedcleaner.cli.console import Update, count, heading, percent, print_json, progress_bar, results_table, screen
from focusedcleaner.cli.inputs import read_graph_with_split
from focusedcleaner.cli.options import GraphSource
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.settings import parse_pairs

ALL = "all"


def run(source: GraphSource, model: str, seeds: int, settings: list[str] | None, seed: int, json: bool) -> None:
    """Train each model once per seed and print its accuracy on the test nodes."""
    models = _models(model, settings or [])
    graph = read_graph_with_split(source, seed)
    _check(graph)
    with progress_bar("Training") as progress:
        outcomes = train_and_test(models, graph, range(seed, seed + seeds), progress)
    if not json:
        _show(outcomes, graph, seeds)
    else:
        print_json(outcomes[0] if model != ALL and len(outcomes) == 1 else {"models": outcomes})


def _models(names: str, settings: list[str]) -> list[Classifier]:
    """The named models, each once."""
    unique = list(dict.fromkeys(name.strip() for name in names.split(",")))
    if unique == [ALL]:
        unique = list(CLASSIFIERS.names())
    if settings and len(unique) > 1:
        raise InputError("--set goes with one model, not with several")
    return [CLASSIFIERS.make(name, **parse_pairs(settings)) for name in unique]


def train_and_test(models: Sequence[Classifier], graph: Graph, seeds: range, progress: Update) -> list[dict[str, Any]]:
    """Train every model with every seed; the test accuracies of each model, as the JSON output has them."""
    outcomes: list[dict[str, Any]] = []
    for index, model in enumerate(models):
        start, accuracies = time.perf_counter(), []
        for number, seed in enumerate(seeds):
            accuracies.append(model.fit(graph, seed=seed).accuracy(graph))
            progress(index * len(seeds) + number + 1, len(models) * len(seeds))
        outcomes.append(
            {
                "model": model.name,
                "accuracy_mean": float(np.mean(accuracies)),
                "accuracy_std": float(np.std(accuracies)),
                "accuracies": accuracies,
                "seconds": round(time.perf_counter() - start, 3),
            }
        )
    return outcomes


def _check(graph: Graph) -> None:
    """Refuse a graph on which accuracy can't be measured."""
    if graph.labels is None or graph.split is None:
        raise InputError("the graph has no labels: there is nothing to learn and nothing to compare with")
    if not len(graph.split.train):
        raise InputError("the split has no training node")
    if not (graph.labels[graph.split.test] >= 0).any():
        raise InputError("no test node has a label: accuracy can't be measured")


def _show(outcomes: Sequence[Mapping[str, Any]], graph: Graph, seeds: int) -> None:
    console = screen()
    assert graph.split is not None
    assert graph.labels is not None
    labelled = int((graph.labels[graph.split.test] >= 0).sum())
    console.print(heading(f"Accuracy on {count(labelled, 'test node')}"))
    console.print(
        f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges, {len(graph.split.train):,} training nodes; "
        f"mean and standard deviation of {count(seeds, 'training')}.\n"
    )
    table = results_table("model", "accuracy", "±", "seconds each")
    best = max(outcome["accuracy_mean"] for outcome in outcomes)
    for outcome in outcomes:
        mean, deviation = outcome["accuracy_mean"], f"{100 * outcome['accuracy_std']:.1f}"
        style = "bold" if len(outcomes) > 1 and mean == best else ""
        table.add_row(outcome["model"], percent(mean), deviation, f"{outcome['seconds'] / seeds:.1f}", style=style)
    console.print(table)
