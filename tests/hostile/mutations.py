"""Strategies that damage real small files: each draws the bytes of a file that was one of a known format."""

from __future__ import annotations

import re
from collections.abc import Callable

from hypothesis import strategies as st

from tests.hostile.case import members, zipped

NASTY = (
    b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\r", b"\x1b[31m", b"'", b'"', b"=1+1", b"<", b"&", b"nan", b"1e999", b"-1",
    b"9" * 400, b"9" * 5000, b"18446744073709551616", b"None", b"[" * 200, "٣".encode(), "\u2028".encode(),
)  # fmt: skip
"""What is put into files, or in the place of their numbers."""
_NUMBER = re.compile(rb"[0-9]+")


@st.composite
def mutated(draw: st.DrawFn, content: bytes) -> bytes:
    """The content after one to three mutations."""
    for _ in range(draw(st.integers(1, 3))):
        kinds = ZIPPED if content[:2] == b"PK" else PLAIN
        content = draw(draw(st.sampled_from(kinds))(content))
    return content


@st.composite
def flipped(draw: st.DrawFn, content: bytes) -> bytes:
    """Up to eight bytes changed."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 8)) if content else 0):
        changed[draw(st.integers(0, len(content) - 1))] ^= draw(st.integers(1, 255))
    return bytes(changed)


@st.composite
def truncated(draw: st.DrawFn, content: bytes) -> bytes:
    start, end = sorted(draw(st.tuples(*[st.integers(0, len(content))] * 2)))
    return draw(st.sampled_from([content[:end], content[start:], content[:start] + content[end:]]))


@st.composite
def repeated(draw: st.DrawFn, content: bytes) -> bytes:
    """A part of the content twice."""
    start, end = sorted(draw(st.tuples(*[st.integers(0, len(content))] * 2)))
    return content[:end] + content[start:]


@st.composite
def inserted(draw: st.DrawFn, content: bytes) -> bytes:
    place = draw(st.integers(0, len(content)))
    return content[:place] + draw(st.sampled_from(NASTY)) + content[place:]


@st.composite
def renumbered(draw: st.DrawFn, content: bytes) -> bytes:
    """One of the numbers in the text replaced."""
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    number = draw(st.sampled_from(found))
    return content[: number.start()] + draw(st.sampled_from(NASTY)) + content[number.end() :]


@st.composite
def recoded(draw: st.DrawFn, content: bytes) -> bytes:
    """The text in another encoding."""
    return content.decode("latin-1").encode(draw(st.sampled_from(["utf-16", "utf-8", "utf-7", "utf-32"])))


def _on_members(change: Callable[[st.DrawFn, dict[str, bytes]], None]) -> Callable[[bytes], st.SearchStrategy[bytes]]:
    """A strategy that changes the members of a zip file; what is no zip file any more is flipped."""

    @st.composite
    def strategy(draw: st.DrawFn, content: bytes) -> bytes:
        try:
            parts = members(content)
        except Exception:  # noqa: BLE001  # zipfile fails in many ways on damaged files
            return draw(flipped(content))
        if parts:
            change(draw, parts)
        return zipped(parts, compress=draw(st.booleans()))

    return strategy


def _swap(draw: st.DrawFn, parts: dict[str, bytes]) -> None:
    one, other = (draw(st.sampled_from(sorted(parts))) for _ in range(2))
    parts[one], parts[other] = parts[other], parts[one]


def _drop(draw: st.DrawFn, parts: dict[str, bytes]) -> None:
    del parts[draw(st.sampled_from(sorted(parts)))]


def _damage(draw: st.DrawFn, parts: dict[str, bytes]) -> None:
    name = draw(st.sampled_from(sorted(parts)))
    parts[name] = draw(draw(st.sampled_from([flipped, truncated, repeated, inserted]))(parts[name]))


def _header(draw: st.DrawFn, parts: dict[str, bytes]) -> None:
    """A number, a type or the order in the header of an array changed."""
    name = draw(st.sampled_from(sorted(parts)))
    head, body = parts[name][:10], parts[name][10:]
    text, end, rest = body.partition(b"\n")
    swaps = [(b"<f4", b"<f8"), (b"<f8", b"<i8"), (b"<i8", b"|O8"), (b"<i4", b"<U1"), (b"<", b">"), (b"False", b"True")]
    old, new = draw(st.sampled_from([*swaps, *((number, b"9" * len(number)) for number in _NUMBER.findall(text))]))
    parts[name] = head + text.replace(old, new) + end + rest


def _text(draw: st.DrawFn, parts: dict[str, bytes]) -> None:
    """Letters of a text array changed to anything, lone surrogates included."""
    names = [name for name in parts if "names" in name]
    if names:
        name = draw(st.sampled_from(sorted(names)))
        letter = draw(st.sampled_from([0, 10, 13, 27, 61, 0xD800, 0x2028, 0x10FFFF, 0x110000])).to_bytes(4, "little")
        parts[name] = parts[name][: -len(letter)] + letter


PLAIN = [flipped, truncated, repeated, inserted, renumbered, recoded]
ZIPPED = [flipped, truncated, *(_on_members(change) for change in (_swap, _drop, _damage, _header, _text))]
