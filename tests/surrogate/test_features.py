"""The forms of the training features: kept up to date, and chosen by size."""

from __future__ import annotations

from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate import Surrogate
from focusedcleaner.surrogate.features import DualFeatures, PrimalFeatures, SparseFeatures
from tests.strategies import labelled_graphs


@settings(deadline=None, max_examples=40)
@given(graph=labelled_graphs(min_nodes=10, max_nodes=30), order=st.randoms(use_true_random=False))
def test_features_kept_over_removals_are_those_computed_afresh(graph: Graph, order: Random) -> None:
    surrogate = Surrogate(graph, form="dual")
    edges = list(range(graph.num_edges))
    order.shuffle(edges)
    for step in (edges[:1], edges[1:2], edges[2:]):
        surrogate.structure.remove(torch.tensor(step, dtype=torch.long))
        kept = surrogate.features.now()
        fresh = Surrogate(graph, form="dual")
        fresh.structure.remove(torch.nonzero(~surrogate.structure.alive).squeeze(1))
        anew = fresh.features.now()
        assert isinstance(kept, DualFeatures)
        assert isinstance(anew, DualFeatures)
        assert torch.equal(kept.rows, anew.rows)
        torch.testing.assert_close(kept.gram, anew.gram, rtol=1e-12, atol=1e-12)


def test_many_rows_by_a_dense_product_are_those_by_sparse_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic(num_nodes=300, num_attributes=6, seed=0)
    by_dense = Surrogate(graph, form="primal").features.now()
    monkeypatch.setattr("focusedcleaner.surrogate.features.DENSE_LIMIT", 10)
    by_sparse = Surrogate(graph, form="primal").features.now()
    assert isinstance(by_dense, PrimalFeatures)
    assert isinstance(by_sparse, PrimalFeatures)
    torch.testing.assert_close(by_dense.rows, by_sparse.rows)


def test_the_form_is_picked_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic(num_nodes=300, num_attributes=10, seed=0)
    assert type(Surrogate(graph).fit().features) is PrimalFeatures
    wide = synthetic(num_nodes=300, num_attributes=200, seed=0)
    assert type(Surrogate(wide).fit().features) is DualFeatures
    monkeypatch.setattr("focusedcleaner.surrogate.features.DENSE_LIMIT", 10)
    assert type(Surrogate(wide).fit().features) is SparseFeatures
