"""Makes a graph of raw input: what is directed, weighted, repeated or loose gets one defined answer here."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import UNKNOWN, FloatArray, Graph, IntArray, Split

PARTS = ("train", "val", "test")
RESERVED = frozenset({"id", "label", "split"})
"""What a node's data may be called where it is not an attribute."""

_LARGEST_WIDTH = 2**31 - 1
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,300}")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


# Edges ---------------------------------------------------------------------------------------------------------------


def simple_edges(
    pairs: ArrayLike,
    num_nodes: int,
    *,
    source: str,
    both_ways: bool,
    weights: ArrayLike | None = None,
    names: Sequence[Hashable] | None = None,
) -> IntArray:
    """Turn M × 2 pairs with M weights into sorted unique edges u < v; one `InputWarning` counts what that changed.

    Args:
        pairs: M × 2 node numbers.
        num_nodes: N.
        source: what the warning names, such as the file.
        both_ways: whether an edge is expected once in each direction, as in a matrix, or once in all, as in a list.
        weights: M finite numbers, none negative; an edge of weight 0 is no edge.
        names: N ids to call nodes by in an error.

    >>> simple_edges([[2, 0], [0, 1]], 3, source="a list", both_ways=False)
    array([[0, 1],
           [0, 2]])
    """
    ends = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    if len(ends) and (ends.min() < 0 or ends.max() >= num_nodes):
        wrong = ends.min() if ends.min() < 0 else ends.max()
        raise InputError(f"an edge names node {wrong}, but nodes are numbered 0 to {num_nodes - 1}")
    weight = _checked_weights(ends, weights, names)
    absent = weight == 0
    loop = ~absent & (ends[:, 0] == ends[:, 1])
    kept, weight = ends[~absent & ~loop], weight[~absent & ~loop]
    low, high = kept.min(axis=1), kept.max(axis=1)
    edge = low * num_nodes + high
    found = _distinct(edge)
    given = len(_distinct(kept[:, 0] * num_nodes + kept[:, 1])) if both_ways else len(found)
    _warn_of_changes(
        source,
        one_way=2 * len(found) - given if both_ways else 0,
        loops=int(loop.sum()),
        repeated=len(edge) - given,
        absent=int(absent.sum()),
        weighted=len(_distinct(edge[weight != 1])),
    )
    return np.column_stack([found // num_nodes, found % num_nodes])


def _distinct(keys: IntArray) -> IntArray:
    """What `np.unique` gives, which takes fifty times as long for a million keys since numpy hashes them."""
    ordered = np.sort(keys)
    return ordered[np.append(True, np.diff(ordered) > 0)] if len(keys) else ordered


def _checked_weights(ends: IntArray, weights: ArrayLike | None, names: Sequence[Hashable] | None) -> FloatArray:
    if weights is None:
        return np.ones(len(ends))
    given = np.asarray(weights)
    if given.dtype.kind not in "biuf" or given.shape != (len(ends),):
        raise InputError(f"weights must be one real number an edge, not {given.dtype} of shape {given.shape}")
    weight = given.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        u, v = (int(end) if names is None else names[end] for end in ends[wrong[0]])
        raise InputError(f"edge {u}–{v} has weight {weight[wrong[0]]:g}: weights must be finite and not negative")
    return weight


def _warn_of_changes(source: str, *, one_way: int, loops: int, repeated: int, absent: int, weighted: int) -> None:
    changes = []
    if one_way:
        was = "was" if one_way == 1 else "were"
        changes.append(f"{_count(one_way, 'edge')} {was} given in one direction only and {was} made undirected")
    dropped = [
        _count(number, what)
        for number, what in ((loops, "self-loop"), (repeated, "repeated edge"), (absent, "weight-0 edge"))
        if number
    ]
    if dropped:
        listed = " and ".join([", ".join(dropped[:-1]), dropped[-1]] if len(dropped) > 1 else dropped)
        changes.append(f"{listed} {'was' if loops + repeated + absent == 1 else 'were'} dropped")
    if weighted:
        changes.append(f"{_count(weighted, 'weight')} {'was' if weighted == 1 else 'were'} set to 1")
    if changes:
        warnings.warn(f"{source}: {', '.join(changes)}", InputWarning, stacklevel=2)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


# Matrices ------------------------------------------------------------------------------------------------------------


def adjacency_edges(matrix: Any, *, source: str) -> tuple[int, IntArray]:
    """Read N and the edges (E × 2) from any N × N matrix, sparse or dense."""
    try:
        entries = sp.coo_array(matrix)
    except (TypeError, ValueError) as error:
        raise InputError(f"the adjacency can't be read as a matrix: {error}") from None
    if len(entries.shape) != 2 or entries.shape[0] != entries.shape[1]:
        raise InputError(f"the adjacency must be square, not {' × '.join(map(str, entries.shape))}")
    pairs = np.column_stack([entries.row, entries.col])
    edges = simple_edges(pairs, entries.shape[0], source=source, both_ways=True, weights=entries.data)
    return int(entries.shape[0]), edges


def checked_shape(shape: NDArray[Any], what: str) -> tuple[int, int]:
    """Read the two sides of a matrix from what a file says they are."""
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any() or (shape > _LARGEST_WIDTH).any():
        raise InputError(f"the {what}'s shape must be two whole numbers from 0 to {_LARGEST_WIDTH:,}")
    return int(shape[0]), int(shape[1])


def checked_csr(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int], what: str
) -> sp.csr_array:
    """Build a matrix from its CSR parts after making sure that they fit: scipy's own code would trust them."""
    for part, name, kinds in ((data, "data", "biuf"), (indices, "indices", "iu"), (indptr, "indptr", "iu")):
        if part.ndim != 1 or part.dtype.kind not in kinds:
            raise InputError(f"the {what}'s {name} must be a flat array of numbers, not {part.dtype} {part.shape}")
    starts, columns = indptr.astype(np.int64), indices.astype(np.int64)
    fits = len(starts) == shape[0] + 1 and starts[0] == 0 and starts[-1] == len(columns) == len(data)
    if not fits or (np.diff(starts) < 0).any():
        raise InputError(f"the {what}'s indptr does not fit its shape and its {len(columns):,} indices")
    if len(columns) and (columns.min() < 0 or columns.max() >= shape[1]):
        wrong = columns.min() if columns.min() < 0 else columns.max()
        raise InputError(f"the {what} names column {wrong}, but columns are numbered 0 to {shape[1] - 1}")
    return sp.csr_array((data.astype(np.float64), columns, starts), shape=shape)


def narrowed(matrix: sp.csr_array) -> sp.csr_array:
    """The same matrix in single precision where that changes no value."""
    with np.errstate(over="ignore", under="ignore"):
        narrow = matrix.astype(np.float32)
    return narrow if np.array_equal(narrow.data.astype(np.float64), matrix.data) else matrix


# What is known about nodes -------------------------------------------------------------------------------------------


def whole_labels(values: ArrayLike) -> IntArray:
    """Read N class numbers from an array of N or N × 1 numbers; NaN is unknown.

    >>> whole_labels([2.0, float("nan"), 0.0])
    array([ 2, -1,  0])
    """
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise InputError(f"labels must be one class number a node, not {array.dtype} of shape {array.shape}")
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), UNKNOWN, array)
        broken = ~(np.abs(array) < 2.0**53) | (array != np.floor(array))
        if broken.any():
            raise InputError(f"label {array[broken][0]:g} is not a whole number")
    return array.astype(np.int64)


def labels_from_words(words: Sequence[object]) -> tuple[IntArray, tuple[str, ...] | None]:
    """Read N labels and the class names from N words; an empty word is unknown.

    Whole numbers below N are the class numbers themselves; anything else names a class, numbered in sorted order.

    >>> labels_from_words(["spam", "", "ham"])
    (array([ 1, -1,  0]), ('ham', 'spam'))
    >>> labels_from_words(["1", "", "0"])
    (array([ 1, -1,  0]), None)
    """
    known = {str(word) for word in words if word != ""}
    if not all(_WHOLE.fullmatch(word) for word in known):
        return _numbered(words, sorted(known)), tuple(sorted(known))
    numbers = sorted({int(word) for word in known} - {UNKNOWN})
    if numbers and (numbers[0] < 0 or numbers[-1] >= len(words)):
        names = tuple(str(number) for number in numbers)
        return _numbered(words, names), names
    return np.array([UNKNOWN if word == "" else int(str(word)) for word in words], dtype=np.int64), None


def _numbered(words: Sequence[object], names: Sequence[str]) -> IntArray:
    number = {name: index for index, name in enumerate(names)}
    return np.array([number.get(str(word), UNKNOWN) for word in words], dtype=np.int64)


def split_from_words(words: Sequence[str]) -> Split:
    """Read a split from N words, each train, val, test or empty."""
    places: dict[str, list[int]] = {part: [] for part in PARTS}
    for node, word in enumerate(words):
        if word in places:
            places[word].append(node)
        elif word:
            raise InputError(f"a node's split is {word!r}: it must be train, val, test or empty")
    return Split(*(np.array(places[part], dtype=np.int64) for part in PARTS))


def split_words(graph: Graph) -> list[str]:
    """The opposite of `split_from_words`: N words."""
    words = [""] * graph.num_nodes
    if graph.split is not None:
        for part in PARTS:
            for node in getattr(graph.split, part):
                words[node] = part
    return words


# Names ---------------------------------------------------------------------------------------------------------------


def ids_from_text(texts: Sequence[str]) -> tuple[Hashable, ...] | None:
    """Read node ids: whole numbers where all are, text otherwise, None where they number the nodes 0 … N−1.

    >>> ids_from_text(["10", "2"]), ids_from_text(["007", "2"]), ids_from_text(["0", "1"])
    ((10, 2), ('007', '2'), None)
    """
    if not all(map(_WHOLE.fullmatch, texts)):
        return tuple(texts)
    numbers = tuple(int(text) for text in texts)
    return None if numbers == tuple(range(len(numbers))) else numbers


def ids_as_text(graph: Graph) -> list[str]:
    """Write N node ids as text that `ids_from_text` and any table or XML file can hold."""
    texts = [plain_id(graph.name(node)) for node in range(graph.num_nodes)]
    if len(set(texts)) < len(texts):
        raise InputError("two nodes have the same name when written as text")
    return plain_texts(texts, "node name")


def plain_id(name: Hashable) -> str:
    """Write one node id; ids other than strings and whole numbers have no place in a file."""
    if isinstance(name, bool) or not isinstance(name, str | int | np.integer):
        raise InputError(f"the node name {name!r} can't be written: names must be text or whole numbers")
    return str(name)


def plain_texts(texts: Sequence[str], what: str) -> list[str]:
    """Refuse text that a table or an XML file would not give back as it is."""
    for text in texts:
        if not isinstance(text, str) or not text or text != text.strip() or _UNPRINTABLE.search(text):
            raise InputError(f"the {what} {text!r} can't be written: it is empty or has stray spaces or characters")
    return list(texts)


def class_words(graph: Graph) -> list[str]:
    """C different words for the classes: their names, or 0 … C−1."""
    words = [str(number) for number in range(graph.num_classes)]
    if graph.class_names is not None:
        words = list(graph.class_names)
    if len(set(words)) < len(words):
        raise InputError("two classes have the same name, so they can't be told apart by name")
    return words


def attribute_keys(graph: Graph) -> list[str]:
    """F different names for the attributes: their own, or 0 … F−1."""
    keys = [str(number) for number in range(graph.num_attributes)]
    if graph.attribute_names is not None:
        keys = list(graph.attribute_names)
    wrong = [key for key in keys if key in RESERVED]
    if wrong or len(set(keys)) < len(keys):
        fault = f"an attribute is called {wrong[0]!r}" if wrong else "two attributes have the same name"
        raise InputError(f"{fault}, so they can't be told apart by name")
    return keys


def names_of_keys(keys: Sequence[str]) -> tuple[str, ...] | None:
    """The opposite of `attribute_keys`: None where the keys are 0 … F−1."""
    return None if list(keys) == [str(number) for number in range(len(keys))] else tuple(keys)
