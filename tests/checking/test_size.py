"""What costs depend on, and the speed of this machine."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from focusedcleaner.checking.size import size_of, unit_of_time
from focusedcleaner.graph import Graph
from tests.checking.strategies import odd_graphs


@given(odd_graphs())
def test_sizes_against_sums_over_edges(graph: Graph) -> None:
    size = size_of(graph)
    entries = np.zeros(graph.num_nodes) if graph.features is None else (graph.features.toarray() != 0).sum(axis=1)
    assert size.neighbour_entries == sum(entries[u] + entries[v] for u, v in graph.edges)
    assert size.two_hop_paths == sum(graph.degrees[u] + graph.degrees[v] for u, v in graph.edges)
    assert (size.nodes, size.edges, size.classes) == (graph.num_nodes, graph.num_edges, graph.num_classes)
    assert all(isinstance(value, int) for value in size.to_dict().values())


def test_the_unit_of_time_is_measured_once() -> None:
    assert unit_of_time() == unit_of_time()
    assert 1e-6 <= unit_of_time() < 1
