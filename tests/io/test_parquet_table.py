"""Parquet files as tables."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import polars as pl
import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.io import load_graph
from focusedcleaner.io.parquet_table import ParquetTable


def test_cells_are_whole_numbers_or_text(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame(
        {
            "whole": pl.Series([1, 2], dtype=pl.UInt16),
            "gaps": [1.0, None],
            "text": [" x ", None],
            "day": [date(2020, 1, 2), None],
            "yes": [True, None],
            "real": [1.5, 2.0],
            "kind": pl.Series(["a", "b"], dtype=pl.Categorical),
        }
    ).write_parquet(path)
    table = ParquetTable.read(path)
    assert (table.rows, table.width) == (2, 7)
    assert [column.to_list() for column in table.columns(range(7))] == [
        [1, 2], ["1", ""], ["x", ""], ["2020-01-02", ""], ["true", ""], ["1.5", "2.0"], ["a", "b"],
    ]  # fmt: skip
    assert table.place(4) == "row 5"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": [[1], [2]], "target": [1, 2]}, r"the column 'source' holds List\(Int64\): only text, numbers"),
        ({"source": [1, None], "target": [1, 2]}, "row 2: a node id is empty"),
        ({"a": [1], "b": [2], "c": [3]}, "which columns hold the ends of an edge"),
        ({"source": ["a\x07"], "target": ["b"]}, "row 1: node 'a.x07': a name must not hold control characters"),
    ],
)
def test_what_can_not_be_read_is_refused(columns: dict[str, list[object]], message: str, tmp_path: Path) -> None:
    pl.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=message):
        load_graph(tmp_path / "t.parquet")


def test_ids_may_be_larger_than_64_bits_with_a_sign_hold(tmp_path: Path) -> None:
    large = pl.Series([2**64 - 1, 5], dtype=pl.UInt64)
    pl.DataFrame({"source": large, "target": [1, 2]}).write_parquet(tmp_path / "t.parquet")
    assert load_graph(tmp_path / "t.parquet").names == (1, 2, 5, 2**64 - 1)


def test_a_parquet_file_always_has_a_header(tmp_path: Path) -> None:
    pl.DataFrame({"x": ["a"], "y": ["b"]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="leave out --no-header"):
        load_graph(tmp_path / "t.parquet", header=False)


def test_a_small_file_of_countless_rows_is_refused(tmp_path: Path) -> None:
    pl.select(source=pl.repeat(1, 50_000_000, dtype=pl.Int8), target=pl.lit(2)).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="would expand to 50,000,000 rows"):
        load_graph(tmp_path / "t.parquet")
