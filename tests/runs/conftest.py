"""A named graph, sanitized."""

from __future__ import annotations

import pytest

from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import FocusedCleaner, Sanitation


@pytest.fixture
def sanitation(graph: Graph) -> Sanitation:
    names = tuple(f"node {number}, “{number}”" for number in range(graph.num_nodes))
    named = Graph(graph.num_nodes, graph.edges, graph.attributes, graph.labels, graph.split, names)
    return FocusedCleaner().sanitize(named, 12, seed=4)
