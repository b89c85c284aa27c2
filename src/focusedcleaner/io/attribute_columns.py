"""Columns of a node table as attributes: numbers, booleans, dates and categories, with what is missing filled in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count, readable
from focusedcleaner.graph import BoolArray, FloatArray
from focusedcleaner.io.column_names import plain_name
from focusedcleaner.io.node_text import shortened

if TYPE_CHECKING:
    import polars as pl

MISSING = ("", "na", "n/a", "nan", "null", "none", "?")
"""Cells without a value, in lower case."""
MOST_CATEGORIES = 50
"""Categories of a column that are attributes of their own; rarer ones are pooled as "other"."""
FEW = 10
"""So many different texts are categories, however short the column."""

_TRUE, _FALSE = ("true", "yes", "t", "y", "1"), ("false", "no", "f", "n", "0")
_DATES = (
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.fZ", "%d.%m.%Y %H:%M",
    "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M",
)  # fmt: skip
_DECIMAL_COMMA = r"^[+-]?\d+,\d+$"
_DAY = 86_400_000_000
"""Microseconds of a day."""
_BATCH = 256


@dataclass
class Encoder:
    """Makes N × F attributes of columns of text or numbers, and keeps account of what was done with which column."""

    place: Callable[[int], str]
    """Where a row is, for a message."""
    extra: int = 0
    """Nodes without a row, which come last: all their values are missing."""
    names: list[str] = field(default_factory=list)
    parts: list[sp.csc_array] = field(default_factory=list)
    dense: list[FloatArray] = field(default_factory=list)
    """Columns that are not yet part of a sparse matrix."""
    told: dict[str, list[str]] = field(default_factory=dict)
    """Columns by what is to be said about them."""

    def add(self, columns: list[pl.Series]) -> None:
        """Encode all columns."""
        import polars as pl

        for start in range(0, len(columns), _BATCH):
            batch = columns[start : start + _BATCH]
            numbers = [column.cast(pl.Float64, strict=False) for column in batch]
            arrays = np.stack([column.to_numpy() for column in numbers])  # NaN where there is no number
            plain = np.isfinite(arrays).all(axis=1) & (arrays != arrays[:, :1]).any(axis=1)
            for place, column in enumerate(batch):
                if _looks_like_id(column):
                    self._tell("columns of ids, left out", column)
                elif plain[place] and not self.extra:
                    self._append(column.name, arrays[place])
                elif np.isnan(arrays[place]).any():
                    self._mixed(column, numbers[place])
                else:
                    self._numeric(column, arrays[place], np.zeros(len(column), dtype=bool))
            self._pack()

    def matrix(self) -> sp.csr_array:
        """N × F, the columns in the order of the names; empties the encoder."""
        if not self.parts:
            return sp.csr_array((0, 0))
        joined = sp.hstack(self.parts, format="csc")
        self.parts.clear()
        return joined.tocsr()

    def notes(self) -> list[str]:
        """One sentence for each kind of thing that was done."""
        return [f"{what}: {', '.join(columns[:8])}{_more(columns)}" for what, columns in self.told.items()]

    def _tell(self, what: str, column: pl.Series, more: str = "") -> None:
        self.told.setdefault(what, []).append(f"{readable(column.name, 40)}{more}")

    def _append(self, name: str, values: FloatArray | BoolArray) -> None:
        self.names.append(name)
        self.dense.append(np.asarray(values, dtype=np.float64))

    def _pack(self) -> None:
        if self.dense:
            rows = [np.flatnonzero(column).astype(np.int32) for column in self.dense]
            starts = np.cumsum([0, *map(len, rows)], dtype=np.int32)
            data = np.concatenate([column[places] for column, places in zip(self.dense, rows, strict=True)])
            shape = len(self.dense[0]), len(self.dense)
            self.parts.append(sp.csc_array((data, np.concatenate(rows), starts), shape=shape))
            self.dense.clear()

    def _numeric(self, column: pl.Series, values: FloatArray, missing: BoolArray) -> None:
        """A column of numbers; the median stands for missing ones, and a second column marks them."""
        wrong = np.flatnonzero(~np.isfinite(values) & ~missing)
        if len(wrong):
            cell = shortened(column[int(wrong[0])])
            raise InputError(f"{self.place(int(wrong[0]))}: the value of {column.name!r} {cell} is not finite")
        if missing.any():
            known = np.sort(values[~missing])
            values = np.where(missing, known[(len(known) - 1) // 2], values)
        padded = values
        if self.extra:
            middle = np.sort(values)[(len(values) - 1) // 2] if len(values) else 0.0
            padded = np.append(values, np.full(self.extra, middle))
        if len(values) > 1 and (values == values[0]).all() and not missing.any():
            self._tell("constant columns, which tell nothing about a node", column)
        self._append(column.name, padded)
        if missing.any():
            self._append(f"{column.name} missing", np.append(missing, np.zeros(self.extra, dtype=bool)))

    def _mixed(self, column: pl.Series, values: pl.Series) -> None:
        """A column with anything but numbers in it."""
        import polars as pl

        lower = column.str.to_lowercase()
        absent = lower.is_in(MISSING)
        missing = absent.to_numpy()
        known = lower.filter(~absent)
        if missing.any() and len(known):
            self._tell("missing values, filled in", column, f" ({count(int(missing.sum()), 'node')})")
        if not len(known):
            self._tell("empty columns, left out", column)
        elif not values.filter(~absent).null_count():
            self._numeric(column, values.to_numpy(), missing)
        elif known.str.contains(_DECIMAL_COMMA).all():
            numbers = column.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
            self._numeric(column, numbers.to_numpy(), missing)
        elif known.is_in((*_TRUE, *_FALSE)).all():
            self._tell("booleans, read as 1 and 0", column)
            self._numeric(column, lower.is_in(_TRUE).to_numpy().astype(np.float64), missing)
        elif (days := _days(column, absent)) is not None:
            self._tell("dates, read as days", column)
            self._numeric(column, days, missing)
        else:
            self._categories(column, missing)

    def _categories(self, column: pl.Series, missing: BoolArray) -> None:
        """One column of 0 and 1 for each category."""
        texts = column.to_numpy()
        values, counts = np.unique(texts[~missing].astype(np.str_), return_counts=True)
        if len(values) == 1 and not missing.any():
            self._tell("constant columns, which tell nothing about a node", column)
            return
        if len(values) > FEW and 2 * len(values) > counts.sum():
            self._tell("columns whose values are nearly all different, left out", column)
            return
        shown = values[np.sort(np.argsort(-counts, kind="stable")[:MOST_CATEGORIES])]
        pooled = f", the {len(values) - len(shown):,} rarest pooled" if len(values) > len(shown) else ""
        self._tell("categories", column, f" ({len(values):,}{pooled})")
        gap = np.zeros(self.extra, dtype=bool)
        rest = ~missing
        for value in shown.tolist():
            is_value = (texts == value) & ~missing
            rest &= ~is_value
            self._append(f"{column.name}={value}", np.append(is_value, gap))
        if rest.any():
            self._append(f"{column.name}=other", np.append(rest, gap))
        if missing.any():
            self._append(f"{column.name} missing", np.append(missing, gap))


def _looks_like_id(column: pl.Series) -> bool:
    """Whether a column is a second id or a row number, by its name and its values."""
    if len(column) <= FEW:
        return False
    name = plain_name(column.name)
    named = name in ("id", "index", "uuid", "row", "unnamed:_0", "") or name.endswith("_id")
    return named and column.n_unique() == len(column)


def _days(column: pl.Series, absent: pl.Series) -> FloatArray | None:
    """Dates as days since 1970; None if the column does not hold dates of one format."""
    import polars as pl

    for form in _DATES:
        days = column.str.strptime(pl.Datetime("us"), form, strict=False)
        if not days.filter(~absent).null_count():
            return (days.dt.epoch("us").fill_null(0).to_numpy()) / _DAY
    return None


def _more(columns: list[str]) -> str:
    return f" and {len(columns) - 8:,} more" if len(columns) > 8 else ""
