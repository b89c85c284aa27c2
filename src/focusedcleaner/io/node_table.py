"""Node tables: ids, classes, split and attributes of the nodes of an edge table."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from focusedcleaner.attribute_matrix import AttributeMatrix
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count, readable
from focusedcleaner.graph import PARTS, UNKNOWN, IntArray, Split, unique_keys
from focusedcleaner.io import node_text
from focusedcleaner.io.attribute_columns import MISSING, Encoder
from focusedcleaner.io.column_names import IDS, LABELS, plain_name, stem
from focusedcleaner.io.columns import Table, TableOptions, column_number, listed
from focusedcleaner.io.node_ids import NodeIds, whole_numbers

UNKNOWN_LABELS = (*MISSING, "unknown")
"""Labels, in lower case, of nodes whose class is not known."""
_MOST_COLUMNS, _MOST_CELLS = 2**14, 2**24
"""Columns and cells that are in memory as text at a time."""
_WHOLE_FLOAT = re.compile(r"(-?\d+)\.0+")


@dataclass(frozen=True, eq=False)
class NodeTable:
    """A node table of which the ids are read and checked."""

    table: Table
    names: list[str]
    ids: NodeIds
    id_column: int
    label_column: int | None

    @classmethod
    def read(cls, table: Table, options: TableOptions, ends: tuple[str, ...] = ()) -> NodeTable:
        """Find the columns and read the ids; ``ends`` are the names of the edge table's columns."""
        names = table.plain(table.first_row)
        id_column = _id_column(names, options, ends)
        label_column = _label_column(names, options, id_column)
        (column,) = table.columns([id_column], header=True)
        numbers = whole_numbers([column])
        if numbers is None or len(unique_keys(numbers[:, 0])) < len(numbers):
            ids = NodeIds(table.plain([str(name) for name in column.to_list()]))
            cls(table, names, ids, id_column, label_column)._check()
        else:
            ids = NodeIds(numbers[:, 0])
        return cls(table, names, ids, id_column, label_column)

    def place(self, row: int) -> str:
        """Where a row is, for a message."""
        return self.table.place(row, header=True)

    @property
    def id_name(self) -> str:
        """The name of the column of ids."""
        return self.names[self.id_column]

    def _check(self) -> None:
        seen: set[str] = set()
        for row, name in enumerate(self.ids):
            problem = f"node {name!r} comes twice" if name in seen else node_text.id_problem(name)
            if problem:
                raise InputError(f"{self.place(row)}: {problem}")
            seen.add(name)

    def parts(self, extra: int) -> tuple[dict[str, Any], list[str]]:
        """Labels, split and attributes as `Graph` takes them, for the rows and ``extra`` nodes more; and notes."""
        parts: dict[str, Any] = {}
        notes = self._recognized()
        others = [number for number in range(len(self.names)) if number not in (self.id_column, self.label_column)]
        split_column = next((number for number in others if plain_name(self.names[number]) == "split"), None)
        others = [number for number in others if number != split_column]
        self._check_names(others)
        if self.label_column is not None:
            parts["labels"], parts["class_names"] = self._labels(self.label_column, extra)
            node_text.checked_texts(parts["class_names"], "class name")
            notes += _one_class(parts, readable(self.names[self.label_column], 40))
        if split_column is not None:
            parts["split"] = self._split(split_column)
        if others:
            encoder = Encoder(self.place, extra)
            size = max(1, min(_MOST_COLUMNS, _MOST_CELLS // max(1, len(self.ids))))
            for start in range(0, len(others), size):
                numbers = others[start : start + size]
                columns = zip(numbers, self.table.attributes(numbers), strict=True)
                encoder.add([column.rename(self.names[number]) for number, column in columns])
            notes += encoder.notes()
            if encoder.names:
                keys = node_text.checked_texts(encoder.names, "attribute name") or ()
                parts["attributes"] = AttributeMatrix(encoder.matrix()).freeze()
                parts["attribute_names"] = node_text.names_of_keys(_distinct(keys))
        return parts, notes

    def _words(self, number: int) -> tuple[list[str], IntArray]:
        """The different texts of a column, and which of them each row has."""
        import polars as pl

        (column,) = self.table.columns([number], header=True)
        texts = column.cast(pl.String).cast(pl.Categorical)
        words = texts.unique()
        numbers = words.to_physical().to_numpy().astype(np.int64)
        code = np.empty(numbers.max(initial=-1) + 1, dtype=np.int64)
        code[numbers] = np.arange(len(words))
        return self.table.plain(words.cast(pl.String).to_list()), code[texts.to_physical().to_numpy()]

    def _labels(self, number: int, extra: int) -> tuple[IntArray, tuple[str, ...] | None]:
        """Labels and class names, for the rows and ``extra`` nodes more."""
        words, codes = self._words(number)
        labels, names = _labels(words)
        return np.concatenate([labels[codes], np.full(extra, UNKNOWN)]), names

    def _split(self, number: int) -> Split:
        words, codes = self._words(number)
        wrong = np.flatnonzero(~np.isin(words, ("", *PARTS)))
        if len(wrong):
            row = int(np.flatnonzero(np.isin(codes, wrong))[0])
            problem = f"the split {node_text.shortened(words[codes[row]])} must be train, val, test or empty"
            raise InputError(f"{self.place(row)}: {problem}")
        part_of = np.array(words, dtype=np.str_)[codes] if words else np.empty(0, dtype=np.str_)
        return Split(*(np.flatnonzero(part_of == part) for part in PARTS))

    def _check_names(self, numbers: list[int]) -> None:
        counts = Counter(self.names[number] for number in numbers)
        if repeated := [name for name, number in counts.items() if number > 1]:
            raise InputError(f"the node table has two columns called {node_text.shortened(repeated[0])}")

    def _recognized(self) -> list[str]:
        """What was taken for ids and labels, if they are called otherwise."""
        parts = []
        if plain_name(self.id_name) != "id":
            parts.append(f"ids from {readable(self.id_name, 40)}")
        if self.label_column is not None and plain_name(self.names[self.label_column]) != "label":
            parts.append(f"classes from {readable(self.names[self.label_column], 40)}")
        return [", ".join(parts)] if parts else []


def _id_column(names: list[str], options: TableOptions, ends: tuple[str, ...]) -> int:
    if options.id is not None and (options.strict or plain_name(options.id) in map(plain_name, names)):
        return column_number(names, options.id)
    known = ("id", *(plain_name(name) for name in ends), *(stem(name) for name in ends), *IDS)
    for form in (plain_name, stem):
        for name in known:
            found = [number for number, one in enumerate(names) if form(one) == name]
            if len(found) == 1:
                return found[0]
            if len(found) > 1 and name == "id":
                raise InputError("the node table has two columns called 'id'")
    columns = f"the columns are {listed(names)}" if names else "the file is empty"
    raise InputError(
        f"which column holds the nodes' ids? The node table needs a header; --id names the column; {columns}"
    )


def _label_column(names: list[str], options: TableOptions, id_column: int) -> int | None:
    if options.label is not None and (options.strict or plain_name(options.label) in map(plain_name, names)):
        return column_number(names, options.label)
    plain = [plain_name(name) for name in names]
    for name in LABELS:
        found = [number for number, one in enumerate(plain) if one == name and number != id_column]
        if len(found) > 1:
            raise InputError(f"the node table has two columns called {name!r}")
        if found:
            return found[0]
    return None


def _labels(words: list[str]) -> tuple[Any, tuple[str, ...] | None]:
    """Labels and class names; whole numbers that were written as floats are class numbers."""
    known = ["" if word.lower() in UNKNOWN_LABELS else word for word in words]
    whole = {word: _WHOLE_FLOAT.fullmatch(word) for word in set(known) - {""}}
    if whole and all(whole.values()):
        known = [match[1] if (match := whole.get(word)) else word for word in known]
    return node_text.parse_labels(known)


def _one_class(parts: dict[str, Any], column: str) -> list[str]:
    """A note if only one class is marked."""
    labels, names = parts["labels"], parts["class_names"]
    marked = labels[labels != UNKNOWN]
    if not len(marked) or (marked != marked[0]).any():
        return []
    name = readable(names[marked[0]] if names else marked[0], 40)
    shown = f"{column} {name}" if name.isdigit() else name
    others = "others count as unlabelled" if len(marked) < len(labels) else "no other class is known"
    return [f"only one class is marked ({shown}, {count(len(marked), 'node')}): {others}"]


def _distinct(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Names of attributes made distinct by numbers, as where a column beside "country" is called "country=US"."""
    result: dict[str, None] = {}
    for key in keys:
        name, number = key, 1
        while name in result:
            number += 1
            name = f"{key} ({number})"
        result[name] = None
    return tuple(result)


def sibling(path: Path) -> Path | None:
    """The node table beside an edge table: NAME.nodes.csv for NAME.csv, or with the edge table's own suffix."""
    for suffix in (f".nodes{path.suffix}", ".nodes.csv"):
        if (beside := path.with_suffix(suffix)).is_file():
            return beside
    return None
