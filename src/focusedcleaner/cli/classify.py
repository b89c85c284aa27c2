"""``focusedcleaner classify``: how well models do on a graph."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from focusedcleaner.classifiers import CLASSIFIERS, Classifier
from focusedcleaner.cli.console import Update, count, percent, print_json, progress_bar, screen
from focusedcleaner.cli.inputs import GraphSource, with_some_split
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.settings import parse_pairs

ALL = "all"


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    given: GraphSource
    models: str
    """A name, several by commas, or "all"."""
    seeds: int
    seed: int
    settings: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What one model reached, a value for each seed."""

    model: str
    accuracies: tuple[float, ...]
    seconds: float

    @property
    def mean(self) -> float:
        return float(np.mean(self.accuracies))

    @property
    def deviation(self) -> float:
        return float(np.std(self.accuracies))

    def fields(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {
            "model": self.model,
            "accuracy_mean": self.mean,
            "accuracy_std": self.deviation,
            "accuracies": list(self.accuracies),
            "seconds": round(self.seconds, 3),
        }


def run(request: Request, *, json: bool) -> None:
    """Train each model once for each seed and tell its accuracy on the test nodes."""
    models = chosen(request.models, request.settings)
    graph = with_some_split(request.given.read(), request.seed)
    _check(graph)
    with progress_bar("Training") as progress:
        outcomes = measured(models, graph, range(request.seed, request.seed + request.seeds), progress)
    if not json:
        _show(outcomes, graph, request.seeds)
    elif request.models != ALL and len(outcomes) == 1:
        print_json(outcomes[0].fields())
    else:
        print_json({"models": [outcome.fields() for outcome in outcomes]})


def chosen(names: str, settings: Sequence[str]) -> list[Classifier]:
    """The models that were asked for, each once."""
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",")))
    if wanted == [ALL]:
        wanted = list(CLASSIFIERS.names())
    if settings and len(wanted) > 1:
        raise InputError("--set goes with one model, not with several")
    return [CLASSIFIERS.make(name, **parse_pairs(list(settings))) for name in wanted]


def measured(models: Sequence[Classifier], graph: Graph, seeds: range, progress: Update) -> list[Outcome]:
    """Train every model with every seed."""
    outcomes: list[Outcome] = []
    for place, model in enumerate(models):
        start, accuracies = time.perf_counter(), []
        for number, seed in enumerate(seeds):
            accuracies.append(model.fit(graph, seed=seed).accuracy(graph))
            progress(place * len(seeds) + number + 1, len(models) * len(seeds))
        outcomes.append(Outcome(model.name, tuple(accuracies), time.perf_counter() - start))
    return outcomes


def _check(graph: Graph) -> None:
    """Refuse, before any training, a graph on which accuracy can't be measured."""
    if graph.labels is None or graph.split is None:
        raise InputError("the graph has no labels: there is nothing to learn and nothing to compare with")
    if not len(graph.split.train):
        raise InputError("the split has no training node")
    if not (graph.labels[graph.split.test] >= 0).any():
        raise InputError("no test node has a label: accuracy can't be measured")


def _show(outcomes: Sequence[Outcome], graph: Graph, seeds: int) -> None:
    console = screen()
    assert graph.split is not None
    known = int((graph.labels[graph.split.test] >= 0).sum())  # type: ignore[index]
    console.print(Text(f"Accuracy on {count(known, 'test node')}", style="bold"))
    console.print(
        f"{graph.num_nodes:,} nodes, {graph.num_edges:,} edges, {len(graph.split.train):,} training nodes; "
        f"mean and standard deviation of {count(seeds, 'training')}.\n"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("model")
    for title in ("accuracy", "±", "seconds each"):
        table.add_column(title, justify="right")
    best = max(outcome.mean for outcome in outcomes)
    for outcome in outcomes:
        style = "bold" if len(outcomes) > 1 and outcome.mean == best else ""
        each = f"{outcome.seconds / seeds:.1f}"
        table.add_row(outcome.model, percent(outcome.mean), f"{100 * outcome.deviation:.1f}", each, style=style)
    console.print(table)
