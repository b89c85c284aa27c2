"""Scores by their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import sanitizer
from focusedcleaner.scoring import Score, score
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
        assert math.isnan(found.precision) or found.precision == len(attacked & sanitized) / len(sanitized)
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
    with pytest.raises(InputError, match="needs the poisoned graph"):
        score([[0, 1]], clean=graph)


def test_a_result_brings_its_poisoned_graph(graph: Graph) -> None:
    result = sanitizer("jaccard").sanitize(graph, 10)
    clean = graph.without_edges(result.removed[:4])
    assert score(result, clean=clean) == score(result.removed, poisoned=graph, clean=clean) == Score(4, 10, 4)
