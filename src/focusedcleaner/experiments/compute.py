"""Computes one cell: a graph in, numbers and arrays out. Runs in a worker, without the store."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
import torch

from focusedcleaner.attacks import Nettack, attack
from focusedcleaner.classifiers import GCN, classifier
from focusedcleaner.errors import InputError
from focusedcleaner.experiments.cells import Accuracy, Cell, CellResult, Poison, Pruning, Sanitation, Statistics
from focusedcleaner.experiments.graphs import ArraysOf, cell_graph, clean_graph
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.sanitizers import sanitizer
from focusedcleaner.scoring import score

BEST, WORST, OTHERS = 10, 10, 20
"""Nettack's targets: numbers of nodes with the largest margin, with the smallest, and of others."""


@dataclass(frozen=True)
class Task:
    """A cell with all its inputs, so that any machine can compute it.

    Args:
        cell: the cell to compute.
        graph: the input of the method.
        clean: the clean graph's edges, if the result is scored.
        targets: the nodes to evaluate, if they are not the test nodes.
    """

    cell: Cell
    graph: Graph
    clean: IntArray | None = None
    targets: IntArray | None = None


def make_task(cell: Cell, arrays: ArraysOf) -> Task:
    """Collect a cell's inputs."""
    clean = clean_graph(cell.source)
    if isinstance(cell, Sanitation | Pruning):
        return Task(cell, cell_graph(cell.graph, arrays), clean=clean.edges)
    if isinstance(cell, Accuracy):
        targets = arrays(cell.poison.full_run).get("targets") if cell.nodes == "targets" else None
        return Task(cell, cell_graph(cell.graph, arrays), targets=targets)
    return Task(cell, clean)


def run_task(task: Task) -> CellResult:
    """Compute a cell. An exception becomes the result's error, so that one cell cannot stop the others."""
    start = time.perf_counter()
    try:
        result = _compute(task)
    except Exception as error:  # noqa: BLE001
        text = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        return CellResult({}, error=" ".join(text.split())[:500])
    values = {name: _rounded(value) for name, value in result.values.items()}
    return replace(result, values=values, seconds=round(time.perf_counter() - start, 2))


def _compute(task: Task) -> CellResult:
    cell, graph = task.cell, task.graph
    match cell:
        case Statistics():
            sizes = {"nodes": graph.num_nodes, "edges": graph.num_edges, "classes": len(np.unique(graph.known_labels))}
            return CellResult({**sizes, "attributes": graph.num_attributes, "homophily": graph.homophily})
        case Poison():
            return _poison(cell, graph)
        case Sanitation():
            cleaned = sanitizer(cell.method, **dict(cell.settings)).sanitize(graph, cell.budget, seed=cell.seed)
            added = cleaned.graph.added_edges(graph)
            values = {**_scores(task, cleaned.removed), "added": len(added)}
            return CellResult(values, arrays={"removed": cleaned.removed, "added": added})
        case Pruning():
            removed = _pruned(cell, task)
            return CellResult(_scores(task, removed), arrays={"removed": removed})
        case Accuracy():
            return CellResult({"accuracy": _accuracy(cell, task)})


def _poison(cell: Poison, graph: Graph) -> CellResult:
    arrays = {}
    if cell.method == "nettack":
        targets, flips = nettack_targets(graph, seed=cell.seed), int(cell.power)
        arrays["targets"] = targets
        nettack = Nettack(**dict(cell.settings), targets=tuple(targets.tolist()), per_target=flips)  # type: ignore[arg-type]
        poisoned = nettack.poison(graph, len(targets) * flips, seed=cell.seed)
    else:
        poisoned = attack(cell.method, **dict(cell.settings)).poison(graph, cell.power, seed=cell.seed)
    added, removed = poisoned.added, poisoned.removed
    arrays["flips"] = np.concatenate([added, removed]) if poisoned.flips is None else poisoned.flips
    return CellResult({"added": len(added), "deleted": len(removed)}, arrays=arrays)


def _pruned(cell: Pruning, task: Task) -> IntArray:
    """The edges that a pruning removes."""
    genuine = _clean(task).has_edges(task.graph.edges)
    rng = np.random.default_rng(cell.seed)
    planted, others = rng.permutation(np.flatnonzero(~genuine)), rng.permutation(np.flatnonzero(genuine))
    total = round(cell.share * len(planted))
    hits = round(cell.hits * total)
    return task.graph.edges[np.concatenate([planted[:hits], others[: total - hits]])]


def _accuracy(cell: Accuracy, task: Task) -> float:
    model = classifier(cell.method, **dict(cell.settings)).fit(task.graph, seed=cell.seed)
    if cell.nodes == "test":
        return model.accuracy(task.graph)
    if task.targets is None or task.graph.labels is None:
        raise InputError("there are no targets: accuracy on targets requires nettack")
    return float((model.predict(task.graph)[task.targets] == task.graph.labels[task.targets]).mean())


def nettack_targets(graph: Graph, *, seed: int = 0) -> IntArray:
    """Test nodes that a GCN on the clean graph classifies correctly: 10 of largest margin, 10 of smallest, 20 others.

        margin_i = p_i(y_i) − max_{c ≠ y_i} p_i(c),  p = softmax of the GCN's scores

    Zügner, Akbarnejad, Günnemann: "Adversarial Attacks on Neural Networks for Graph Data", KDD 2018.

    >>> from focusedcleaner.datasets import synthetic
    >>> len(nettack_targets(synthetic(num_nodes=200, homophily=0.9, seed=0)))
    40
    """
    if graph.labels is None or graph.split is None:
        raise InputError("Nettack's targets are chosen among labelled test nodes, but the graph has none")
    probabilities = torch.softmax(GCN().fit(graph, seed=seed).scores(graph), 1).numpy()
    nodes = graph.split.test[graph.labels[graph.split.test] >= 0]
    labels, rows = graph.labels[nodes], np.arange(len(nodes))
    others = probabilities[nodes]
    others[rows, labels] = -np.inf
    margin = probabilities[nodes, labels] - others.max(axis=1)
    order = np.argsort(-margin, kind="stable")
    correct = nodes[order[margin[order] > 0]]
    if len(correct) < BEST + WORST + OTHERS:
        needed = BEST + WORST + OTHERS
        raise InputError(f"a GCN classifies {len(correct)} test nodes correctly, but {needed} targets are needed")
    middle = np.random.default_rng(seed).choice(correct[BEST:-WORST], OTHERS, replace=False)
    return np.concatenate([correct[:BEST], correct[-WORST:], np.sort(middle)])


def _scores(task: Task, removed: IntArray) -> dict[str, float | int | None]:
    scores = score(removed, poisoned=task.graph, clean=_clean(task))
    share = scores.removed / task.graph.num_edges
    counts = {"planted": scores.attacked, "removed": scores.removed, "removed_share": share}
    return {**counts, "esr": scores.esr, "f1": scores.f1, "cr": scores.cr, "oracle_esr": scores.oracle_esr}


def _clean(task: Task) -> Graph:
    assert task.clean is not None
    return Graph(task.graph.num_nodes, task.clean)


def _rounded(value: float | int | None) -> float | int | None:
    """Five decimals; None if not finite."""
    if isinstance(value, float):
        return round(value, 5) if math.isfinite(value) else None
    return value
