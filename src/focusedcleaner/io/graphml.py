"""GraphML, by way of NetworkX."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io.disk import checked_file, prefix_errors, write_files
from focusedcleaner.io.networkx import ABOUT, graph_from_networkx, to_networkx
from focusedcleaner.io.simplify import ids_as_text, ids_from_text, plain_texts

if TYPE_CHECKING:
    import networkx as nx


def load_graphml(path: Path) -> Graph:
    """Read a graph from GraphML: node data `label` and `split`, and numbers of any other name as attributes."""
    with prefix_errors(path):
        content = checked_file(path).read_bytes()
        _refuse_declarations(content)
        graph = _parsed(content)
        if isinstance(about := graph.graph.get(ABOUT), str):
            try:
                graph.graph[ABOUT] = json.loads(about)
            except (ValueError, RecursionError):
                raise InputError(f"its graph data {ABOUT!r} is not JSON") from None
        names = ids_from_text([str(node) for node in graph])
        return graph_from_networkx(graph, names=names, source=str(path))


def _refuse_declarations(content: bytes) -> None:
    """Parse once without building anything: a document type can make a small file expand without end."""

    def refuse(*declaration: object) -> None:
        raise InputError("has a DOCTYPE, which GraphML does not need and which is not safe to read")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"is not XML: {error}") from None


def _parsed(content: bytes) -> nx.MultiGraph:
    import networkx as nx

    reader = nx.readwrite.graphml.GraphMLReader(force_multigraph=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about keys without a type and ports, which change nothing here
            graphs = list(reader(path=io.BytesIO(content)))
    except (nx.NetworkXError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"is not GraphML that can be read: {error}") from None
    if len(graphs) != 1:
        raise InputError(f"has {len(graphs)} graphs where one is needed")
    return graphs[0]


def save_graphml(graph: Graph, path: Path) -> None:
    """Write a graph as GraphML; ids are text there, and whole numbers again when all of them are."""
    import networkx as nx

    with prefix_errors(path):
        plain_texts(graph.class_names or (), "class name")
        plain_texts(graph.attribute_names or (), "attribute name")
        texts = ids_as_text(graph)
        written = to_networkx(graph)
        written = nx.relabel_nodes(written, dict(zip(written, texts, strict=True)))
        about: dict[str, Any] = written.graph.pop(ABOUT)
        written.graph[ABOUT] = json.dumps(about, sort_keys=True)
        buffer = io.BytesIO()
        nx.write_graphml_xml(written, buffer)
    write_files({path: buffer.getvalue()})
