"""Which columns of a table hold what: by the user's options, by the columns' names, by their place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Protocol

from focusedcleaner.errors import InputError
from focusedcleaner.formatting import readable
from focusedcleaner.io.column_names import SOURCE, TARGET, TIMES, WEIGHTS, ends_by_name, plain_name, two_kinds

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 12
"""Columns that a message lists at most."""
MOST_COLUMNS = 10_000
"""Columns of an edge table at most."""
_SAMPLE = 1_000
"""Rows that decide whether a column holds numbers."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What a user says about a table; None leaves it to the names of the columns.

    Args:
        source: the edge table's column with one end of each edge: its name or, without a header, its number from 1.
        target: the column with the other end.
        weight: the column with the edges' weights.
        time: the column with the edges' times.
        id: the node table's column with the ids.
        label: the node table's column with the classes.
        header: whether the first row of the edge table holds the names of its columns.
        bipartite: whether source and target are two kinds of nodes.
        strict: whether a column that the table lacks is an error; if not, the option counts as not given.
    """

    source: str | None = None
    target: str | None = None
    weight: str | None = None
    time: str | None = None
    id: str | None = None
    label: str | None = None
    header: bool | None = None
    bipartite: bool | None = None
    strict: bool = True

    def given(self) -> dict[str, str | bool]:
        """The options that are set, by name."""
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "strict"}
        return {name: value for name, value in values.items() if value is not None}

    def __post_init__(self) -> None:
        chosen = [name for name in (self.source, self.target, self.weight, self.time) if name is not None]
        if len({name.strip().lower() for name in chosen}) < len(chosen):
            raise InputError("source, target, weight and time must be different columns")


class Table(Protocol):
    """A table of text or a Parquet file; columns are read when they are asked for."""

    @property
    def where(self) -> str:
        """What a row is called in messages: "line" or "row"."""

    @property
    def width(self) -> int: ...

    @property
    def first_row(self) -> list[str]: ...

    def sample(self, number: int) -> list[list[str]]: ...

    def columns(self, numbers: Sequence[int], *, header: bool) -> list[pl.Series]: ...

    def attributes(self, numbers: Sequence[int]) -> list[pl.Series]:
        """Columns of a table with a header: as text or, where a file has numbers alone in them, as numbers."""

    def place(self, row: int, *, header: bool) -> str: ...

    def plain(self, texts: Sequence[str]) -> list[str]:
        """Names without the apostrophes that keep a spreadsheet from computing them."""


@dataclass(frozen=True)
class EdgeColumns:
    """The columns of an edge table, by number from 0."""

    names: tuple[str, ...]
    """All of them; "1", "2", … without a header."""
    header: bool
    source: int
    target: int
    weight: int | None
    time: int | None
    bipartite: bool

    @property
    def drops_zeros(self) -> bool:
        """Whether a weight of 0 means that there is no edge: in a column called weight, or one without a name."""
        return self.weight is not None and (not self.header or plain_name(self.names[self.weight]) in ("weight", "w"))

    def kinds(self) -> tuple[str, str]:
        """What the two kinds of nodes of a bipartite table are called: "user" and "item" for user_id and item_id."""
        if not self.header:
            return "source", "target"
        names = self.names[self.source].strip(), self.names[self.target].strip()
        one, other = (re.sub(r"[ _.-]?ids?$", "", name, flags=re.IGNORECASE) or name for name in names)
        return (one, other) if one.lower() != other.lower() else names

    @property
    def others(self) -> tuple[str, ...]:
        """The names of the columns that are none of these."""
        used = (self.source, self.target, self.weight, self.time)
        return tuple(name for number, name in enumerate(self.names) if number not in used)

    def told(self, *, weighted: bool) -> str:
        """What was recognized, in words; empty where it goes without saying, as weights of 1 do."""
        source, target = self.names[self.source], self.names[self.target]
        ordinary = not self.header or (source.lower() in SOURCE and target.lower() in TARGET)
        parts = []
        if not ordinary or self.bipartite:
            what = ", two kinds of nodes" if self.bipartite else ""
            parts.append(f"edges from columns {readable(source)}, {readable(target)}{what}")
        for name, column in (("weight", self.weight if weighted else None), ("time", self.time)):
            if column is not None:
                called = self.names[column] if self.header else f"column {self.names[column]}"
                parts.append(f"{name} from {readable(called)}")
        return "; ".join(parts)


def listed(names: Iterable[str]) -> str:
    """Columns for a message, shortened."""
    shown = [readable(name, 30) or "(no name)" for name in names]
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else "")


def column_number(names: Sequence[str], wanted: str) -> int:
    """The number of a column that the user names, by its exact name or one that differs in case only."""
    for form in (str, str.strip, plain_name):
        found = [number for number, name in enumerate(names) if form(name) == form(wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(f"several columns are called {readable(wanted)!r}")
    raise InputError(f"there is no column {readable(wanted)!r}; the columns are {listed(names)}")


def edge_columns(table: Table, options: TableOptions) -> EdgeColumns:
    """Find the columns of an edge table.

    Raises:
        InputError: they can't be told, or the first row can't be told from data; the message names the options to use.
    """
    if table.width > MOST_COLUMNS:
        raise InputError(f"an edge table has at most {MOST_COLUMNS:,} columns, not {table.width:,}")
    first = table.plain(table.first_row)
    options = options if options.strict else _without_unknown(options, first)
    if table.width < 2:
        raise InputError(
            "an edge table needs two columns, source and target, with a comma, a semicolon or a tab between"
        )
    named = [options.source, options.target, options.weight, options.time]
    header = options.header
    if table.where == "row":
        if header is False:
            raise InputError("a Parquet file always has names for its columns: leave out --no-header")
        header = True
    elif header is None:
        header = any(name is not None for name in named) or ends_by_name(first) is not None or _has_header(table)
    names = tuple(first) if header else tuple(str(number + 1) for number in range(table.width))
    source, target = _ends(table, names, header, options)
    weight, time = (None if name is None else column_number(names, name) for name in (options.weight, options.time))
    free = [number for number in range(len(names)) if number not in (source, target, weight, time)]
    if header:
        weight = _first_named(names, free, WEIGHTS) if weight is None else weight
        free = [number for number in free if number != weight]
        time = _first_named(names, free, TIMES) if time is None else time
    elif weight is None and time is None:
        weight, time = _unnamed(table, free)
    if len({source, target, weight, time} - {None}) < sum(
        column is not None for column in (source, target, weight, time)
    ):
        raise InputError("source, target, weight and time must be different columns")
    bipartite = options.bipartite
    if bipartite is None:
        bipartite = header and two_kinds(names[source], names[target])
    return EdgeColumns(names, header, source, target, weight, time, bipartite)


def _without_unknown(options: TableOptions, names: Sequence[str]) -> TableOptions:
    plain = {plain_name(name) for name in names}
    chosen = {name: getattr(options, name) for name in ("source", "target", "weight", "time")}
    unknown = [name for name, value in chosen.items() if value is not None and plain_name(value) not in plain]
    if "source" in unknown or "target" in unknown:
        unknown = list(chosen)
    changes: dict[str, Any] = dict.fromkeys(unknown)
    return replace(options, **changes)


def _ends(table: Table, names: Sequence[str], header: bool, options: TableOptions) -> tuple[int, int]:
    """The columns of source and target."""
    chosen = [None if name is None else column_number(names, name) for name in (options.source, options.target)]
    if chosen[0] is not None and chosen[1] is not None:
        return chosen[0], chosen[1]
    given = next((column for column in chosen if column is not None), None)
    other: int | None = None
    if given is not None:
        pair = ends_by_name(names) if header else (0, 1)
        rest = [column for column in pair or () if column != given]
        other = 1 - given if table.width == 2 else rest[0] if len(rest) == 1 else None
        if other is not None:
            return (given, other) if chosen[0] is not None else (other, given)
    elif not header:
        return 0, 1
    elif (found := ends_by_name(names)) is not None:
        return found
    elif table.width == 2:
        return 0, 1
    missing = " and ".join(
        name for name, column in zip(("--source", "--target"), chosen, strict=True) if column is None
    )
    raise InputError(
        f"which columns hold the ends of an edge? Name them with {missing}; the columns are {listed(names)}"
    )


def _first_named(names: Sequence[str], free: Sequence[int], known: Sequence[str]) -> int | None:
    plain = {plain_name(names[number]): number for number in reversed(free)}
    return next((plain[name] for name in known if name in plain), None)


def is_number(text: str) -> bool:
    """Whether a cell holds a plain number."""
    return _NUMBER.fullmatch(text) is not None


def _unnamed(table: Table, free: Sequence[int]) -> tuple[int | None, int | None]:
    """The weight and the time of a table without a header: the third column and the fourth, where they are numbers.

    A third column of numbers as large as seconds or milliseconds since 1970 are is a time.
    """
    rows = table.sample(_SAMPLE)
    numeric = [number for number in free[:2] if all(is_number(row[number]) for row in rows)]
    if not numeric or numeric[0] != free[0]:
        return None, None
    if all(1e8 < float(row[free[0]]) < 1e14 for row in rows):
        return None, free[0]
    return free[0], numeric[1] if len(numeric) > 1 else None


def _has_header(table: Table) -> bool:
    """Whether the first row of a table without known names is a header.

    - A text above a column of numbers is a name.
    - A number above a column of numbers is data, and so is a row on its own.
    - A text that comes again below is a node's id.
    - Otherwise nobody can tell.
    """
    first, *rows = table.sample(_SAMPLE) or [[]]
    if not rows:
        return False
    above = [
        is_number(first[column])
        for column in range(table.width)
        if all(is_number(row[column]) or not row[column] for row in rows) and any(row[column] for row in rows)
    ]
    if above:
        return not any(above)
    one, other = table.columns([0, 1], header=False)
    if any(
        int((column == name).sum()) > int(column is own)
        for name, own in zip(first, (one, other), strict=False)
        for column in (one, other)
    ):
        return False
    names = listed(first)
    raise InputError(
        f"the first row ({names}) may be a header or an edge: if it is a header, name two of its columns with --source "
        "and --target; if it is an edge, add --no-header"
    )
