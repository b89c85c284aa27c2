"""Values at pairs, and removals, against dense matrices."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.engine import Pairs, Structure
from focusedcleaner.engine.structure import MutableEdges
from focusedcleaner.graph import Graph
from tests.strategies import labelled_graphs


@settings(deadline=None, max_examples=30)
@given(graph=labelled_graphs(), seed=st.integers(0, 1000))
def test_dot_products_of_pairs_and_their_gradient(graph: Graph, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    outputs = torch.randn(graph.num_nodes, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(graph.num_edges, generator=generator, dtype=torch.float64)
    pairs = Pairs(graph.num_nodes, graph.edges.T, dtype=torch.float64)
    u, v = torch.tensor(graph.edges).T
    theirs = (outputs[u] * outputs[v]).sum(1)
    torch.testing.assert_close(pairs.dots(outputs.detach(), outputs.detach()) / 2, theirs.detach())
    (gradient,) = torch.autograd.grad((theirs * weights).sum(), outputs)
    torch.testing.assert_close(pairs.weighted(weights) @ outputs.detach(), gradient)


@settings(deadline=None, max_examples=30)
@given(graph=labelled_graphs(), count=st.integers(0, 3))
def test_products_are_those_of_the_smaller_graph(graph: Graph, count: int) -> None:
    gone = torch.arange(min(count, graph.num_edges))
    structure = Structure(graph)
    structure.remove(gone)
    adjacency = torch.tensor(graph.without_edges(graph.edges[: len(gone)]).adjacency().toarray())
    degrees = adjacency.sum(1)
    scale = (degrees + 1).rsqrt()
    operator = scale[:, None] * (adjacency + torch.eye(graph.num_nodes)) * scale
    matrix = torch.arange(2.0 * graph.num_nodes, dtype=torch.float64).view(-1, 2)
    torch.testing.assert_close(structure.neighbour_sum(matrix), adjacency @ matrix)
    torch.testing.assert_close(structure.propagate(matrix), operator @ matrix)
    nodes = torch.arange(0, graph.num_nodes, 2)
    torch.testing.assert_close(structure.propagate_to(nodes, matrix), (operator @ matrix)[nodes])
    two_hops = torch.tensor(structure.rows_of_two_hops(nodes.numpy()).toarray())
    torch.testing.assert_close(two_hops, (operator @ operator)[nodes])
    torch.testing.assert_close(structure.at_nodes(torch.ones(graph.num_edges).double()), degrees)


@settings(deadline=None, max_examples=30)
@given(graph=labelled_graphs(), seed=st.integers(0, 1000))
def test_flips_are_those_of_a_set(graph: Graph, seed: int) -> None:
    every = np.argwhere(np.triu(np.ones((graph.num_nodes,) * 2), 1))
    flips = np.random.default_rng(seed).permutation(every)[:6].tolist()
    edges, expected = MutableEdges(graph), {tuple(pair) for pair in graph.edges.tolist()}
    for u, v in flips:
        edges.flip(u, v)
        expected ^= {(u, v)}
    assert [tuple(pair) for pair in edges.edges.tolist()] == sorted(expected)
    degrees = Graph(graph.num_nodes, sorted(expected)).degrees
    assert edges.degrees.tolist() == degrees.tolist()
    flipped = {tuple(pair) for pair in flips}
    assert {tuple(pair) for pair in edges.not_insertable().tolist()} == expected | flipped
    removable = {pair for pair in expected - flipped if min(degrees[list(pair)]) > 1}
    assert {tuple(pair) for pair in edges.edges[edges.removable()].tolist()} == removable
    assert edges.structure().num_edges == len(expected)
