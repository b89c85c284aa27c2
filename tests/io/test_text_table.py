"""Tables of text: separators, quotes, blank lines, comments, and the line numbers of messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.errors import InputError
from focusedcleaner.io import text_table
from focusedcleaner.io.text_table import TextTable
from tests.io.helpers import relaxed


def read(folder: Path, content: str | bytes, name: str = "t.csv") -> TextTable:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return TextTable.read(folder / name)


def rows(table: TextTable) -> list[tuple[str, ...]]:
    return list(zip(*(column.to_list() for column in table.columns(range(table.width), header=False)), strict=True))


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        ("a,b\n\n c , d\r\n \n", "t.csv", [("a", "b"), ("c", "d")]),
        ("a;b,c;d\ne;f;g\n", "t.csv", [("a", "b,c", "d"), ("e", "f", "g")]),
        ("a,b\tc,d\n", "t.tsv", [("a,b", "c,d")]),
        ('"a,\n""x""",b\n"c",""\n', "t.csv", [('a,\n"x"', "b"), ("c", "")]),
        ("a,b\rc,d", "t.csv", [("a", "b"), ("c", "d")]),
        ("\ufeff# x\n1 2\n\n 3\t  4 \r\n%y\n5 6", "t.txt", [("1", "2"), ("3", "4"), ("5", "6")]),
        ('x "y\n', "t.txt", [("x", '"y')]),
        ("# x\n1,2\n", "t.edges", [("1", "2")]),
        ("é\n\nb\n", "t.csv", [("é",), ("b",)]),
        ("", "t.csv", []),
        ("\n \n", "t.csv", []),
    ],
)
def test_files_of_every_style(content: str, name: str, expected: list[tuple[str, ...]], tmp_path: Path) -> None:
    assert rows(read(tmp_path, content, name)) == expected


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("a,b\n\n\nc\n", "t.csv", "line 4: has 1 columns where the first row has 2"),
        ('a,b\n"c\n\nd",e\nf,g,h\n', "t.csv", "line 5: has 3 columns"),
        ("# x\n1 2\n# y\n1 2 3\n", "t.txt", "line 4: has 3 columns"),
        ('a,b\nc,"d" e\n', "t.csv", "line 2: a quote inside a cell"),
        ('a,b\nc,d"e\n', "t.csv", "line 2: a quote inside a cell"),
        ('a,b\nc, "d"\n', "t.csv", "line 2: a quote inside a cell"),
        ('a,b\n"c\nd,e\n', "t.csv", "line 2: a quote is opened and never closed"),
        (b"a,b\n\xff,c\n", "t.csv", r"is not UTF-8 text \(byte 4\)"),
        (b"a,b\xc3", "t.csv", r"is not UTF-8 text \(byte 3\)"),
    ],
)
def test_damage_is_refused_with_its_place(content: str | bytes, name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, content, name)


@relaxed
@given(lines=st.lists(st.sampled_from(["a,b", "1,2", "", " ", "é,x", '"q,""r""",s'])), block=st.integers(1, 12))
def test_blocks_make_no_difference(lines: list[str], block: int, tmp_path: Path) -> None:
    content = "\n".join(lines)
    whole = read(tmp_path, content)
    before, text_table._BLOCK = text_table._BLOCK, block
    try:
        piecewise = read(tmp_path, content)
        numbers = [piecewise.line(record) for record in range(piecewise.records)]
    finally:
        text_table._BLOCK = before
    assert rows(piecewise) == rows(whole)
    assert numbers == [number for number, line in enumerate(lines, 1) if line.strip()]


def test_a_long_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_table, "LONGEST_LINE", 10)
    with pytest.raises(InputError, match="a line of more than 10 characters"):
        read(tmp_path, "a,b\nccccc,dddddd\n")
