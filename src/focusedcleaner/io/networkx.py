"""NetworkX graphs: nodes by name, and what is known about them as node data."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from focusedcleaner.errors import InputError
from focusedcleaner.graph import UNKNOWN, Graph, IntArray
from focusedcleaner.io.disk import prefix_errors
from focusedcleaner.io.simplify import (
    RESERVED,
    attribute_keys,
    class_words,
    labels_from_words,
    names_of_keys,
    simple_edges,
    split_from_words,
    split_words,
    whole_labels,
)

if TYPE_CHECKING:
    import networkx as nx

ABOUT = "focusedcleaner"
"""Where a converted graph keeps what its nodes and edges can't say."""


def from_networkx(graph: nx.Graph) -> Graph:
    """Make a graph of any NetworkX graph, its nodes in their order.

    Node data `label` (text or class number) and `split` (train, val, test) are read, and every other name under which
    all nodes that have it hold a number is an attribute; nodes that lack it have 0. Edge data `weight` is read.
    """
    with prefix_errors("the NetworkX graph"):
        nodes = tuple(graph)
        named = _checked_about(graph).get("named") or nodes != tuple(range(len(nodes)))
        return graph_from_networkx(graph, names=nodes if named else None, source="the NetworkX graph")


def graph_from_networkx(graph: nx.Graph, *, names: tuple[Hashable, ...] | None, source: str) -> Graph:
    """Do what `from_networkx` does for nodes that are to be called otherwise."""
    number = {node: index for index, node in enumerate(graph)}
    weighted = list(graph.edges(data="weight", default=graph.graph.get("edge_default", {}).get("weight", 1)))
    edges = simple_edges(
        [(number[u], number[v]) for u, v, _ in weighted],
        len(number),
        source=source,
        both_ways=graph.is_directed(),
        weights=[weight for _, _, weight in weighted] or None,
        names=list(map(str, graph)),
    )
    about = _checked_about(graph)
    defaults = graph.graph.get("node_default", {})
    nodes = [{**defaults, **data} for _, data in graph.nodes(data=True)]
    labels, class_names = _labels_of_nodes(nodes, about)
    words = [str(data.get("split") or "") for data in nodes]
    attributes, attribute_names = _attributes_of_nodes(nodes, about)
    return Graph(
        len(number),
        edges,
        attributes=attributes,
        labels=labels,
        split=split_from_words(words) if about.get("split") or any(words) else None,
        names=names,
        class_names=class_names,
        attribute_names=attribute_names,
        notes=about.get("notes", {}),
    )


def to_networkx(graph: Graph) -> nx.Graph:
    """Make a NetworkX graph of nodes by name, with `label`, `split` and attributes other than 0 as node data."""
    import networkx as nx

    keys, words = attribute_keys(graph), class_words(graph)
    made = nx.Graph()
    made.add_nodes_from(map(graph.name, range(graph.num_nodes)))
    made.add_edges_from((graph.name(u), graph.name(v)) for u, v in graph.edges.tolist())
    for node, (data, part) in enumerate(zip(made.nodes.values(), split_words(graph), strict=True)):
        if graph.labels is not None and graph.labels[node] != UNKNOWN:
            label = int(graph.labels[node])
            data["label"] = label if graph.class_names is None else words[label]
        if part:
            data["split"] = part
        if graph.attributes is not None:
            here = slice(graph.attributes.indptr[node], graph.attributes.indptr[node + 1])
            columns, values = graph.attributes.indices[here].tolist(), graph.attributes.data[here].tolist()
            data.update((keys[column], value) for column, value in zip(columns, values, strict=True))
    made.graph[ABOUT] = {
        "named": graph.names is not None,
        "labels": graph.labels is not None,
        "split": graph.split is not None,
        "class_names": graph.class_names,
        "attributes": None if graph.attributes is None else keys,
        "attributes_named": graph.attribute_names is not None,
        "notes": dict(graph.notes),
    }
    return made


def _checked_about(graph: nx.Graph) -> dict[str, Any]:
    """Read what `to_networkx` left with the graph; a file can hold anything in its place."""
    about = graph.graph.get(ABOUT, {})
    if isinstance(about, dict) and isinstance(notes := about.get("notes", {}), dict):
        lists = [about.get("class_names") or [], about.get("attributes") or [], list(notes.values())]
        if all(isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts) for texts in lists):
            return about
    raise InputError(f"its graph data {ABOUT!r} does not hold what it should")


def _labels_of_nodes(
    nodes: list[dict[str, Any]], about: dict[str, Any]
) -> tuple[IntArray | None, tuple[str, ...] | None]:
    given = [data.get("label") for data in nodes]
    if about.get("class_names") is not None:
        number = {name: index for index, name in enumerate(about["class_names"])}
        stray = next((label for label in given if label is not None and label not in number), None)
        if stray is not None:
            raise InputError(f"the label {stray!r} is not among the class names")
        labels = np.array([UNKNOWN if label is None else number[label] for label in given], dtype=np.int64)
        return (labels if about.get("labels") else None), tuple(about["class_names"])
    if about.get("labels") and all(label is None or isinstance(label, int) for label in given):
        return whole_labels([UNKNOWN if label is None else label for label in given]), None
    words = ["" if label is None or label != label else label for label in given]
    words = [int(word) if isinstance(word, float) and word.is_integer() else word for word in words]
    return labels_from_words(words) if any(word != "" for word in words) else (None, None)


def _attributes_of_nodes(
    nodes: list[dict[str, Any]], about: dict[str, Any]
) -> tuple[sp.csr_array | None, tuple[str, ...] | None]:
    """Read the N × F attributes and their names from all data that are numbers wherever they are there."""
    keys = dict.fromkeys(about.get("attributes") or ())
    keys.update(dict.fromkeys(key for data in nodes for key in data if key not in RESERVED))
    for data in nodes:
        for key in [key for key, value in data.items() if key in keys and not isinstance(value, Real)]:
            del keys[key]
    column = {key: place for place, key in enumerate(keys)}
    found = [
        (node, column[key], value) for node, data in enumerate(nodes) for key, value in data.items() if key in column
    ]
    if not keys and about.get("attributes") is None:
        return None, None
    try:
        values = np.array([value for _, _, value in found], dtype=np.float64)
    except OverflowError:
        raise InputError("an attribute is too large a number") from None
    places = np.array([place for *place, _ in found], dtype=np.int64).reshape(-1, 2).T
    names = tuple(map(str, keys))
    matrix = sp.csr_array((values, tuple(places)), shape=(len(nodes), len(keys)))
    return matrix, names if about.get("attributes_named") else names_of_keys(names)
