"""Node ids, labels and splits as text, for tables and GraphML."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import PARTS, UNKNOWN, Graph, IntArray, Split

RESERVED = frozenset({"id", "label", "split"})
"""Columns of a node table that are not attributes."""

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,300}")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def parse_labels(words: Sequence[object]) -> tuple[IntArray, tuple[str, ...] | None]:
    """N labels and the class names from N words; an empty word is unknown.

    Whole numbers below N are class numbers; any other words are class names, numbered in sorted order.

    >>> parse_labels(["spam", "", "ham"])
    (array([ 1, -1,  0]), ('ham', 'spam'))
    >>> parse_labels(["1", "", "0"])
    (array([ 1, -1,  0]), None)
    """
    texts = [str(word) for word in words]
    distinct = set(texts) - {""}
    if all(map(_INTEGER.fullmatch, distinct)):
        numbers = sorted({int(text) for text in distinct} - {UNKNOWN})
        if not numbers or (numbers[0] >= 0 and numbers[-1] < len(texts)):
            return np.array([int(text or UNKNOWN) for text in texts], dtype=np.int64), None
        names = [str(number) for number in numbers]
    else:
        names = sorted(distinct)
    number = {name: index for index, name in enumerate(names)}
    return np.array([number.get(text, UNKNOWN) for text in texts], dtype=np.int64), tuple(names)


def parse_split(words: Sequence[str]) -> Split:
    """The split that N words give, each train, val, test or empty."""
    for word in words:
        if word not in ("", *PARTS):
            raise InputError(f"a node's split is {word!r}: it must be train, val, test or empty")
    return Split(*(np.flatnonzero(np.array(words, dtype=np.str_) == part) for part in PARTS))


def split_words(graph: Graph) -> list[str]:
    """The part of the split that each of N nodes is in, or ""; inverts `parse_split`."""
    words = np.full(graph.num_nodes, "", dtype="<U5")
    for part, nodes in zip(PARTS, graph.split.parts if graph.split else (), strict=False):
        words[nodes] = part
    return words.tolist()


def parse_ids(texts: Sequence[str]) -> tuple[Hashable, ...] | None:
    """Node ids: integers if all are, text otherwise, None if they are 0 … N−1 in this order.

    >>> parse_ids(["10", "2"]), parse_ids(["007", "2"]), parse_ids(["0", "1"])
    ((10, 2), ('007', '2'), None)
    """
    if not all_integers(texts):
        return tuple(texts)
    numbers = tuple(int(text) for text in texts)
    return None if numbers == tuple(range(len(numbers))) else numbers


def all_integers(texts: Iterable[str]) -> bool:
    """Whether all texts are integers as Python prints them."""
    return all(map(_INTEGER.fullmatch, texts))


def id_texts(graph: Graph) -> list[str]:
    """N node ids as text that `parse_ids` and any table or XML file can hold."""
    texts = [id_text(graph.name(node)) for node in range(graph.num_nodes)]
    if len(set(texts)) < len(texts):
        raise InputError("two nodes have the same name when written as text")
    return checked_texts(texts, "node name")


def id_text(name: Hashable) -> str:
    """One node id as text; only strings and integers can be written to a file."""
    if isinstance(name, bool) or not isinstance(name, str | int | np.integer):
        raise InputError(f"the node name {name!r} can't be written: names must be text or whole numbers")
    return str(name)


def checked_texts(texts: Sequence[str], what: str) -> list[str]:
    """The texts themselves, if a table or an XML file would return them unchanged."""
    for text in texts:
        if not isinstance(text, str) or not text or text != text.strip() or _UNPRINTABLE.search(text):
            raise InputError(f"the {what} {text!r} can't be written: it is empty or has stray spaces or characters")
    return list(texts)


def class_words(graph: Graph) -> list[str]:
    """C distinct names of the classes: their own, or 0 … C−1."""
    words = list(graph.class_names or map(str, range(graph.num_classes)))
    if len(set(words)) < len(words):
        raise InputError("two classes have the same name, so they can't be told apart by name")
    return words


def attribute_keys(graph: Graph) -> list[str]:
    """F distinct names of the attributes: their own, or 0 … F−1."""
    keys = list(graph.attribute_names or map(str, range(graph.num_attributes)))
    reserved = [key for key in keys if key in RESERVED]
    if reserved or len(set(keys)) < len(keys):
        problem = f"an attribute is called {reserved[0]!r}" if reserved else "two attributes have the same name"
        raise InputError(f"{problem}, so they can't be told apart by name")
    return keys


def names_of_keys(keys: Sequence[str]) -> tuple[str, ...] | None:
    """The attribute names; None if the keys are 0 … F−1."""
    return None if list(keys) == [str(number) for number in range(len(keys))] else tuple(keys)
