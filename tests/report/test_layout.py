"""Positions of the nodes in a picture."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.report.neighbourhood import neighbourhood, positions
from tests.report.test_neighbourhood import star


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 40), st.integers(0, 30), st.integers(1, 2))
def test_nodes_are_inside_and_on_their_side(leaves: int, shared: int, hops: int) -> None:
    around = neighbourhood(star(leaves, shared), 0, 1, hops=hops, most=90)
    kinds = np.zeros(len(around.nodes), dtype=np.int64)
    places = positions(around, kinds, 340, 220)
    assert ((places > 5) & (places < [335, 215])).all()
    assert places[0, 0] < places[1, 0]
    assert places[0, 1] == places[1, 1]
    assert (places[around.sides < 0, 0] <= places[0, 0]).all()
    assert (places[around.sides > 0, 0] >= places[1, 0]).all()
    between = places[(around.sides == 0) & (around.hops > 0), 0]
    assert ((between > places[0, 0]) & (between < places[1, 0])).all()
