"""The file that a graph was read from, written again without some edges: the same rows, columns and order."""

from __future__ import annotations

import codecs
import csv
import io
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.graph import BoolArray, Graph, IntArray, pair_keys
from focusedcleaner.io.columns import TableOptions
from focusedcleaner.io.disk import checked_file, checksum
from focusedcleaner.io.edge_table import EdgeTable, open_table
from focusedcleaner.io.edit import with_changes
from focusedcleaner.io.networkx import graphml_network, graphml_without
from focusedcleaner.io.node_ids import NodeIds
from focusedcleaner.io.node_text import id_texts
from focusedcleaner.io.npz import npz_with_adjacency, raw_adjacency
from focusedcleaner.io.parquet_table import ParquetTable
from focusedcleaner.io.spreadsheet import escape, is_formula
from focusedcleaner.io.table import TABLE_SUFFIXES, node_numbers
from focusedcleaner.io.text_table import TextTable

if TYPE_CHECKING:
    import polars as pl

ORIGINAL_SUFFIXES = (*TABLE_SUFFIXES, ".graphml", ".npz")
_MAY_BE_FORMULA = "^[\\s'\"]*[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n]"
_IS_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


class Original(ABC):
    """A graph file that can be written again without some of its edges."""

    path: Path

    @abstractmethod
    def content(self, graph: Graph, removed: IntArray, added: IntArray) -> bytes:
        """The file without R × 2 edges and with A × 2 others, by their node numbers in the graph that was read."""

    def details(self, graph: Graph, edges: IntArray) -> dict[str, list[str]]:
        """What a table says of each edge: its ``rows``, and their ``weight`` and ``time``."""
        return {}


def open_original(path: Path, options: TableOptions, *, sha256: str | None = None) -> Original:
    """Open a graph file again.

    Args:
        path: the file.
        options: as it was read with.
        sha256: its checksum at that time; another file is refused.
    """
    with prefix_errors(path):
        if sha256 is not None and checksum(checked_file(path)) != sha256:
            raise InputError("has changed since the graph was read from it")
        suffix = path.suffix.lower()
        if suffix == ".npz":
            return NpzOriginal(path)
        if suffix == ".graphml":
            return GraphmlOriginal(path)
        return TableOriginal(path, EdgeTable.read(open_table(path), options))


@dataclass(frozen=True)
class NpzOriginal(Original):
    """A graph as matrices: weights and directions stay."""

    path: Path

    def content(self, graph: Graph, removed: IntArray, added: IntArray) -> bytes:
        with prefix_errors(self.path):
            matrix = raw_adjacency(self.path)
        changed = with_changes(graph, graph, removed, added)
        if matrix.shape[0] != graph.num_nodes:  # one component of it was read
            return npz_with_adjacency(changed, None)
        return npz_with_adjacency(changed, with_changes(matrix, graph, removed, added))


@dataclass(frozen=True)
class GraphmlOriginal(Original):
    """A GraphML file: the data of edges stay."""

    path: Path

    def content(self, graph: Graph, removed: IntArray, added: IntArray) -> bytes:
        names = id_texts(graph)
        with prefix_errors(self.path):
            network = graphml_network(self.path)
            pairs = [[(names[u], names[v]) for u, v in edges.tolist()] for edges in (removed, added)]
            return graphml_without(network, *pairs)


@dataclass(frozen=True)
class TableOriginal(Original):
    """An edge table; both directions and all repeats of a removed edge go."""

    path: Path
    edges: EdgeTable

    def content(self, graph: Graph, removed: IntArray, added: IntArray) -> bytes:
        keys = self._keys(graph)
        kept = ~np.isin(keys, pair_keys(np.sort(removed, axis=1), graph.num_nodes))
        table, new = self.edges.table, self._ends(graph, added)
        if isinstance(table, ParquetTable):
            return _parquet_rows(table, self.edges, kept, new)
        assert isinstance(table, TextTable)
        return _TextRows(self.path, table, self.edges).content(kept, new)

    def _ends(self, graph: Graph, added: IntArray) -> list[tuple[str, str]]:
        """The cells of new rows: source and target as the table has them."""
        if not len(added):
            return []
        names = id_texts(graph)
        sources = {self.edges.ids[code] for code in np.unique(self.edges.codes[:, 0]).tolist()}
        pairs = [(names[u], names[v]) for u, v in added.tolist()]
        pairs = [(v, u) if u not in sources and v in sources else (u, v) for u, v in pairs]
        if not self.edges.prefixed:
            return pairs
        one, other = self.edges.columns.kinds()
        return [(u.removeprefix(f"{one} "), v.removeprefix(f"{other} ")) for u, v in pairs]

    def details(self, graph: Graph, edges: IntArray) -> dict[str, list[str]]:
        keys, wanted = self._keys(graph), pair_keys(np.sort(edges.reshape(-1, 2), axis=1), graph.num_nodes)
        rows = np.flatnonzero(np.isin(keys, wanted))
        of_key: dict[int, list[int]] = {}
        for row in rows.tolist():
            of_key.setdefault(int(keys[row]), []).append(row)
        listed = [of_key.get(key, []) for key in wanted.tolist()]
        details = {"rows": [";".join(str(row + 1) for row in rows) for rows in listed]}
        columns = self.edges.columns
        for name, column in (("weight", columns.weight), ("time", columns.time)):
            if column is not None:
                texts = self.edges.texts(column)
                details[name] = [";".join(texts[row] for row in rows) for rows in listed]
        return details

    def _keys(self, graph: Graph) -> IntArray:
        """The key of each row's pair of nodes; −1 where a node is not in the graph."""
        pairs = np.sort(node_numbers(self.edges, NodeIds.of(graph)), axis=1)
        return np.where(pairs[:, 0] < 0, -1, pair_keys(pairs, graph.num_nodes))


def _parquet_rows(table: ParquetTable, edges: EdgeTable, kept: BoolArray, new: list[tuple[str, str]]) -> bytes:
    import polars as pl

    frame = table.frame(range(table.width))
    rows = frame.filter(pl.Series(kept))
    if new:
        ends = {edges.columns.source: [u for u, _ in new], edges.columns.target: [v for _, v in new]}
        names = {table.names[number]: values for number, values in ends.items()}
        added = pl.DataFrame({name: pl.Series(name, texts).cast(frame.schema[name]) for name, texts in names.items()})
        rows = pl.concat([rows, added], how="diagonal")
    buffer = io.BytesIO()
    rows.write_parquet(buffer)
    return buffer.getvalue()


@dataclass(frozen=True)
class _TextRows:
    """The rows of a text file; a cell that a spreadsheet might compute is escaped, everything else stays as it is."""

    path: Path
    table: TextTable
    edges: EdgeTable

    def content(self, kept: BoolArray, new: list[tuple[str, str]]) -> bytes:
        raw = np.frombuffer(self.table.raw, dtype=np.uint8)
        starts, ends = self.table.spans()
        header = int(self.edges.columns.header)
        stays = np.ones(len(raw), dtype=bool)
        lengths = ends - starts
        dropped = np.append(np.zeros(header, dtype=bool), ~kept)
        for start, length in zip(starts[dropped].tolist(), lengths[dropped].tolist(), strict=True):
            stays[start : start + length] = False
        pieces, done = [], 0
        for record, cells in sorted(self._escaped(dropped).items()):
            pieces += [raw[done : starts[record]][stays[done : starts[record]]].tobytes(), self._line(cells)]
            done = int(ends[record])
        pieces.append(raw[done:][stays[done:]].tobytes())
        content = b"".join(pieces)
        if new and content and not content.endswith(b"\n"):
            content += b"\n"
        return self._mark() + content + b"".join(self._line(self._new(u, v)) for u, v in new)

    def _mark(self) -> bytes:
        """The byte-order mark of the file, if it has one."""
        with self.path.open("rb") as file:
            return codecs.BOM_UTF8 if file.read(3) == codecs.BOM_UTF8 else b""

    def _new(self, u: str, v: str) -> list[str]:
        cells = [""] * self.table.width
        cells[self.edges.columns.source], cells[self.edges.columns.target] = escape(u), escape(v)
        return cells

    def _line(self, cells: list[str]) -> bytes:
        text = io.StringIO(newline="")
        ending = "\r\n" if b"\r\n" in self.table.raw[:100_000] else "\n"
        if self.table.separator == " ":
            return f"{' '.join(cells)}{ending}".encode()
        csv.writer(text, delimiter=self.table.delimiter, lineterminator=ending).writerow(cells)
        return text.getvalue().encode()

    def _escaped(self, dropped: BoolArray) -> dict[int, list[str]]:
        """The cells of the rows, by their number, that must be written anew; the header is row 0 if there is one."""
        columns, width, header = self.edges.columns, self.table.width, int(self.edges.columns.header)
        groups = [[columns.source, columns.target]]
        groups += [[number] for number in range(width) if number not in groups[0]]
        records: dict[int, list[str]] = {}
        if header and _needs_escape([cell for cell in self.table.first_row if is_formula(cell)]):
            records[0] = [escape(cell) for cell in self.table.first_row]
        changes: dict[int, dict[int, str]] = {}
        for group in groups:
            series = self.table.columns(group, header=columns.header)
            found = [_formulas(column) for column in series]
            if not _needs_escape([text for formulas in found for text in formulas.values()]):
                continue
            for number, formulas in zip(group, found, strict=True):
                for row, text in formulas.items():
                    changes.setdefault(row, {})[number] = escape(text)
        if not changes:
            return records
        rows = sorted(changes)
        cells = [column.gather(rows).to_list() for column in self.table.columns(range(width), header=columns.header)]
        for place, row in enumerate(rows):
            if not dropped[row + header]:
                records[row + header] = [changes[row].get(number, cells[number][place]) for number in range(width)]
        return records


def _formulas(column: pl.Series) -> dict[int, str]:
    """The formulas of a column by row."""
    likely = (column.str.contains(_MAY_BE_FORMULA) & ~column.str.contains(_IS_NUMBER)).arg_true().to_list()
    return {row: text for row in likely if is_formula(text := column[row])}


def _needs_escape(formulas: list[str]) -> bool:
    """Whether a formula has no apostrophe yet: if all have one, `unescape` takes it away again."""
    return not all(text[0] == "'" and is_formula(text[1:]) for text in formulas)
