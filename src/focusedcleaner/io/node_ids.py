"""The ids of nodes as a table has them: text, or whole numbers that need not become text."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from focusedcleaner.adjacency_rows import StoredNames
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.io import node_text

if TYPE_CHECKING:
    import polars as pl


class NodeIds(Sequence[str]):
    """Ids of nodes as text. Whole numbers are kept in an array; their texts are made when they are asked for.

    >>> ids = NodeIds(np.array([7, 10]))
    >>> ids[1], list(ids), ids.places(NodeIds(np.array([10, 8])))
    ('10', ['7', '10'], array([ 1, -1]))
    """

    def __init__(self, values: IntArray | Sequence[str]) -> None:
        self._values = values

    @classmethod
    def of(cls, graph: Graph) -> NodeIds:
        """The ids of a graph's nodes, as they are written to files."""
        names = graph.names
        if names is None:
            return cls(np.arange(graph.num_nodes))
        numbers = names.numbers if isinstance(names, StoredNames) else None
        return cls(node_text.id_texts(graph) if numbers is None else numbers)

    @property
    def numbers(self) -> IntArray | None:
        """The ids, if they are whole numbers."""
        return self._values if isinstance(self._values, np.ndarray) else None

    @cached_property
    def texts(self) -> Sequence[str]:
        values = self._values
        return [str(number) for number in values.tolist()] if isinstance(values, np.ndarray) else values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: Any) -> Any:
        return self.texts[place] if self.numbers is None or isinstance(place, slice) else str(self.numbers[place])

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def places(self, others: NodeIds) -> IntArray:
        """The place of each of other ids among these; −1 where it is not among them."""
        if self.numbers is not None and others.numbers is not None:
            order = StoredNames(self.numbers).order()
            return places_in(self.numbers[order], others.numbers, order)
        place = {name: number for number, name in enumerate(self.texts)}
        return np.array([place.get(name, -1) for name in others.texts], dtype=np.int64)

    def followed_by(self, others: NodeIds, chosen: IntArray) -> NodeIds:
        """These ids, then some of others."""
        if self.numbers is not None and others.numbers is not None:
            return NodeIds(np.concatenate([self.numbers, others.numbers[chosen]]))
        return NodeIds([*self.texts, *(others[place] for place in chosen.tolist())])

    def names(self) -> tuple[Hashable, ...] | StoredNames | None:
        """The names of a graph's nodes: whole numbers if all are, text otherwise, None if they are 0 … N−1 in order."""
        if self.numbers is None:
            return node_text.parse_ids(self.texts)
        return None if np.array_equal(self.numbers, np.arange(len(self))) else StoredNames(self.numbers)


def places_in(ordered: IntArray, wanted: IntArray, order: IntArray) -> IntArray:
    """The value of ``order`` where each wanted number is among the ordered ones; −1 where it is not."""
    if not len(ordered):
        return np.full(len(wanted), -1)
    places = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return np.where(ordered[places] == wanted, order[places], -1)


def whole_numbers(columns: Sequence[pl.Series]) -> IntArray | None:
    """Columns of ids as integers (M × number of columns), if all of them are integers as Python prints them."""
    import polars as pl

    values = np.empty((len(columns[0]), len(columns)), dtype=np.int64, order="F")
    for place, column in enumerate(columns):
        numbers = column
        if column.dtype != pl.Int64:
            if not node_text.all_integers(column.head(100).to_list()):
                return None
            numbers = column.cast(pl.Int64, strict=False)
            if numbers.null_count():
                return None
            # A text that is read as a number is how Python prints it if it has as many letters.
            if not np.array_equal(_lengths(numbers.to_numpy()), column.str.len_bytes().to_numpy()):
                return None
        values[:, place] = numbers.to_numpy()
    return values


def _lengths(numbers: IntArray) -> IntArray:
    """The number of digits, and one more for a minus sign.

    >>> _lengths(np.array([0, 9, -10, 123]))
    array([1, 1, 3, 3])
    """
    return np.searchsorted(10 ** np.arange(1, 19), np.abs(numbers), side="right") + 1 + (numbers < 0)
