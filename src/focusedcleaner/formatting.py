"""Numbers, names and evidence as text, for the terminal, the report and the review page."""

from __future__ import annotations

import math
import os
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from focusedcleaner.graph import FloatArray, Graph

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories of control, format and unassigned characters and of line separators."""


def percent(share: float) -> str:
    """Format a share as a percentage; NaN becomes a dash.

    >>> percent(0.7351), percent(float("nan"))
    ('73.5 %', '–')
    """
    return "–" if math.isnan(share) else f"{100 * share:.1f} %"


def count(number: int, what: str) -> str:
    """Format a number of things, with the noun in the singular or plural.

    >>> count(1, "edge"), count(1200, "edge")
    ('1 edge', '1,200 edges')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def readable(text: object, most: int = 60) -> str:
    """Make an untrusted name safe to display: one line, at most ``most`` characters, invisible characters shown as �.

    >>> readable("left\\u202eright"), readable("a" * 100, 8)
    ('left�right', 'aaaaaaa…')
    """
    line = visible(" ".join(str(text)[: 8 * most].split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def visible(text: str) -> str:
    """Text with control, formatting and unassigned characters, except line breaks, replaced by �.

    >>> visible("red\\x1b[31m")
    'red�[31m'
    """
    return "".join("�" if letter != "\n" and unicodedata.category(letter) in _INVISIBLE else letter for letter in text)


def shown_path(path: str | os.PathLike[str]) -> str:
    """A path as text for files and messages; bytes that are not UTF-8 are shown as �.

    >>> shown_path("caf\\udce9.npz")
    'caf�.npz'
    """
    return os.fsencode(path).decode("utf-8", "replace")


def class_name(graph: Graph, number: int) -> str:
    """Return the name of a class, or "class 3" if it has only a number.

    >>> class_name(Graph(2, [[0, 1]]), 3)
    'class 3'
    """
    names = graph.class_names or ()
    name = readable(names[number] if number < len(names) else number, 40)
    return f"class {name}" if name.isdigit() else name


def why(
    graph: Graph,
    evidence: Mapping[str, NDArray[Any]],
    scores: NDArray[Any],
    row: int,
    edge: Sequence[int] | None = None,
) -> str:
    """Describe the evidence against one edge, as far as the method gives it.

    Args:
        graph: for the names of the classes, and the classes of training and validation nodes.
        evidence: a column for each kind of evidence, as in a sanitation or a run.
        scores: of the edges, for methods without other evidence.
        row: the edge's position in both.
        edge: its two ends, so that known classes can be named.

    >>> import numpy as np
    >>> columns = {"common_neighbours": np.array([0]), "attribute_similarity": np.array([0.14])}
    >>> why(Graph(2, [[0, 1]]), columns, np.array([0.3]), 0)
    'no common neighbour, attributes 14 % alike'
    """
    phrases = []
    if "planted" in evidence:
        phrases.append(f"planted with probability {evidence['planted'][row]:.2f}")
    if "classes_u" in evidence and "classes_v" in evidence:
        phrases.append(_classes_of_ends(graph, edge, evidence["classes_u"][row], evidence["classes_v"][row]))
    if "common_neighbours" in evidence:
        shared = int(evidence["common_neighbours"][row])
        phrases.append(count(shared, "common neighbour") if shared else "no common neighbour")
    if "attribute_similarity" in evidence:
        phrases.append(f"attributes {100 * max(evidence['attribute_similarity'][row], 0.0):.0f} % alike")
    return ", ".join(phrases) or f"score {scores[row]:.3g}"


def _classes_of_ends(graph: Graph, edge: Sequence[int] | None, *distributions: FloatArray) -> str:
    """Describe the known and the predicted classes of both ends."""
    known = [None, None] if edge is None else [_known_class(graph, node) for node in edge]
    predicted = [int(distribution.argmax()) for distribution in distributions]
    if predicted[0] == predicted[1] and known == [None, None]:
        return f"both ends look like {class_name(graph, predicted[0])}"
    if predicted[0] == predicted[1] and known == predicted:
        return f"both ends are {class_name(graph, predicted[0])}"
    one, other = (_class_of_end(graph, *end) for end in zip(known, predicted, distributions, strict=True))
    return f"one end {one}, the other {other}"


def _class_of_end(graph: Graph, known: int | None, predicted: int, distribution: FloatArray) -> str:
    looks = f"looks like {class_name(graph, predicted)} ({100 * distribution.max():.0f} %)"
    if known is None:
        return looks
    return f"is {class_name(graph, known)}" if known == predicted else f"is {class_name(graph, known)} but {looks}"


def _known_class(graph: Graph, node: int) -> int | None:
    """The class of a training or validation node; None for every other node, even if the file has its label."""
    if graph.split is None or graph.labels is None:
        return None
    return int(graph.labels[node]) if node in graph.split.train or node in graph.split.val else None
