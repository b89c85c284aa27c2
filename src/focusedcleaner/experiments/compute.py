"""Computes one cell: a graph in, numbers and arrays out. Workers run `run_task`, without the store."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from focusedcleaner import datasets
from focusedcleaner.attacks import Nettack, attack
from focusedcleaner.attacks.base import added_and_removed
from focusedcleaner.budget import edges_allowed
from focusedcleaner.classifiers import GCN, classifier
from focusedcleaner.datasets import authors
from focusedcleaner.datasets.published import DATA, cache_folder, data_folder
from focusedcleaner.errors import InputError
from focusedcleaner.experiments.catalogue import read_toml
from focusedcleaner.experiments.cells import (
    AUTHORS,
    OWN_BUDGET,
    SYNTHETIC,
    TARGETED,
    Arrays,
    Cell,
    CellResult,
    Source,
)
from focusedcleaner.graph import Graph, IntArray, Split
from focusedcleaner.io import load_adjacency, load_split
from focusedcleaner.io.convert import from_scipy
from focusedcleaner.io.disk import checksum
from focusedcleaner.sanitizers import sanitizer
from focusedcleaner.scoring import score

ArraysOf = Callable[[Cell], Arrays]
"""Returns the arrays of a computed cell."""
BEST, WORST, OTHERS = 10, 10, 20
"""Nettack's targets: numbers of nodes with the largest margin, with the smallest, and of others."""
_PROGNN = "github.com/ChandlerBang/Pro-GNN"


def cell_graph(cell: Cell, arrays: ArraysOf) -> Graph:
    """The graph that an attack or a sanitation produced."""
    if isinstance(cell.graph, Cell):
        if cell.kind == "split":
            defender = clean_graph(Source(cell.source.data, cell.method))
            return replace(cell_graph(cell.graph, arrays), split=defender.split)
        changes = arrays(cell)
        graph = cell_graph(cell.graph, arrays).without_edges(changes["removed"])
        return graph.with_edges(changes["added"]) if len(changes.get("added", ())) else graph
    clean = clean_graph(cell.source)
    if not cell.computed:
        return clean if cell.method == "none" else published_graph(cell)
    flips = arrays(cell.full_run)["flips"].astype("int64").reshape(-1, 2)
    if cell.full_run != cell:
        flips = flips[: edges_allowed(cell.amount, clean.num_edges, what="power")]
    added, removed = added_and_removed(clean, flips)
    return clean.without_edges(removed).with_edges(added)


@lru_cache(maxsize=64)
def clean_graph(source: Source) -> Graph:
    """The clean graph with its split.

    >>> clean_graph(Source("synthetic-100", "random 0")).split.train[:3]
    array([ 5, 20, 36])
    """
    graph = _without_split(source.data)
    kind, _, number = source.split.partition(" ")
    if kind == "random":
        assert graph.labels is not None
        return graph.with_split(Split.random(graph.labels, seed=int(number or 0)))
    if kind == "authors":
        return graph.with_split(authors.published_split(source.data))
    if kind != "prognn":
        raise InputError(f"there is no split {source.split!r}; the splits are authors, prognn and random NUMBER")
    path = _published_file(f"prognn/{source.data}_prognn_splits.json")
    return graph.with_split(load_split(path, num_nodes=graph.num_nodes))


@lru_cache(maxsize=32)
def published_graph(poison: Cell) -> Graph:
    """The graph that the FocusedCleaner authors poisoned, or Pro-GNN's with METTACK."""
    clean, data = clean_graph(poison.source), poison.source.data
    parts = {name: getattr(clean, name) for name in ("attributes", "labels", "split", "names")}
    if poison.method in AUTHORS:
        return from_scipy(authors.poisoned_adjacency(data, AUTHORS[poison.method], poison.amount), **parts)
    path = _published_file(f"prognn/{data}_meta_adj_{poison.amount:g}.npz")
    poisoned = from_scipy(load_adjacency(path), **parts)
    if poisoned.num_nodes != clean.num_nodes:
        raise InputError(f"{path}: has {poisoned.num_nodes:,} nodes, but {data} has {clean.num_nodes:,}")
    return poisoned


def check_authors_files(poison: Cell, *, online: bool) -> None:
    """Read the authors' files of a poison; `FileMissing` says which is not there."""
    data = poison.source.data
    authors.poisoned_adjacency(data, AUTHORS[poison.method], poison.amount, online=online)
    if poison.method in TARGETED:
        authors.targets(data, online=online)


@lru_cache(maxsize=8)
def _without_split(data: str) -> Graph:
    """A graph whose nodes keep their order, in which the stored results were computed (`Graph.canonical_order`)."""
    graph = _load(data)
    return replace(graph, names=tuple(range(graph.num_nodes)))


def _load(data: str) -> Graph:
    if not data.startswith(SYNTHETIC):
        return datasets.load(data)
    size = data.removeprefix(SYNTHETIC)
    if not size.isdecimal() or int(size) < 50:
        raise InputError(f"a synthetic data set is named {SYNTHETIC}300, with at least 50 nodes, not {data!r}")
    return datasets.synthetic(int(size), homophily=0.85, seed=0, with_split=False).largest_component()


def _published_file(name: str) -> Path:
    """A file of Pro-GNN's in the data folder or the cache, with its checksum verified; it is not downloaded."""
    paths = [folder / name for folder in (data_folder(), cache_folder()) if folder is not None]
    path = next(filter(Path.is_file, paths), None)
    if path is None:
        searched = f"neither in the folder {DATA} nor in the cache {cache_folder()}"
        raise InputError(f"{name} is {searched}: get it from {_PROGNN}")
    if checksum(path) != read_toml("files.toml")["sha256"].get(name):
        raise InputError(f"{path} is not the published file: its SHA-256 differs")
    return path


@dataclass(frozen=True)
class Task:
    """A cell with all its inputs, so that any machine can compute it.

    Args:
        cell: the cell to compute.
        graph: the input of the method.
        clean: the clean graph's edges, for scoring only.
        targets: the nodes to evaluate, if they are not the test nodes.
        ranking: the edges that a sanitizer removed with its own budget, in order, of which a smaller budget takes the
            first.
    """

    cell: Cell
    graph: Graph
    clean: Graph
    targets: IntArray | None = None
    ranking: IntArray | None = None


def make_task(cell: Cell, arrays: ArraysOf) -> Task:
    """Collect a cell's inputs."""
    clean = clean_graph(cell.source)
    graph = cell_graph(cell.graph, arrays) if isinstance(cell.graph, Cell) else clean
    targets = attack_targets(cell.poison, arrays) if cell.nodes == "targets" else None
    ranking = None if cell.ranking is None else arrays(cell.ranking).get("removed")
    return Task(cell, graph, Graph(clean.num_nodes, clean.edges), targets, ranking)


def attack_targets(poison: Cell, arrays: ArraysOf) -> IntArray | None:
    """The nodes that Nettack attacked; None if another attack is asked."""
    return authors.targets(poison.source.data) if poison.method in AUTHORS else arrays(poison.full_run).get("targets")


def run_task(task: Task) -> CellResult:
    """Compute a cell. An exception becomes the result's error, so that one cell cannot stop the others."""
    start = time.perf_counter()
    compute = {"statistics": _statistics, "poison": _poison, "sanitation": _sanitation, "pruning": _pruning}
    try:
        result = compute.get(task.cell.kind, _accuracy)(task)
    except Exception as error:  # noqa: BLE001
        text = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        return CellResult({}, error=" ".join(text.split())[:500])
    values = {name: _rounded(value) for name, value in result.values.items()}
    return replace(result, values=values, seconds=round(time.perf_counter() - start, 2))


def _rounded(value: float | int | None) -> float | int | None:
    """Five decimals; None if not finite."""
    if isinstance(value, float):
        return round(value, 5) if math.isfinite(value) else None
    return value


def _statistics(task: Task) -> CellResult:
    graph = task.graph
    sizes = {"nodes": graph.num_nodes, "edges": graph.num_edges, "classes": len(np.unique(graph.known_labels))}
    return CellResult({**sizes, "attributes": graph.num_attributes, "homophily": graph.homophily})


def _poison(task: Task) -> CellResult:
    cell, graph, arrays = task.cell, task.graph, {}
    if cell.method == "nettack":
        targets, flips = nettack_targets(graph, seed=cell.seed), int(cell.amount)
        arrays["targets"] = targets
        nettack = Nettack(**dict(cell.settings), targets=tuple(targets.tolist()), per_target=flips)  # type: ignore[arg-type]
        poisoned = nettack.poison(graph, len(targets) * flips, seed=cell.seed)
    else:
        poisoned = attack(cell.method, **dict(cell.settings)).poison(graph, cell.amount, seed=cell.seed)
    added, removed = poisoned.added, poisoned.removed
    arrays["flips"] = np.concatenate([added, removed]) if poisoned.flips is None else poisoned.flips
    return CellResult({"added": len(added), "deleted": len(removed)}, arrays=arrays)


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
    correct, needed = nodes[order[margin[order] > 0]], BEST + WORST + OTHERS
    if len(correct) < needed:
        raise InputError(f"a GCN classifies {len(correct)} test nodes correctly, but {needed} targets are needed")
    middle = np.random.default_rng(seed).choice(correct[BEST:-WORST], OTHERS, replace=False)
    return np.concatenate([correct[:BEST], correct[-WORST:], np.sort(middle)])


def _sanitation(task: Task) -> CellResult:
    cell, ranking = task.cell, task.ranking
    if ranking is not None and len(ranking) >= (allowed := edges_allowed(cell.amount, task.graph.num_edges)):
        removed = ranking[:allowed]
        return CellResult({**_scores(task, removed), "added": 0}, arrays={"removed": removed, "added": removed[:0]})
    budget = "auto" if cell.amount == OWN_BUDGET else cell.amount
    cleaned = sanitizer(cell.method, **dict(cell.settings)).sanitize(task.graph, budget, seed=cell.seed)
    added = cleaned.graph.added_edges(task.graph)
    values = {**_scores(task, cleaned.removed), "added": len(added)}
    return CellResult(values, arrays={"removed": cleaned.removed, "added": added})


def _pruning(task: Task) -> CellResult:
    genuine = task.clean.has_edges(task.graph.edges)
    rng = np.random.default_rng(task.cell.seed)
    planted, others = rng.permutation(np.flatnonzero(~genuine)), rng.permutation(np.flatnonzero(genuine))
    total = round(task.cell.amount * len(planted))
    hits = round(task.cell.hits * total)
    removed = task.graph.edges[np.concatenate([planted[:hits], others[: total - hits]])]
    return CellResult(_scores(task, removed), arrays={"removed": removed})


def _scores(task: Task, removed: IntArray) -> dict[str, float | int | None]:
    scores = score(removed, poisoned=task.graph, clean=task.clean)
    share = scores.removed / task.graph.num_edges
    counts = {"planted": scores.attacked, "removed": scores.removed, "removed_share": share}
    return {**counts, "esr": scores.esr, "f1": scores.f1, "cr": scores.cr, "oracle_esr": scores.oracle_esr}


def _accuracy(task: Task) -> CellResult:
    cell, graph, targets = task.cell, task.graph, task.targets
    model = classifier(cell.method, **dict(cell.settings)).fit(graph, seed=cell.seed)
    if cell.nodes == "test":
        return CellResult({"accuracy": model.accuracy(graph)})
    if targets is None or graph.labels is None:
        raise InputError("there are no targets: accuracy on targets requires nettack")
    return CellResult({"accuracy": float((model.predict(graph)[targets] == graph.labels[targets]).mean())})
