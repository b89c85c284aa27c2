"""Edge tables: the two ends of each row by number, with weight and time kept as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import BoolArray, IntArray, unique_keys
from focusedcleaner.io import node_text
from focusedcleaner.io.attribute_columns import MISSING
from focusedcleaner.io.columns import EdgeColumns, Table, TableOptions, edge_columns
from focusedcleaner.io.node_ids import NodeIds, whole_numbers
from focusedcleaner.io.parquet_table import PARQUET, ParquetTable
from focusedcleaner.io.text_table import TextTable

if TYPE_CHECKING:
    import polars as pl


def open_table(path: Path) -> TextTable | ParquetTable:
    """Open a table, text or Parquet by its suffix."""
    return ParquetTable.read(path) if path.suffix.lower() == PARQUET else TextTable.read(path)


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """The rows of an edge table."""

    table: Table
    columns: EdgeColumns
    codes: IntArray
    """M × 2 positions in ``ids``."""
    ids: NodeIds
    """The names of the nodes, in numerical order if all are whole numbers, else in the order of their appearance. In a
    bipartite table the sources come first."""
    prefixed: bool
    """Whether the names begin with the kind of node, as an id stands for a node of each kind."""

    @classmethod
    def read(cls, table: Table, options: TableOptions) -> EdgeTable:
        """Find the columns of the table, and read and check its ids."""
        if not table.width:
            raise InputError("the graph is empty: it has no edges and no node table")
        columns = edge_columns(table, options)
        ends = table.columns([columns.source, columns.target], header=columns.header)
        if not columns.bipartite:
            codes, ids = _factorized(ends)
            return cls(table, columns, codes, cls(table, columns, codes, ids, False)._plain_ids(), False)
        parts = [_factorized([end]) for end in ends]
        sizes = [len(part[1]) for part in parts]
        codes = np.hstack([parts[0][0], parts[1][0] + sizes[0]])
        ids = NodeIds([*parts[0][1], *parts[1][1]])
        plain = cls(table, columns, codes, ids, False)._plain_ids()
        prefixed = not set(plain[: sizes[0]]).isdisjoint(plain[sizes[0] :])
        if prefixed:
            one, other = columns.kinds()
            plain = NodeIds([f"{one if place < sizes[0] else other} {name}" for place, name in enumerate(plain)])
        return cls(table, columns, codes, plain, prefixed)

    def _plain_ids(self) -> NodeIds:
        """The ids, checked, without the apostrophes that keep a spreadsheet from computing them."""
        if self.ids.numbers is not None:
            return self.ids
        for code, name in enumerate(self.ids):
            if problem := node_text.id_problem(name):
                raise InputError(f"{self.place_of(code)}: {problem}")
        return NodeIds(self.table.plain(self.ids.texts))

    def place_of(self, code: int) -> str:
        """Where a node first appears."""
        row = int(np.flatnonzero((self.codes == code).any(axis=1))[0])
        return self.table.place(row, header=self.columns.header)

    def texts(self, column: int) -> pl.Series:
        """A column as text."""
        import polars as pl

        (series,) = self.table.columns([column], header=self.columns.header)
        return series.cast(pl.String)

    @cached_property
    def absent(self) -> BoolArray:
        """Which rows have a weight of 0 that means that there is no edge."""
        return self._weights()[0] if self.columns.drops_zeros else np.zeros(len(self.codes), dtype=bool)

    @cached_property
    def weighted(self) -> bool:
        """Whether weights say more than that there is an edge."""
        if self.columns.weight is None:
            return False
        return not self.columns.drops_zeros or self._weights()[1]

    def _weights(self) -> tuple[BoolArray, bool]:
        """Which weights are 0, and whether any is neither 0 nor 1."""
        import polars as pl

        assert self.columns.weight is not None
        texts = self.texts(self.columns.weight)
        weights = texts.cast(pl.Float64, strict=False)
        missing = texts.str.to_lowercase().is_in(MISSING)
        wrong = (~missing & (weights.is_null() | weights.is_infinite())).arg_true()
        if len(wrong):
            row = int(wrong[0])
            place = self.table.place(row, header=self.columns.header)
            kind = "not a number" if weights[row] is None else "not finite"
            raise InputError(f"{place}: the weight {node_text.shortened(texts[row])} is {kind}")
        values = weights.fill_null(1.0).fill_nan(1.0).to_numpy()
        return values == 0, bool(((values != 0) & (values != 1)).any())


def _factorized(columns: Sequence[pl.Series]) -> tuple[IntArray, NodeIds]:
    """The position of each cell (M × number of columns) among the distinct cells, and these as text."""
    import polars as pl

    numbers = whole_numbers(columns)
    if numbers is not None:
        codes, distinct = _numbered(numbers)
        return codes, NodeIds(distinct)
    categories = pl.concat([column.cast(pl.String).cast(pl.Categorical).rename("id") for column in columns])
    raw = categories.to_physical().to_numpy().astype(np.int64).reshape(len(columns), -1).T
    used = categories.unique()
    ids, physical = used.cast(pl.String).to_list(), used.to_physical().to_numpy().astype(np.int64)
    # A node's place is where it first appears: of several writes to one place, the last one stays.
    first = np.empty(int(physical.max(initial=-1)) + 1, dtype=np.int64)
    first[raw.ravel()[::-1]] = np.arange(raw.size)[::-1]
    order = np.argsort(first[physical])
    if node_text.all_integers(ids):
        order = np.array(sorted(range(len(ids)), key=lambda place: int(ids[place])), dtype=np.int64)
    rank = first
    rank[physical[order]] = np.arange(len(order))
    return rank[raw], NodeIds([ids[place] for place in order.tolist()])


def _numbered(values: IntArray) -> tuple[IntArray, IntArray]:
    """Positions of integers among the distinct ones, and these in order."""
    if not values.size:
        return values.astype(np.int64), np.empty(0, dtype=np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low > 4 * values.size + 1000:
        distinct = unique_keys(values.ravel())
        return np.searchsorted(distinct, values), distinct
    values -= low  # in place: the values are a copy of the columns
    present = np.zeros(high - low + 1, dtype=bool)
    present[values.ravel()] = True
    if present.all():
        return values, np.arange(low, high + 1)
    places = np.cumsum(present) - 1
    return places[values], np.flatnonzero(present) + low
