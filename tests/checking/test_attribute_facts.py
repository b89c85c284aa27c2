"""Whether attributes tell anything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from focusedcleaner.checking import attribute_facts as module
from focusedcleaner.checking.attribute_facts import attribute_facts
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph
from tests.checking.strategies import odd_graphs


@given(odd_graphs())
def test_counts_are_those_of_a_dense_table(graph: Graph) -> None:
    facts = attribute_facts(graph)
    if graph.attributes is None or not graph.num_attributes:
        assert facts is None
        return
    assert facts is not None
    table = graph.attributes.toarray()
    assert facts.constant_columns == (table == table[0]).all(axis=0).sum()
    assert facts.density == pytest.approx((table != 0).mean())
    assert facts.empty_nodes == (table == 0).all(axis=1).sum()
    if facts.separation is not None:
        assert 0 <= facts.separation <= 1


def test_telling_words_and_random_ones() -> None:
    graph = synthetic(1000, homophily=0.9, attribute_signal=0.9, seed=0)
    facts = attribute_facts(graph)
    assert facts is not None
    assert facts.telling == "much"
    assert facts.linked_similarity is not None
    assert facts.random_similarity is not None
    assert facts.linked_similarity > 2 * facts.random_similarity
    noise = np.random.default_rng(0).standard_normal((1000, 8))
    drawn = attribute_facts(replace(graph, attributes=noise, attribute_names=None))
    assert drawn is not None
    assert drawn.telling == "hardly"
    assert drawn.separation == pytest.approx(0.5, abs=0.03)


def test_unlike_neighbours_tell_as_well() -> None:
    half = np.repeat([0, 1], 30)
    pairs = [[u, v] for u in range(30) for v in range(30, 60)]
    facts = attribute_facts(Graph(60, pairs, attributes=np.eye(2)[half]))
    assert facts is not None
    assert facts.separation == 0.0
    assert facts.telling == "much"


def test_a_billion_columns_cost_nothing() -> None:
    wide = sp.csr_array((np.ones(2), ([0, 1], [5, 10**9 - 1])), shape=(3, 10**9))
    facts = attribute_facts(Graph(3, [[0, 1], [1, 2]], attributes=wide))
    assert facts is not None
    assert facts.constant_columns == 10**9 - 2


def test_a_sample_of_pairs_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic(2000, homophily=0.9, attribute_signal=0.9, seed=0)
    whole = attribute_facts(graph)
    monkeypatch.setattr(module, "SAMPLED_PAIRS", 1000)
    sampled = attribute_facts(graph)
    assert whole is not None
    assert sampled is not None
    assert sampled.linked_similarity == pytest.approx(whole.linked_similarity, rel=0.1)
    assert sampled.separation == pytest.approx(whole.separation, abs=0.05)
