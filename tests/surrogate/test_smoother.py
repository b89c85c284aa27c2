"""The attribute smoother and its gradient against dense autograd."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings

from focusedcleaner.engine import Attributes, Structure
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate import Smoother
from tests.strategies import labelled_graphs
from tests.surrogate.test_model import assert_close, dense_attributes


@settings(deadline=None, max_examples=30)
@given(graph=labelled_graphs())
def test_smoother_and_its_gradient(graph: Graph) -> None:
    structure = Structure(graph)
    smoother = Smoother(graph, Attributes(graph))
    adjacency = torch.tensor(graph.adjacency().toarray(), requires_grad=True)
    attributes = dense_attributes(graph) if graph.attributes is not None else torch.zeros(graph.num_nodes, 1).double()
    degrees = adjacency.sum(1)
    scale = torch.where(degrees > 0, degrees.clamp_min(1e-9).rsqrt(), 0.0)
    laplacian = torch.diag((degrees > 0).double()) - scale[:, None] * adjacency * scale
    value = torch.trace(attributes.T @ laplacian @ attributes)
    assert float(smoother.value(structure)) == pytest.approx(value.item(), abs=1e-9)
    (gradient,) = torch.autograd.grad(value, adjacency)
    u, v = torch.tensor(graph.edges).T
    assert_close(smoother.edges(structure), gradient[u, v] + gradient[v, u])
