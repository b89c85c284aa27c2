"""Ids of nodes: whole numbers stay an array, and nobody can tell."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.graph import Graph
from focusedcleaner.io.node_ids import NodeIds, whole_numbers

NUMBERS = st.lists(st.integers(-(2**63), 2**63 - 1), unique=True)


@given(NUMBERS, NUMBERS)
def test_numbers_are_as_their_texts(one: list[int], other: list[int]) -> None:
    other = [*other, *one[::2]]
    other = list(dict.fromkeys(other))
    numbers = [NodeIds(np.array(values, dtype=np.int64)) for values in (one, other)]
    texts = [NodeIds([str(value) for value in values]) for values in (one, other)]
    assert list(numbers[0]) == list(texts[0])
    assert [numbers[1][place] for place in range(len(other))] == list(texts[1])
    places = texts[0].places(texts[1])
    assert numbers[0].places(numbers[1]).tolist() == places.tolist()
    absent = np.flatnonzero(places < 0)
    joined = [ids[0].followed_by(ids[1], absent) for ids in (numbers, texts)]
    assert list(joined[0]) == list(joined[1])
    assert list(joined[0].names() or range(len(joined[0]))) == list(joined[1].names() or range(len(joined[0])))


@given(st.lists(st.one_of(st.integers(-(2**70), 2**70).map(str), st.text("+-0123456789_.eE ", max_size=5)), min_size=1))
def test_only_texts_that_python_prints_are_numbers(texts: list[str]) -> None:
    expected = []
    for text in texts:
        try:
            expected.append(str(int(text)) == text and -(2**63) < int(text) < 2**63)
        except ValueError:
            expected.append(False)
    found = whole_numbers([pl.Series(texts, dtype=pl.String)])
    assert (found is not None) == all(expected)
    if found is not None:
        assert found[:, 0].tolist() == [int(text) for text in texts]


@pytest.mark.parametrize("names", [None, ("b", "a"), (7, 3)])
def test_the_ids_of_a_graph(names: tuple[object, ...] | None) -> None:
    assert list(NodeIds.of(Graph(2, [[0, 1]], names=names))) == [str(name) for name in names or (0, 1)]
