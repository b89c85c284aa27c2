"""The gradient of every pair against dense autograd."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from focusedcleaner.engine import Attributes, Structure
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate import PairGradient, Smoother
from tests.strategies import labelled_graphs
from tests.surrogate.test_model import assert_close, dense_attributes


def normalized(adjacency: Tensor) -> Tensor:
    loops = adjacency + torch.eye(len(adjacency)).double()
    scale = loops.sum(1).rsqrt()
    return scale[:, None] * loops * scale


@settings(deadline=None, max_examples=20)
@given(graph=labelled_graphs(), seed=st.integers(0, 1000), columns=st.integers(1, 5))
def test_factors_give_the_gradient_of_every_pair(graph: Graph, seed: int, columns: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    left, right = torch.randn(2, graph.num_nodes, columns, generator=generator, dtype=torch.float64)
    adjacency = torch.tensor(graph.adjacency().toarray(), requires_grad=True)
    (dense,) = torch.autograd.grad(((left @ right.T) * normalized(adjacency)).sum(), adjacency)
    gradient = PairGradient(Structure(graph), left, right)
    front, back = gradient.factors()
    assert front.shape == back.shape == (graph.num_nodes, 2 * columns + 2)
    off = ~torch.eye(graph.num_nodes).bool()
    torch.testing.assert_close((front @ back.T)[off], (dense + dense.T)[off], rtol=1e-9, atol=1e-9)
    u, v = torch.tensor(graph.edges).T
    torch.testing.assert_close(gradient.edges(), (dense + dense.T)[u, v], rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=30)
@given(graph=labelled_graphs())
def test_smoother_and_its_gradient(graph: Graph) -> None:
    structure = Structure(graph)
    smoother = Smoother(Structure(graph), Attributes(graph))
    adjacency = torch.tensor(graph.adjacency().toarray(), requires_grad=True)
    attributes = dense_attributes(graph) if graph.features is not None else torch.zeros(graph.num_nodes, 1).double()
    degrees = adjacency.sum(1)
    scale = torch.where(degrees > 0, degrees.clamp_min(1e-9).rsqrt(), 0.0)
    laplacian = torch.diag((degrees > 0).double()) - scale[:, None] * adjacency * scale
    value = torch.trace(attributes.T @ laplacian @ attributes)
    assert float(smoother.value(structure)) == pytest.approx(value.item(), abs=1e-9)
    (gradient,) = torch.autograd.grad(value, adjacency)
    u, v = torch.tensor(graph.edges).T
    assert_close(smoother.edges(structure), gradient[u, v] + gradient[v, u])
