"""Raw edges, matrices and labels made into what a `Graph` takes: undirected, binary and simple."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.formatting import count
from focusedcleaner.graph import UNKNOWN, FloatArray, IntArray, check_range, pair_keys, pairs_of_keys


def simple_edges(
    pairs: ArrayLike,
    num_nodes: int,
    *,
    source: str | None,
    both_ways: bool,
    weights: ArrayLike | None = None,
    names: Sequence[Hashable] | None = None,
) -> IntArray:
    """Turn M × 2 pairs with M weights into sorted unique edges u < v; one `InputWarning` counts the changes.

    Args:
        pairs: M × 2 node numbers.
        num_nodes: N.
        source: what the warning names, such as the file; None for no warning.
        both_ways: whether an edge is expected once in each direction, as in a matrix, or once, as in a list.
        weights: M finite numbers, none negative; edges of weight 0 are dropped.
        names: N node ids for error messages.

    >>> simple_edges([[2, 0], [0, 1]], 3, source="a list", both_ways=False)
    array([[0, 1],
           [0, 2]])
    """
    ends = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    check_range(ends, num_nodes, "an edge")
    weight = _checked_weights(ends, weights, names)
    absent = weight == 0
    loop = ~absent & (ends[:, 0] == ends[:, 1])
    kept, weight = ends[~absent & ~loop], weight[~absent & ~loop]
    keys = pair_keys(np.sort(kept, axis=1), num_nodes)
    edges = _unique(keys)
    distinct = len(_unique(pair_keys(kept, num_nodes))) if both_ways else len(edges)
    _warn_of_changes(
        source,
        one_way=2 * len(edges) - distinct if both_ways else 0,
        loops=int(loop.sum()),
        repeated=len(keys) - distinct,
        absent=int(absent.sum()),
        weighted=len(_unique(keys[weight != 1])),
    )
    return pairs_of_keys(edges, num_nodes)


def listed_edges(pairs: IntArray, num_nodes: int, *, source: str, absent: int = 0) -> IntArray:
    """Turn M × 2 pairs of a table into sorted unique edges u < v; one `InputWarning` counts the changes.

    Args:
        pairs: M × 2 node numbers.
        num_nodes: N.
        source: what the warning names, such as the file.
        absent: rows of weight 0, which are not among the pairs.
    """
    one, other = pairs.T
    loops = one == other
    if loops.any():
        one, other = one[~loops], other[~loops]
    # Twice the key of an edge, and 1 more where the row gives the larger node first.
    keys = np.minimum(one, other)
    keys *= num_nodes
    keys += np.maximum(one, other)
    keys <<= 1
    keys |= one > other
    keys.sort()
    distinct = _distinct(keys)
    keys >>= 1
    edges = keys[np.append(True, keys[1:] > keys[:-1])] if len(keys) else keys
    _warn_of_changes(
        source,
        both=distinct - len(edges),
        loops=int(loops.sum()),
        repeated=len(keys) - distinct,
        absent=absent,
    )
    return pairs_of_keys(edges, num_nodes)


def _distinct(ordered: IntArray) -> int:
    return int(np.count_nonzero(ordered[1:] > ordered[:-1])) + bool(len(ordered))


def _unique(keys: IntArray) -> IntArray:
    """Equals `np.unique`, which hashes integers and takes fifty times as long for a million keys."""
    ordered = np.sort(keys)
    return ordered[np.append(True, ordered[1:] > ordered[:-1])] if len(keys) else ordered


def _checked_weights(ends: IntArray, weights: ArrayLike | None, names: Sequence[Hashable] | None) -> FloatArray:
    if weights is None:
        return np.ones(len(ends))
    array = np.asarray(weights)
    if array.dtype.kind not in "biuf" or array.shape != (len(ends),):
        raise InputError(f"weights must be one real number per edge, not {array.dtype} of shape {array.shape}")
    weight = array.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        u, v = (int(end) if names is None else names[end] for end in ends[wrong[0]])
        raise InputError(f"edge {u}–{v} has weight {weight[wrong[0]]:g}: weights must be finite and not negative")
    return weight


def _warn_of_changes(
    source: str | None, *, loops: int, repeated: int, absent: int, one_way: int = 0, both: int = 0, weighted: int = 0
) -> None:
    changes = []
    if both:
        changes.append(f"{count(both, 'edge')} {_were(both)} given in both directions (directions are not used)")
    if one_way:
        were = _were(one_way)
        changes.append(f"{count(one_way, 'edge')} {were} given in one direction only and {were} made undirected")
    counts = {"self-loop": loops, "repeated edge": repeated, "weight-0 edge": absent}
    if dropped := [count(number, what) for what, number in counts.items() if number]:
        listed = " and ".join(filter(None, [", ".join(dropped[:-1]), dropped[-1]]))
        changes.append(f"{listed} {_were(loops + repeated + absent)} dropped")
    if weighted:
        changes.append(f"{count(weighted, 'weight')} other than 1 {_were(weighted)} not used")
    if changes and source is not None:
        warnings.warn(f"{source}: {', '.join(changes)}", InputWarning, stacklevel=2)


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def adjacency_edges(matrix: Any, *, source: str | None) -> tuple[int, IntArray]:
    """The number of nodes and the edges (E × 2) of any N × N matrix, sparse or dense; without a source, no warning."""
    try:
        entries = sp.coo_array(matrix)
    except (TypeError, ValueError) as error:
        raise InputError(f"the adjacency can't be read as a matrix: {error}") from None
    if len(entries.shape) != 2 or entries.shape[0] != entries.shape[1]:
        raise InputError(f"the adjacency must be square, not {' × '.join(map(str, entries.shape))}")
    pairs = np.column_stack([entries.row, entries.col])
    edges = simple_edges(pairs, entries.shape[0], source=source, both_ways=True, weights=entries.data)
    return int(entries.shape[0]), edges


def numbered_classes(
    values: ArrayLike, class_names: Sequence[str] | None = None
) -> tuple[IntArray, tuple[str, ...] | None]:
    """Convert N class numbers to labels 0 … C−1; where numbers are left out, those in use become the class names.

    Args:
        values: N or N × 1 whole numbers, −1 and NaN unknown; or N × C, one-hot, a row of zeros unknown.
        class_names: the names, if the classes have any: the numbers then stay as they are.

    >>> numbered_classes([2.0, float("nan"), 0.0])
    (array([ 1, -1,  0]), ('0', '2'))
    >>> numbered_classes([1, -1, 0])
    (array([ 1, -1,  0]), None)
    """
    labels = whole_labels(values)
    if class_names is not None:
        return labels, tuple(class_names)
    used = np.unique(labels[labels != UNKNOWN])
    if not len(used) or used[0] < 0 or used[-1] == len(used) - 1:  # Graph refuses negative numbers
        return labels, None
    compact = np.where(labels == UNKNOWN, UNKNOWN, np.searchsorted(used, labels))
    return compact, tuple(map(str, used.tolist()))


def whole_labels(values: ArrayLike) -> IntArray:
    """Convert an array of N or N × 1 class numbers, or N × C one-hot rows, to integers; NaN becomes unknown.

    >>> whole_labels([2.0, float("nan"), 0.0])
    array([ 2, -1,  0])
    >>> whole_labels([[0, 1], [1, 0], [0, 0]])
    array([ 1,  0, -1])
    """
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    elif array.ndim == 2 and array.shape[1] > 1 and array.dtype.kind in "biuf":
        array = _classes_of_rows(array)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise InputError(f"labels must be one class number per node, not {array.dtype} of shape {array.shape}")
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), UNKNOWN, array)
        broken = ~(np.abs(array) < 2.0**53) | (array != np.floor(array))
        if broken.any():
            raise InputError(f"label {array[broken][0]:g} is not a whole number")
    if array.dtype.kind == "u" and array.max(initial=0) >= 2**63:
        raise InputError(f"label {array.max()} is too large: class numbers are below 2**63")
    return array.astype(np.int64)


def _classes_of_rows(rows: NDArray[Any]) -> IntArray:
    """The class of each one-hot row; a row of zeros or of NaN is unknown."""
    known = ~np.isnan(rows).all(axis=1) if rows.dtype.kind == "f" else np.ones(len(rows), dtype=bool)
    hot = rows == 1
    if not (hot | (rows == 0))[known].all():
        raise InputError(f"labels of shape {rows.shape} must be one-hot: a single 1 in each row, else 0")
    several = int((hot.sum(axis=1) > 1).sum())
    if several:
        nodes = f"{count(several, 'node')} {'has' if several == 1 else 'have'} several classes (multi-label)"
        raise InputError(f"{nodes}: give one class per node, such as one column of the labels")
    return np.where(hot.any(axis=1), hot.argmax(axis=1), UNKNOWN)


def narrowed(matrix: sp.csr_array) -> sp.csr_array:
    """The matrix in single precision if that changes no value, else unchanged."""
    with np.errstate(over="ignore", under="ignore"):
        narrow = matrix.astype(np.float32)
    return narrow if np.array_equal(narrow.data.astype(np.float64), matrix.data) else matrix
