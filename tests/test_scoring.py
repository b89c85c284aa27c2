"""Scores by their definitions, budgets by what people write."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.scoring import Score, score, victim_auc
from tests.strategies import labelled_graphs


@settings(deadline=None, max_examples=60)
@given(poisoned=labelled_graphs(), seed=st.integers(0, 1000))
def test_scores_are_those_of_sets(poisoned: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    clean = poisoned.without_edges(poisoned.edges[rng.random(poisoned.num_edges) < 0.4]).with_edges([[0, 2]])
    removed = poisoned.edges[rng.random(poisoned.num_edges) < 0.4]
    attacked = set(map(tuple, poisoned.edges.tolist())) - set(map(tuple, clean.edges.tolist()))
    sanitized = set(map(tuple, removed.tolist()))
    found = score(removed, poisoned=poisoned, clean=clean)
    assert (found.attacked, found.removed, found.hits) == (
        len(attacked),
        len(sanitized),
        len(attacked & sanitized),
    )
    if attacked:
        assert found.esr == pytest.approx(len(attacked & sanitized) / len(attacked | sanitized))
        assert found.f1 == pytest.approx(2 * len(attacked & sanitized) / (len(attacked) + len(sanitized)))
        assert found.cr == pytest.approx(len(attacked & sanitized) / len(attacked))
        assert 0 <= found.esr <= found.oracle_esr <= 1


def test_nothing_over_nothing_is_not_a_number() -> None:
    empty = Score(attacked=0, removed=0, hits=0)
    assert all(math.isnan(value) for value in (empty.esr, empty.f1, empty.cr, empty.oracle_esr))


def test_what_can_not_be_compared() -> None:
    graph = Graph(3, [[0, 1], [1, 2]])
    with pytest.raises(InputError, match="nodes"):
        score([[0, 1]], poisoned=graph, clean=Graph(2, [[0, 1]]))
    with pytest.raises(InputError, match="not in the poisoned graph"):
        score([[0, 2]], poisoned=graph, clean=graph)


def test_victim_auc() -> None:
    clean = Graph(4, [[0, 1], [2, 3]])
    poisoned = Graph(4, [[0, 1], [0, 2], [2, 3]])
    assert victim_auc([0.9, 0.1, 0.8, 0.2], poisoned=poisoned, clean=clean) == 1.0
    assert victim_auc([0.1, 0.9, 0.2, 0.8], poisoned=poisoned, clean=clean) == 0.0
    assert math.isnan(victim_auc([0, 0, 0, 0], poisoned=clean, clean=clean))
