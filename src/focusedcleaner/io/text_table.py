"""Tables as text: comma-, semicolon-, tab- and whitespace-separated files, checked line by line and parsed by polars.

polars glues lines together where a quote is left open, and fills short rows with nulls. The structure of a file is
therefore checked first, on its bytes. Line numbers are looked up only for a message.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.errors import InputError
from focusedcleaner.graph import BoolArray, IntArray
from focusedcleaner.io.disk import checked_file
from focusedcleaner.io.spreadsheet import unescape

if TYPE_CHECKING:
    import polars as pl

Bytes = NDArray[np.uint8]

LONGEST_LINE = 2**24
"""Most bytes of a line."""
WHITESPACE = (".txt", ".edges", ".edgelist")
"""Suffixes of SNAP's files: columns separated by blanks or tabs, comments after # or %."""
TEXT_SUFFIXES = (".csv", ".tsv", *WHITESPACE)

_BLOCK = 2**22
_FEW_COLUMNS = 8
_NEWLINE, _RETURN, _QUOTE, _BLANK, _TAB = b'\n\r" \t'
_COMMENT = tuple(b"#%")
_IS_PRINTED = ~np.isin(np.arange(256), tuple(b" \t\r\n\v\f"))


@dataclass(frozen=True, eq=False)
class TextTable:
    """A text file whose rows all have the same number of cells."""

    raw: bytes
    """The file, without a byte-order mark."""
    content: bytes
    """The same without comments and blank lines, with one delimiter between two cells."""
    delimiter: str
    separator: str
    """What separates the cells of ``raw``: the delimiter, or a blank for any number of blanks and tabs."""
    quoted: bool
    """Whether a cell of the file is quoted."""
    comments: bool
    """Whether lines that begin with # or % are comments."""
    width: int
    records: int
    """The number of rows, a header included."""

    where = "line"

    @classmethod
    def read(cls, path: Path) -> TextTable:
        """Read and check a file; its suffix decides how cells are separated."""
        raw = _checked_utf8(checked_file(path).read_bytes())
        if b"\n" not in raw and b"\r" in raw:
            raw = raw.replace(b"\r", b"\n")  # as old spreadsheets on a Mac write it
        suffix = path.suffix.lower()
        comments = suffix in WHITESPACE
        first = _first_line(raw, comments)
        unquoted = "".join(first.split('"')[::2])
        blanks = comments and "," not in unquoted and ";" not in unquoted
        delimiter = "\t" if suffix == ".tsv" or blanks else max(",;\t", key=unquoted.count)
        separator = " " if blanks else delimiter
        table = cls(raw, b"", delimiter, separator, not blanks and b'"' in raw, comments, 0, 0)
        return table._checked()

    def _checked(self) -> TextTable:
        """The table with its content as polars can read it, and the numbers of columns and rows."""
        width, rows, changed = 0, 0, False
        pieces: list[bytes | memoryview] = []
        for block in _blocks(self.raw, self.delimiter, self.quoted):
            kept = block.is_row(self.comments)
            piece: bytes | memoryview = block.content
            counts = block.counts[kept]
            if not kept.all():
                piece, changed = block.without(kept), True
            if self.separator == " ":
                piece, counts = _single_tabs(piece)
                changed = True
            if len(counts):
                width = width or int(counts[0]) + 1
                wrong = np.flatnonzero(counts != width - 1)
                if len(wrong):
                    has = f"has {counts[wrong[0]] + 1:,} columns where the first row has {width:,}"
                    raise InputError(f"line {self.line(rows + int(wrong[0]))}: {has}")
            rows += len(counts)
            pieces.append(piece)
        return replace(self, content=b"".join(pieces) if changed else self.raw, width=width, records=rows)

    @cached_property
    def first_row(self) -> list[str]:
        """The cells of the first row."""
        return next(iter(self.sample(1)), [])

    def sample(self, number: int) -> list[list[str]]:
        """The cells of the first rows, the header included."""
        text = io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8", newline="")
        # csv's own limit is on characters of a cell, below that of a line here
        before = csv.field_size_limit(LONGEST_LINE)
        try:
            reader = csv.reader(
                text, delimiter=self.delimiter, quoting=csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
            )
            return [[cell.strip() for cell in row] for row, _ in zip(reader, range(number), strict=False)]
        finally:
            csv.field_size_limit(before)

    def columns(self, numbers: Sequence[int], *, header: bool) -> list[pl.Series]:
        """The cells of some columns as text, stripped, empty where there is nothing."""
        import polars as pl

        if self.records <= header:
            return [pl.Series(str(number), [], dtype=pl.String) for number in numbers]
        wanted = sorted(set(numbers))
        frame = pl.read_csv(
            self.content,
            has_header=False,
            skip_rows=int(header),
            separator=self.delimiter,
            quote_char='"' if self.quoted else None,
            columns=wanted,
            infer_schema=False,
        )
        frame.columns = [str(number) for number in wanted]
        if self.width == 1:
            frame = frame.filter(pl.first().str.strip_chars() != "")
        read = dict(zip(wanted, _stripped(frame), strict=True))
        return [read[number] for number in numbers]

    def attributes(self, numbers: Sequence[int]) -> list[pl.Series]:
        """The cells of some columns below the header as text."""
        return self.columns(numbers, header=True)

    def place(self, row: int, *, header: bool) -> str:
        """Where a row of data is, for a message: "line 12"."""
        return f"line {self.line(row + int(header))}"

    def plain(self, texts: Sequence[str]) -> list[str]:
        """Names without the apostrophes that keep a spreadsheet from computing them."""
        return unescape(texts)

    def line(self, record: int) -> int:
        """The number of the line in which a row begins, the header being row 0."""
        starts, _ = self.spans()
        return self.raw.count(b"\n", 0, int(starts[record])) + 1

    def spans(self) -> tuple[IntArray, IntArray]:
        """Where each row, the header included, begins in the file, and where the next line begins."""
        starts, ends, offset = [], [], 0
        for block in _blocks(self.raw, self.delimiter, self.quoted):
            kept = block.is_row(self.comments)
            starts.append(block.starts[kept] + offset)
            ends.append(block.ends[kept] + offset)
            offset += len(block.content)
        none = [np.empty(0, dtype=np.int64)]
        return np.concatenate(starts or none), np.concatenate(ends or none)


def _stripped(frame: pl.DataFrame) -> list[pl.Series]:
    """The columns without blanks around cells; those of long tables one after the other, to save memory."""
    import polars as pl

    if frame.width > _FEW_COLUMNS:
        return frame.with_columns(pl.all().str.strip_chars().fill_null("")).get_columns()
    stripped = []
    while frame.width:
        name = frame.columns[0]
        stripped.append(frame.select(pl.first().str.strip_chars().fill_null("")).to_series())
        frame = frame.drop(name)
    return stripped


@dataclass(frozen=True, eq=False)
class _Block:
    """Whole lines of a file."""

    content: memoryview
    starts: IntArray
    """Where each line begins; a line break inside quotes does not end a line."""
    counts: IntArray
    """The number of delimiters in each line."""

    @property
    def ends(self) -> IntArray:
        """Where the next line begins."""
        return np.append(self.starts[1:], len(self.content))

    def is_row(self, comments: bool) -> BoolArray:
        """Which lines are neither blank nor comments."""
        letters = np.frombuffer(self.content, dtype=np.uint8)
        rows = (
            np.logical_or.reduceat(_IS_PRINTED[letters], self.starts) if len(self.starts) else np.empty(0, dtype=bool)
        )
        if comments:
            rows &= ~np.isin(letters[self.starts], _COMMENT)
        return rows

    def without(self, kept: BoolArray) -> bytes:
        """The lines that are kept."""
        letters = np.frombuffer(self.content, dtype=np.uint8)
        return letters[np.repeat(kept, self.ends - self.starts)].tobytes()


def _blocks(raw: bytes, delimiter: str, quoted: bool) -> Iterator[_Block]:
    """Yield the lines of a file, some megabytes at a time; a file with quotes is one block."""
    whole = memoryview(raw)
    if quoted:
        outside = _outside_quotes(raw, delimiter)
        yield _block(whole, delimiter, outside)
        return
    start = 0
    while start < len(raw):
        stop = raw.rfind(b"\n", start, start + _BLOCK) + 1 or raw.find(b"\n", start + _BLOCK) + 1 or len(raw)
        yield _block(whole[start:stop], delimiter, None)
        start = stop


def _block(content: memoryview, delimiter: str, outside: BoolArray | None) -> _Block:
    letters = np.frombuffer(content, dtype=np.uint8)
    breaks, delimiters = letters == _NEWLINE, letters == ord(delimiter)
    if outside is not None:
        breaks &= outside
        delimiters &= outside
    starts = np.append(0, np.flatnonzero(breaks) + 1)
    if starts[-1] == len(letters):
        starts = starts[:-1]
    lengths = np.diff(starts, append=len(letters))
    if lengths.max(initial=0) > LONGEST_LINE:
        raise InputError(f"has a line of more than {LONGEST_LINE:,} characters: write one row a line")
    places = np.searchsorted(np.flatnonzero(delimiters), np.append(starts, len(letters)))
    return _Block(content, starts, np.diff(places))


def _outside_quotes(raw: bytes, delimiter: str) -> BoolArray:
    """Which bytes are outside quotes; a quote must open or close a whole cell, and inside one it is doubled."""
    letters = np.frombuffer(raw, dtype=np.uint8)
    quotes = letters == _QUOTE
    inside = np.logical_xor.accumulate(quotes)
    places = np.flatnonzero(quotes)
    before = np.where(places > 0, letters[places - 1], _NEWLINE)
    after = np.where(places + 1 < len(letters), letters[np.minimum(places + 1, len(letters) - 1)], _NEWLINE)
    opening = inside[places]
    starts_cell = np.isin(before, (ord(delimiter), _NEWLINE, _QUOTE))
    ends_cell = np.isin(after, (ord(delimiter), _NEWLINE, _RETURN, _QUOTE))
    stray = places[np.where(opening, ~starts_cell, ~ends_cell)]
    if len(stray):
        line = raw.count(b"\n", 0, int(stray[0])) + 1
        raise InputError(f"line {line}: a quote inside a cell: put the whole cell in quotes and double those inside")
    if len(places) % 2:
        line = raw.count(b"\n", 0, int(places[-1])) + 1
        raise InputError(f"line {line}: a quote is opened and never closed")
    return ~inside


def _single_tabs(piece: bytes | memoryview) -> tuple[bytes, IntArray]:
    """Lines of a whitespace-separated file with one tab between two cells, and the number of tabs in each."""
    letters = np.frombuffer(piece, dtype=np.uint8)
    for of_neighbour in ("before", "after"):
        blank = (letters == _BLANK) | (letters == _TAB) | (letters == _RETURN)
        if of_neighbour == "before":  # all but the first of several, and those that begin a line
            neighbour = np.append(True, (blank | (letters == _NEWLINE))[:-1])
        else:  # those that end a line
            neighbour = np.append((letters == _NEWLINE)[1:], True)
        letters = letters[~(blank & neighbour)]
    letters = np.where(np.isin(letters, (_BLANK, _RETURN)), np.uint8(_TAB), letters)
    content = letters.tobytes()
    return content, _block(memoryview(content), "\t", None).counts


def _checked_utf8(content: bytes) -> bytes:
    """The bytes without a byte-order mark, if they are UTF-8; decoded piece by piece, to save memory."""
    decoder, view = codecs.getincrementaldecoder("utf-8")(), memoryview(content)
    for start in range(0, len(content) + 1, _BLOCK):
        waiting = len(decoder.getstate()[0])
        try:
            decoder.decode(view[start : start + _BLOCK], final=start + _BLOCK > len(content))
        except UnicodeDecodeError as error:
            raise InputError(f"is not UTF-8 text (byte {start - waiting + error.start:,})") from None
    return content.removeprefix(codecs.BOM_UTF8)


def _first_line(raw: bytes, comments: bool) -> str:
    """The first line with anything on it."""
    start = 0
    while start < len(raw):
        stop = raw.find(b"\n", start) + 1 or len(raw)
        line = raw[start : min(stop, start + LONGEST_LINE)].decode("utf-8", "ignore").strip(" \r\n")
        if line and not (comments and line[0].encode()[0] in _COMMENT):
            return line
        start = stop
    return ""
