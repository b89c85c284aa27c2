"""What a worker does: one cell, from the graph that it needs to its results."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.attacks import Nettack, attack
from focusedcleaner.classifiers import classifier
from focusedcleaner.errors import InputError
from focusedcleaner.experiments.cells import Accuracy, Cell, Poison, Pruning, Sanitation, Statistics
from focusedcleaner.experiments.targets import nettack_targets
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.sanitizers import sanitizer
from focusedcleaner.scoring import score

Arrays = Mapping[str, NDArray[Any]]
Values = Mapping[str, float | int | None]


@dataclass(frozen=True)
class Task:
    """A cell and all that its computation needs: it can be sent to another machine.

    Args:
        cell: what is to be computed.
        graph: what the method is given.
        clean: the clean graph's edges, where the result is scored.
        targets: the nodes that count, where they are not the test nodes.
    """

    cell: Cell
    graph: Graph
    clean: IntArray | None = None
    targets: IntArray | None = None


@dataclass(frozen=True)
class Outcome:
    """Numbers for tables, arrays for the cells that build on this one, and the time it took."""

    values: Values
    arrays: Arrays = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class Failure:
    """Why a cell could not be computed."""

    error: str


def run(task: Task) -> Outcome | Failure:
    """Compute a cell; whatever goes wrong in it is told, not raised."""
    start = time.perf_counter()
    try:
        done = compute(task.cell, task)
    except Exception as error:  # noqa: BLE001  one cell must not end the others
        told = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        return Failure(" ".join(told.split())[:500])
    values = {name: _rounded(value) for name, value in done.values.items()}
    return Outcome(values, done.arrays, round(time.perf_counter() - start, 2))


@singledispatch
def compute(cell: Cell, task: Task) -> Outcome:
    """The results of a cell, by its kind."""
    raise TypeError(f"no way to compute a {type(cell).__name__}")


@compute.register
def _(cell: Statistics, task: Task) -> Outcome:
    graph = task.graph
    sizes = {"nodes": graph.num_nodes, "edges": graph.num_edges, "classes": len(np.unique(graph.known_labels))}
    return Outcome({**sizes, "attributes": graph.num_attributes, "homophily": graph.homophily})


@compute.register
def _(cell: Poison, task: Task) -> Outcome:
    arrays: dict[str, NDArray[Any]] = {}
    if cell.attack == "nettack":
        arrays["targets"] = nettack_targets(task.graph, seed=cell.seed)
        aimed = Nettack(**dict(cell.settings), targets=tuple(arrays["targets"].tolist()), per_target=int(cell.power))  # type: ignore[arg-type]
        made = aimed.poison(task.graph, len(arrays["targets"]) * int(cell.power), seed=cell.seed)
    else:
        made = attack(cell.attack, **dict(cell.settings)).poison(task.graph, cell.power, seed=cell.seed)
    flips = np.concatenate([made.added, made.removed]) if made.flips is None else made.flips
    arrays["flips"] = flips
    return Outcome({"added": len(made.added), "deleted": len(made.removed)}, arrays)


@compute.register
def _(cell: Sanitation, task: Task) -> Outcome:
    found = sanitizer(cell.sanitizer, **dict(cell.settings)).sanitize(task.graph, cell.budget, seed=cell.seed)
    added = found.graph.added_edges(task.graph)
    values = {**_scores(task, found.removed), "added": len(added)}
    return Outcome(values, {"removed": found.removed, "added": added})


@compute.register
def _(cell: Pruning, task: Task) -> Outcome:
    planted = np.flatnonzero(~np.isin(task.graph.edge_keys, _clean(task).edge_keys))
    others = np.setdiff1d(np.arange(task.graph.num_edges), planted)
    rng = np.random.default_rng(cell.seed)
    planted, others = rng.permutation(planted), rng.permutation(others)
    total = round(cell.share * len(planted))
    hits = round(cell.hits * total)
    removed = task.graph.edges[np.concatenate([planted[:hits], others[: total - hits]])]
    return Outcome(_scores(task, removed), {"removed": removed})


@compute.register
def _(cell: Accuracy, task: Task) -> Outcome:
    model = classifier(cell.classifier, **dict(cell.settings)).fit(task.graph, seed=cell.seed)
    if cell.nodes == "test":
        return Outcome({"accuracy": model.accuracy(task.graph)})
    if task.targets is None or task.graph.labels is None:
        raise InputError("there are no targets: accuracy on targets goes with nettack")
    right = model.predict(task.graph)[task.targets] == task.graph.labels[task.targets]
    return Outcome({"accuracy": float(right.mean())})


def _scores(task: Task, removed: IntArray) -> dict[str, float | int | None]:
    found = score(removed, poisoned=task.graph, clean=_clean(task))
    return {
        "planted": found.attacked,
        "removed": found.removed,
        "removed_share": found.removed / task.graph.num_edges,
        "esr": found.esr,
        "f1": found.f1,
        "cr": found.cr,
        "oracle_esr": found.oracle_esr,
    }


def _clean(task: Task) -> Graph:
    assert task.clean is not None
    return Graph(task.graph.num_nodes, task.clean)


def _rounded(value: float | int | None) -> float | int | None:
    """Five digits after the point; None for what is no number."""
    if isinstance(value, float):
        return round(value, 5) if math.isfinite(value) else None
    return value
