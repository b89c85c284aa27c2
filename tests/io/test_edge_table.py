"""Rows of an edge table by number, against plain Python."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.io.edge_table import _factorized

whole = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5)


@given(
    st.lists(st.tuples(whole, whole), min_size=1, max_size=20).map(lambda rows: [(str(u), str(v)) for u, v in rows])
    | st.lists(
        st.tuples(*[st.sampled_from(["a", "b", "007", "7", "-0", "+1", "", "é" * 20, "9" * 30])] * 2), min_size=1
    )
    | st.lists(st.tuples(*[st.sampled_from(["1", "2", "9" * 30, "-" + "8" * 25])] * 2), min_size=1)
)
def test_ids_are_numbered_by_value_or_by_appearance(rows: list[tuple[str, str]]) -> None:
    codes, ids = _factorized([pl.Series([row[side] for row in rows], dtype=pl.String) for side in (0, 1)])
    assert [(ids[u], ids[v]) for u, v in codes.tolist()] == rows
    seen = list(dict.fromkeys(cell for row in rows for cell in row))
    numbers = all(cell.lstrip("-").isdigit() and str(int(cell)) == cell for cell in seen)
    assert list(ids) == (sorted(seen, key=int) if numbers else seen)


@pytest.mark.parametrize("kind", [pl.Int64, pl.String])
def test_no_rows_are_no_ids(kind: type[pl.DataType]) -> None:
    codes, ids = _factorized([pl.Series([], dtype=kind)] * 2)
    assert (codes.shape, list(ids)) == ((0, 2), [])
