"""Components, degrees and the sides of bipartite graphs."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.checking.connections import connections, two_sides
from focusedcleaner.graph import Graph
from tests.checking.strategies import odd_graphs


@given(odd_graphs())
def test_components_against_networkx(graph: Graph) -> None:
    other = nx.Graph(graph.edges.tolist())
    other.add_nodes_from(range(graph.num_nodes))
    sizes = [len(part) for part in nx.connected_components(other)]
    found = connections(graph)
    assert (found.components, found.largest_component) == (len(sizes), max(sizes) / graph.num_nodes)
    assert found.isolated_nodes == nx.number_of_isolates(other)
    assert found.largest_degree == max(dict(other.degree).values())


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_the_two_sides(users: int, items: int, seed: int) -> None:
    pairs = np.argwhere(np.random.default_rng(seed).random((users, items)) < 0.5) + np.array([0, users])
    if not len(pairs):
        return
    graph = Graph.from_pairs(users + items, pairs)
    assert two_sides(graph) == (len(np.unique(pairs[:, 0])), len(np.unique(pairs[:, 1])))


def test_a_complete_bipartite_graph_is_recognized() -> None:
    found = connections(Graph(13, [[user, item] for user in range(4) for item in range(4, 12)]))
    assert (found.bipartite, found.sides, found.isolated_nodes) == (True, (4, 8), 1)
    assert connections(Graph(3, [[0, 1], [0, 2], [1, 2]])).sides is None
