"""Node ids, labels and splits as text; the one place that says which names a file can hold."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import PARTS, UNKNOWN, Graph, IntArray, Split

RESERVED = frozenset({"id", "label", "split"})
"""Columns of a node table that are not attributes."""

LONGEST_NAME = 1_000
"""Most characters of a node, class or attribute name."""

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,300}")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def parse_labels(words: Sequence[object]) -> tuple[IntArray, tuple[str, ...] | None]:
    """N labels and the class names from N words; an empty word is unknown.

    The numbers 0 … C−1, all in use, are class numbers; any other words are class names, numbered in sorted order.

    >>> parse_labels(["spam", "", "ham"])
    (array([ 1, -1,  0]), ('ham', 'spam'))
    >>> parse_labels(["1", "", "0"])
    (array([ 1, -1,  0]), None)
    """
    texts = [str(word) for word in words]
    distinct = set(texts) - {""}
    if all(map(_INTEGER.fullmatch, distinct)):
        numbers = sorted({int(text) for text in distinct} - {UNKNOWN})
        if numbers == list(range(len(numbers))):
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


def checked_names(names: Sequence[Hashable] | None) -> tuple[Hashable, ...] | None:
    """Node names as they are, if files of results can return them: printable, not too long, and distinct as text.

    >>> checked_names((1, "1"))
    Traceback (most recent call last):
    focusedcleaner.errors.InputError: two nodes are called '1' when written as text: give each its own name
    """
    if names is None:
        return None
    for number, name in enumerate(names):
        if isinstance(name, str) and (problem := name_problem(name)):
            raise InputError(f"node {number} is called {shortened(name)}: {problem}")
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        repeated = next(one for one, other in pairwise(sorted(texts)) if one == other)
        raise InputError(f"two nodes are called {shortened(repeated)} when written as text: give each its own name")
    return tuple(names)


def checked_texts(texts: Sequence[str] | None, what: str) -> tuple[str, ...] | None:
    """Class or attribute names as they are, if files of results can return them."""
    for text in texts or ():
        if problem := name_problem(text):
            raise InputError(f"the {what} {shortened(text)} can't be used: {problem}")
    return None if texts is None else tuple(texts)


def name_problem(text: object) -> str:
    """Why a file of results could not return a name; empty if it could.

    >>> name_problem("a\\0"), name_problem("ann")
    ('a name must not hold control characters', '')
    """
    if not isinstance(text, str):
        return "a name must be text"
    if len(text) > LONGEST_NAME:
        return f"a name has at most {LONGEST_NAME:,} characters, not {len(text):,}"
    return "a name must not hold control characters" if _UNPRINTABLE.search(text) else ""


def id_problem(name: str) -> str:
    """Why a cell can't be a node id; empty if it can."""
    problem = name_problem(name)
    return "a node id is empty" if not name else f"node {shortened(name)}: {problem}" if problem else ""


def shortened(text: object) -> str:
    """The beginning of a text, quoted."""
    return repr(text) if len(str(text)) <= 60 else f"{str(text)[:60]!r}…"


def id_texts(graph: Graph) -> list[str]:
    """N node ids as text; only strings and integers can be written to a file."""
    names = checked_names(graph.names) or range(graph.num_nodes)
    for name in names:
        if isinstance(name, bool) or not isinstance(name, str | int | np.integer):
            problem = "can't be written: names must be text or whole numbers"
            raise InputError(f"the node name {shortened(name)} {problem}")
    return [str(name) for name in names]


def check_plain(texts: Iterable[str], what: str) -> None:
    """Refuse texts that a table or an XML file would not return: empty ones, and those with blanks around them."""
    for text in texts:
        if not text or text != text.strip():
            raise InputError(f"the {what} {text!r} can't be written: it is empty or has stray spaces")


def check_table_texts(graph: Graph) -> None:
    """Refuse a graph with a name that a table or a GraphML file would not return."""
    check_plain(id_texts(graph), "node name")
    for texts, what in ((class_words(graph), "class name"), (attribute_keys(graph), "attribute name")):
        checked_texts(texts, what)
        check_plain(texts, what)


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
