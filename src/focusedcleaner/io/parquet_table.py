"""Tables as Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from focusedcleaner.errors import InputError
from focusedcleaner.io.disk import EXPANSION, UNSUSPICIOUS, checked_file, first_words

if TYPE_CHECKING:
    import polars as pl

PARQUET = ".parquet"
_MAGIC = b"PAR1"


@dataclass(frozen=True, eq=False)
class ParquetTable:
    """A Parquet file; its columns are read when they are asked for."""

    path: Path
    names: list[str]
    rows: int

    where = "row"

    @classmethod
    def read(cls, path: Path) -> ParquetTable:
        """Read the names of the columns and the number of rows."""
        import polars as pl

        with checked_file(path).open("rb") as file:
            if file.read(4) != _MAGIC:
                raise InputError("is not a Parquet file")
        with _damaged():
            scan = pl.scan_parquet(path, glob=False)
            names = scan.collect_schema().names()
            rows = int(scan.select(pl.len()).collect().item())
        size = path.stat().st_size
        if 8 * rows * max(len(names), 1) > max(UNSUSPICIOUS, EXPANSION * size):
            raise InputError(f"its {size:,} bytes would expand to {rows:,} rows of {len(names):,} columns")
        return cls(path, names, rows)

    @property
    def width(self) -> int:
        return len(self.names)

    @property
    def first_row(self) -> list[str]:
        """The names of the columns."""
        return self.names

    def sample(self, number: int) -> list[list[str]]:
        """The names of the columns, and the cells of the first rows as text."""
        head = self.frame(range(self.width), rows=number - 1)
        return [self.names, *([str(cell) for cell in row] for row in head.iter_rows())]

    def columns(self, numbers: Sequence[int], *, header: bool = True) -> list[pl.Series]:
        """Some columns: whole numbers as they are, everything else as stripped text, empty where there is nothing."""
        wanted = sorted(set(numbers))
        read = dict(zip(wanted, map(_plain, self.frame(wanted).get_columns()), strict=True))
        return [read[number] for number in numbers]

    def attributes(self, numbers: Sequence[int]) -> list[pl.Series]:
        """Some columns: those of finite double-precision numbers as they are, else as `columns`."""
        return [column if _all_finite(column) else _plain(column) for column in self.frame(numbers).get_columns()]

    def frame(self, numbers: Sequence[int], rows: int | None = None) -> pl.DataFrame:
        """Some columns as they are in the file."""
        import polars as pl

        with _damaged():
            return pl.read_parquet(
                self.path, columns=[self.names[number] for number in numbers], n_rows=rows, glob=False
            )

    def place(self, row: int, *, header: bool = True) -> str:
        """Where a row is, for a message: "row 12"."""
        return f"row {row + 1}"

    def plain(self, texts: Sequence[str]) -> list[str]:
        """Names as they are: no spreadsheet computes the cells of a Parquet file."""
        return list(texts)


def _all_finite(column: pl.Series) -> bool:
    import polars as pl

    return column.dtype == pl.Float64 and not column.null_count() and bool(column.is_finite().all())


def _plain(column: pl.Series) -> pl.Series:
    import polars as pl

    kind = column.dtype
    if (
        kind.is_integer()
        and not column.null_count()
        and (numbers := column.cast(pl.Int64, strict=False)).is_not_null().all()
    ):
        return numbers
    if kind.is_float():
        whole = column.drop_nulls().drop_nans()
        if len(whole) and (whole.abs() < 2.0**53).all() and (whole == whole.floor()).all():
            column = column.fill_nan(None).cast(pl.Int64)  # pandas writes whole numbers with gaps as floats
    if kind.is_nested() or kind in (pl.Binary, pl.Object):
        raise InputError(f"the column {column.name!r} holds {kind}: only text, numbers, dates and booleans can be read")
    with _damaged():
        return column.cast(pl.String).str.strip_chars().fill_null("")


@contextmanager
def _damaged() -> Iterator[None]:
    """Turn what polars raises on a damaged file, also a panic, into an `InputError`."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, OverflowError) as error:
        raise InputError(f"is not a Parquet file, or a damaged one: {first_words(error)}") from None
