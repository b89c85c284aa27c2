"""NetworkX graphs and GraphML files: nodes by name, with labels, split and attributes as node data."""

from __future__ import annotations

import io
import json
import warnings
from collections import Counter
from collections.abc import Hashable
from itertools import chain
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import numpy as np
import scipy.sparse as sp

from focusedcleaner.errors import InputError, InputWarning, prefix_errors
from focusedcleaner.formatting import count
from focusedcleaner.graph import UNKNOWN, Graph, IntArray
from focusedcleaner.io import node_text
from focusedcleaner.io.disk import checked_file, first_words
from focusedcleaner.io.simplify import numbered_classes, simple_edges

if TYPE_CHECKING:
    import networkx as nx

METADATA = "focusedcleaner"
"""The graph attribute for what NetworkX and PyG have no place for."""
DEEPEST = 100
"""Most elements of a GraphML file inside each other."""


def from_networkx(graph: nx.Graph) -> Graph:
    """Convert any NetworkX graph, its nodes in their order.

    Node data `label` (text or class number) and `split` (train, val, test) are read, and so is edge data `weight`.
    Any other node data that is always a number is an attribute, 0 for nodes without it.
    """
    with prefix_errors("the NetworkX graph"):
        nodes = tuple(graph)
        named = _metadata(graph).get("named") or nodes != tuple(range(len(nodes)))
        return _converted(graph, names=nodes if named else None, source="the NetworkX graph")


def to_networkx(graph: Graph) -> nx.Graph:
    """Convert to a NetworkX graph of nodes by name, with `label`, `split` and non-zero attributes as node data."""
    import networkx as nx

    keys, words = node_text.attribute_keys(graph), node_text.class_words(graph)
    result = nx.Graph()
    result.add_nodes_from(map(graph.name, range(graph.num_nodes)))
    result.add_edges_from((graph.name(u), graph.name(v)) for u, v in graph.edges.tolist())
    for node, (data, part) in enumerate(zip(result.nodes.values(), node_text.split_words(graph), strict=True)):
        if graph.labels is not None and graph.labels[node] != UNKNOWN:
            label = int(graph.labels[node])
            data["label"] = label if graph.class_names is None else words[label]
        if part:
            data["split"] = part
        if graph.attributes is not None:
            row = slice(graph.attributes.indptr[node], graph.attributes.indptr[node + 1])
            columns, values = graph.attributes.indices[row].tolist(), graph.attributes.data[row].tolist()
            data.update((keys[column], value) for column, value in zip(columns, values, strict=True))
    result.graph[METADATA] = {
        "named": graph.names is not None,
        "labels": graph.labels is not None,
        "split": graph.split is not None,
        "class_names": graph.class_names,
        "attributes": None if graph.attributes is None else keys,
        "attributes_named": graph.attribute_names is not None,
        "notes": dict(graph.notes),
    }
    return result


def load_graphml(path: Path) -> Graph:
    """Read a GraphML file; its node data are read as `from_networkx` does."""
    with prefix_errors(path):
        content = checked_file(path).read_bytes()
        _check_structure(content, source=str(path))
        graph = _parse_graphml(content)
        if isinstance(metadata := graph.graph.get(METADATA), str):
            try:
                graph.graph[METADATA] = json.loads(metadata)
            except (ValueError, RecursionError):
                raise InputError(f"its graph data {METADATA!r} is not JSON") from None
        return _converted(graph, names=node_text.parse_ids([str(node) for node in graph]), source=str(path))


def graphml_network(path: Path) -> nx.Graph:
    """The network of a GraphML file with all its data; parallel edges stay."""
    content = checked_file(path).read_bytes()
    _check_structure(content, source=None)
    network = _parse_graphml(content)
    simple = all(key == 0 for _, _, key in network.edges(keys=True))
    if not simple:
        return network
    import networkx as nx

    return (nx.DiGraph if network.is_directed() else nx.Graph)(network)


def graphml_without(network: nx.Graph, removed: list[tuple[str, str]], added: list[tuple[str, str]]) -> bytes:
    """A GraphML file of a network without some edges, in either direction, and with others."""
    import networkx as nx

    for u, v in [*removed, *added]:
        for ends in ((u, v), (v, u)):
            while network.has_edge(*ends):
                network.remove_edge(*ends)
    for u, v in added:
        network.add_edge(u, v)
        if network.is_directed():
            network.add_edge(v, u)
    buffer = io.BytesIO()
    nx.write_graphml_xml(network, buffer)
    return buffer.getvalue()


def graphml_files(graph: Graph, path: Path) -> dict[Path, bytes]:
    """The content of a GraphML file. Ids are text in it; they are read as integers if all of them are."""
    import networkx as nx

    with prefix_errors(path):
        node_text.check_table_texts(graph)
        texts = node_text.id_texts(graph)
        result = to_networkx(graph)
        result = nx.relabel_nodes(result, dict(zip(result, texts, strict=True)))
        result.graph[METADATA] = json.dumps(result.graph[METADATA], sort_keys=True)
        buffer = io.BytesIO()
        nx.write_graphml_xml(result, buffer)
        return {path: buffer.getvalue()}


def _check_structure(content: bytes, *, source: str | None) -> None:
    """Refuse what NetworkX would drop, invent or expand without a word; an `InputWarning` counts ports."""
    parser = expat.ParserCreate(namespace_separator=" ")
    structure = _Structure()
    parser.StartDoctypeDeclHandler = structure.refuse_doctype
    parser.StartElementHandler, parser.EndElementHandler = structure.start, structure.end
    try:
        parser.Parse(content, True)
    except InputError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise InputError(f"is not XML: {first_words(error)}") from None
    structure.check_ends()
    if structure.ports and source is not None:
        ignored = f"{count(structure.ports, 'port')} ignored: edges join whole nodes"
        warnings.warn(f"{source}: {ignored}", InputWarning, stacklevel=2)


class _Structure:
    """The elements of a GraphML file as they are parsed: the open ones, the nodes, and the ends of edges."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.nodes: set[str] = set()
        self.ends: dict[str, None] = {}
        self.ports = 0

    def refuse_doctype(self, *declaration: object) -> None:
        """Refuse a document type, with which a small file can expand without end."""
        raise InputError("has a DOCTYPE, which GraphML does not need and which is not safe to read")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if len(self.open) >= DEEPEST:
            raise InputError(f"its elements are nested more than {DEEPEST} deep")
        if "data" not in self.open:
            self._check(tag, attributes)
        self.open.append(tag)

    def end(self, name: str) -> None:
        self.open.pop()

    def _check(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "graph" and "graph" in self.open:
            raise InputError("a graph holds another one: nested graphs are not supported")
        if tag == "hyperedge":
            raise InputError("has hyperedges, which are not supported")
        self.ports += tag == "port"
        if tag == "node":
            node = attributes.get("id")
            if not node:
                raise InputError("a node has no id")
            if node in self.nodes:
                raise InputError(f"node {node_text.shortened(node)} comes twice")
            self.nodes.add(node)
        if tag == "edge":
            ends = [attributes.get(end) for end in ("source", "target")]
            if not all(ends):
                raise InputError(f"an edge has no {'target' if ends[0] else 'source'}")
            self.ends |= dict.fromkeys(filter(None, ends))

    def check_ends(self) -> None:
        """Refuse edges to nodes that the file does not declare."""
        unknown = [end for end in self.ends if end not in self.nodes]
        if unknown:
            raise InputError(f"an edge names node {node_text.shortened(unknown[0])}, which the file does not declare")


def _parse_graphml(content: bytes) -> nx.MultiGraph:
    import networkx as nx

    reader = nx.readwrite.graphml.GraphMLReader(force_multigraph=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about keys without a type and ports, which do not matter here
            graphs = list(reader(path=io.BytesIO(content)))
    except (nx.NetworkXError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"is not GraphML that can be read: {first_words(error)}") from None
    if len(graphs) != 1:
        raise InputError(f"has {len(graphs)} graphs where one is needed")
    return graphs[0]


def _converted(graph: nx.Graph, *, names: tuple[Hashable, ...] | None, source: str) -> Graph:
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
    metadata = _metadata(graph)
    defaults = graph.graph.get("node_default", {})
    nodes = [{**defaults, **data} for _, data in graph.nodes(data=True)]
    labels, class_names = _labels(nodes, metadata)
    words = [str(data.get("split") or "") for data in nodes]
    attributes, attribute_names = _attributes(nodes, metadata, source)
    return Graph(
        len(number),
        edges,
        attributes=attributes,
        labels=labels,
        split=node_text.parse_split(words) if metadata.get("split") or any(words) else None,
        names=node_text.checked_names(names),
        class_names=node_text.checked_texts(class_names, "class name"),
        attribute_names=node_text.checked_texts(attribute_names, "attribute name"),
        notes=metadata.get("notes", {}),
    )


def _metadata(graph: nx.Graph) -> dict[str, Any]:
    """The checked metadata of `to_networkx`: a file can hold anything in its place."""
    metadata = graph.graph.get(METADATA, {})
    if isinstance(metadata, dict) and isinstance(notes := metadata.get("notes", {}), dict):
        lists = [metadata.get("class_names") or [], metadata.get("attributes") or [], list(notes.values())]
        if all(isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts) for texts in lists):
            return metadata
    raise InputError(f"its graph data {METADATA!r} does not hold what it should")


def _labels(nodes: list[dict[str, Any]], metadata: dict[str, Any]) -> tuple[IntArray | None, tuple[str, ...] | None]:
    """N labels and the class names."""
    labels = [data.get("label") for data in nodes]
    if metadata.get("class_names") is not None:
        number = {None: UNKNOWN} | {name: index for index, name in enumerate(metadata["class_names"])}
        try:
            numbers = np.array([number[label] for label in labels], dtype=np.int64)
        except KeyError as error:
            raise InputError(f"the label {error.args[0]!r} is not among the class names") from None
        return (numbers if metadata.get("labels") else None), tuple(metadata["class_names"])
    if metadata.get("labels") and all(label is None or isinstance(label, int) for label in labels):
        return numbered_classes([UNKNOWN if label is None else label for label in labels])
    words = ["" if label is None or label != label else label for label in labels]
    words = [int(word) if isinstance(word, float) and word.is_integer() else word for word in words]
    return node_text.parse_labels(words) if any(word != "" for word in words) else (None, None)


def _attributes(
    nodes: list[dict[str, Any]], metadata: dict[str, Any], source: str
) -> tuple[sp.csr_array | None, tuple[str, ...] | None]:
    """N × F attributes and their names: all node data that are numbers on every node that has them.

    An `InputWarning` names data that are numbers on some nodes only.
    """
    other = Counter(key for data in nodes for key, value in data.items() if not isinstance(value, Real))
    for key in dict.fromkeys(key for data in nodes for key in data if key in other and key not in node_text.RESERVED):
        if numbers := sum(isinstance(data.get(key), Real) for data in nodes):
            mixed = f"is a number on {count(numbers, 'node')} and something else on {other[key]:,}"
            what = f"the node data {node_text.shortened(key)} {mixed}, so it is no attribute"
            warnings.warn(f"{source}: {what}", InputWarning, stacklevel=2)
    other.update(node_text.RESERVED)
    keys = [key for key in dict.fromkeys(chain(metadata.get("attributes") or (), *nodes)) if key not in other]
    if not keys and metadata.get("attributes") is None:
        return None, None
    column = {key: number for number, key in enumerate(keys)}
    entries = [
        (value, node, column[key]) for node, data in enumerate(nodes) for key, value in data.items() if key in column
    ]
    values, rows, columns = zip(*entries, strict=True) if entries else ((), (), ())
    try:
        array = np.array(values, dtype=np.float64)
    except OverflowError:
        raise InputError("an attribute is too large a number") from None
    matrix = sp.csr_array((array, (np.array(rows, np.int64), np.array(columns, np.int64))), (len(nodes), len(keys)))
    names = tuple(map(str, keys))
    return matrix, names if metadata.get("attributes_named") else node_text.names_of_keys(names)
