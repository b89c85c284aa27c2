"""Graphs at the edge of what a method can be given: legal, but odd in structure, labels, split or attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph, Split

Maker = Callable[[], Graph]


def made(pairs: ArrayLike, nodes: int, *, classes: int = 2, **parts: Any) -> Graph:
    """A graph with the nodes' classes by turns, 0/1 attributes that hint at them, and a split into thirds."""
    numbers = np.arange(nodes)
    labels = numbers % classes
    attributes = np.random.default_rng(0).random((nodes, 3 * classes)) < 0.2
    attributes[numbers, labels] = True
    split = Split(
        numbers[numbers // classes % 3 == 0], numbers[numbers // classes % 3 == 1], numbers[numbers // classes % 3 == 2]
    )
    graph = Graph.from_pairs(nodes, pairs, attributes=attributes.astype(float), labels=labels, split=split)
    return replace(graph, **parts)


def shaped(shape: nx.Graph, **parts: Any) -> Graph:
    plain = nx.convert_node_labels_to_integers(shape)
    return made(np.array(plain.edges()).reshape(-1, 2), len(plain), **parts)


def base() -> Graph:
    """60 nodes, 120 edges, three classes."""
    return synthetic(60, num_classes=3, homophily=0.8, seed=0)


def with_attributes(change: Callable[[NDArray[np.float64]], ArrayLike | None]) -> Graph:
    """The base graph with its 0/1 attributes changed."""
    graph = base()
    assert graph.attributes is not None
    return replace(graph, attributes=change(graph.attributes.toarray()), attribute_names=None)


def with_labels(labels: NDArray[np.int64], **parts: Any) -> Graph:
    return replace(base(), labels=labels, class_names=None, **parts)


def with_split(train: ArrayLike, val: ArrayLike) -> Graph:
    graph = base()
    rest = np.setdiff1d(np.arange(graph.num_nodes), np.concatenate([train, val]))
    return graph.with_split(Split(train, val, rest))


def star(leaves: int) -> Graph:
    """A hub, its leaves, and a tenth as many edges between leaves."""
    more = np.random.default_rng(0).integers(1, leaves + 1, (leaves // 10, 2))
    spokes = np.stack([np.zeros(leaves, dtype=int), np.arange(1, leaves + 1)], axis=1)
    return made(np.concatenate([spokes, more]), leaves + 1)


def twins() -> Graph:
    """Twenty pairs of nodes with the same neighbours and the same attributes."""
    pairs = np.array(nx.cycle_graph(20).edges())
    doubled = np.concatenate([2 * pairs + [a, b] for a in (0, 1) for b in (0, 1)])
    graph = made(doubled, 40)
    assert graph.attributes is not None
    same = np.arange(40) // 2
    return replace(graph, labels=same % 2, attributes=graph.attributes.toarray()[2 * same])


def one_training_node_a_class() -> Graph:
    graph = base()
    assert graph.labels is not None
    train = np.unique(graph.labels, return_index=True)[1]
    return with_split(train, np.setdiff1d(np.arange(20), train))


def units(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns such as age, income, a time in seconds and a share."""
    scales = np.array([1e0, 1e6, 1.7e9, 1e-4])[np.arange(values.shape[1]) % 4]
    return (values + np.random.default_rng(0).random(values.shape)) * scales


LABELS = np.arange(60) % 3

ODD_GRAPHS: dict[str, Maker] = {
    "clique": lambda: shaped(nx.complete_graph(20)),
    "large clique": lambda: shaped(nx.complete_graph(60)),
    "balanced clique": lambda: shaped(
        nx.complete_graph(40), attributes=np.eye(40), split=Split(range(38), [38, 39], [])
    ),
    "star": lambda: star(100),
    "twins": twins,
    "path": lambda: shaped(nx.path_graph(40)),
    "cycle": lambda: shaped(nx.cycle_graph(40)),
    "matching": lambda: made(np.arange(40).reshape(-1, 2), 40),
    "isolated nodes": lambda: made(np.random.default_rng(1).integers(0, 20, (50, 2)), 60),
    "single edge": lambda: made([[0, 1]], 6),
    "three nodes": lambda: made([[0, 1], [0, 2], [1, 2]], 3, split=Split([0, 1], [], [2])),
    "four nodes": lambda: made(np.array(nx.complete_graph(4).edges()), 4, split=Split([0, 1], [2], [3])),
    "tree": lambda: shaped(nx.balanced_tree(3, 3)),
    "grid": lambda: shaped(nx.grid_2d_graph(6, 7)),
    "bipartite": lambda: shaped(nx.complete_bipartite_graph(8, 12)),
    "self-similar": lambda: shaped(nx.hypercube_graph(5)),
    "power law": lambda: shaped(nx.barabasi_albert_graph(80, 2, seed=0)),
    "two cliques and a bridge": lambda: shaped(nx.barbell_graph(15, 0)),
    "disconnected": lambda: shaped(nx.disjoint_union_all([nx.cycle_graph(5)] * 8)),
    "heterophilous": lambda: synthetic(60, homophily=0.0, seed=0),
    "constant attributes": lambda: with_attributes(np.ones_like),
    "constant attributes of another value": lambda: with_attributes(lambda x: np.full_like(x, -7.5)),
    "zero attributes": lambda: with_attributes(np.zeros_like),
    "no attributes": lambda: with_attributes(lambda x: None),
    "no columns": lambda: with_attributes(lambda x: x[:, :0]),
    "one column": lambda: with_attributes(lambda x: x[:, :1]),
    "one dense column": lambda: with_attributes(lambda x: np.arange(len(x))[:, None]),
    "huge": lambda: with_attributes(lambda x: 1e300 * x),
    "largest": lambda: with_attributes(lambda x: np.where(np.arange(x.shape[1]) % 2, 1.7e308, -1.7e308) * x),
    "tiny": lambda: with_attributes(lambda x: 1e-300 * x),
    "smallest": lambda: with_attributes(lambda x: 5e-324 * x),
    "huge and tiny": lambda: with_attributes(lambda x: x * 10.0 ** np.linspace(-300, 300, len(x))[:, None]),
    "mixed units": lambda: with_attributes(units),
    "negative": lambda: with_attributes(lambda x: -x),
    "signed": lambda: with_attributes(lambda x: np.random.default_rng(0).standard_normal(x.shape)),
    "outlier": lambda: with_attributes(lambda x: np.where(np.arange(x.size).reshape(x.shape) == 7, 1e200, x)),
    "duplicate rows": lambda: with_attributes(lambda x: x[np.arange(len(x)) % 2]),
    "no validation nodes": lambda: with_split(np.arange(20), []),
    "one validation node": lambda: with_split(np.arange(20), [20]),
    "one training node a class": one_training_node_a_class,
    "all nodes train": lambda: with_split(np.arange(60), []),
    "no test nodes": lambda: with_split(np.arange(40), np.arange(40, 60)),
    "missing classes": lambda: with_labels(5 * LABELS),
    "a class without a training node": lambda: with_labels(np.where(np.arange(60) < 40, LABELS % 2, 2)),
    "unknown labels": lambda: with_labels(
        np.where(np.arange(60) < 40, LABELS, -1), split=Split(range(20), range(20, 40), range(40, 60))
    ),
    "two labels": lambda: with_labels(LABELS % 2),
    "fifty classes": lambda: made(np.random.default_rng(0).integers(0, 150, (300, 2)), 150, classes=50),
    "one label": lambda: with_labels(np.zeros(60, dtype=int)),
    "no edges": lambda: made(np.empty((0, 2), dtype=int), 10),
}
