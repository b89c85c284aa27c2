"""The hiding strategies."""

from __future__ import annotations

import numpy as np
import pytest

from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import IntArray
from focusedcleaner.restore.hiding import HIDING_STRATEGIES, HidingStrategy, at_training_nodes, within_classes

Pairs = set[tuple[int, int]]


def as_set(pairs: IntArray) -> Pairs:
    return {(int(u), int(v)) for u, v in pairs}


@pytest.mark.parametrize("strategy", HIDING_STRATEGIES)
def test_hidden_edges_exist_and_isolate_no_node(strategy: HidingStrategy) -> None:
    graph = synthetic(num_nodes=120, seed=2)
    assert graph.labels is not None
    hidden, again = (strategy(graph, graph.labels, 12, np.random.default_rng(0)) for _ in range(2))
    assert 0 < len(hidden) <= 12
    assert as_set(hidden) <= as_set(graph.edges)
    assert ((graph.without_edges(hidden).degrees > 0) == (graph.degrees > 0)).all()
    np.testing.assert_array_equal(hidden, again)


def test_edges_are_hidden_where_attackers_cut() -> None:
    graph = synthetic(num_nodes=120, seed=2)
    assert graph.labels is not None
    assert graph.split is not None
    for strategy in (within_classes, at_training_nodes):
        hidden = strategy(graph, graph.labels, 10, np.random.default_rng(0))
        assert (np.diff(graph.labels[hidden], axis=1) == 0).all()
    assert (np.isin(hidden, graph.split.train).sum(axis=1) == 1).all()
