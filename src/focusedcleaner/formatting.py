"""Numbers, names and evidence in words, the same on the screen, in the report and on the review page."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.graph import FloatArray, Graph, IntArray

_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
MOST_PLANTED = 0.3
"""A larger share of a graph's edges than attackers plant."""


def percent(share: float) -> str:
    """A share in words, a dash where there is none.

    >>> percent(0.7351), percent(float("nan"))
    ('73.5 %', '–')
    """
    return "–" if math.isnan(share) else f"{100 * share:.1f} %"


def count(number: int, what: str) -> str:
    """A number of things in words.

    >>> count(1, "edge"), count(1200, "edge")
    ('1 edge', '1,200 edges')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def estimate_in_words(estimate: Mapping[str, float], edges: int) -> str:
    """How many of a graph's edges are planted, with the interval, and a warning where that can hardly be.

    >>> estimate_in_words({"number": 512.3, "low": 461.0, "high": 563.6}, edges=5_000)
    'about 512 edges (461 to 564, nine times in ten)'
    >>> estimate_in_words({"number": 40.0, "low": 36.0, "high": 44.0}, edges=100)[44:]
    '; 40.0 % of all is more than attackers plant: where most edges join different classes, this method fails'
    """
    low, high = round(estimate["low"]), round(estimate["high"])
    told = f"about {count(round(estimate['number']), 'edge')} ({low:,} to {high:,}, nine times in ten)"
    share = estimate["number"] / max(edges, 1)
    if share <= MOST_PLANTED:
        return told
    warning = "is more than attackers plant: where most edges join different classes, this method fails"
    return f"{told}; {percent(share)} of all {warning}"


def readable(text: object, most: int = 60) -> str:
    """A name as a person can read it: one line, what is invisible or turns the writing round shown as �, and short.

    >>> readable("left\\u202eright"), readable("a" * 100, 8)
    ('left�right', 'aaaaaaa…')
    """
    flat = " ".join(str(text)[: 8 * most].split())
    seen = visible(flat)
    return seen if len(seen) <= most else f"{seen[: most - 1]}…"


def visible(text: str) -> str:
    """Text with control, formatting and unassigned characters, except line breaks, replaced by �.

    >>> visible("red\\x1b[31m")
    'red�[31m'
    """
    return "".join("�" if letter != "\n" and unicodedata.category(letter) in _UNSEEN else letter for letter in text)


def class_name(graph: Graph, number: int) -> str:
    """What a class is called: its name, or "class 3" where it has none but its number.

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
    """The evidence against one edge in words, as far as the method gives it.

    Args:
        graph: for the names of the classes, and the classes of training and validation nodes.
        evidence: a column per kind of evidence, as a sanitation or a run holds it.
        scores: of the edges, for methods that give nothing else.
        row: where the edge stands in both.
        edge: its two ends, so that the words tell what is known of them.

    >>> import numpy as np
    >>> columns = {"common_neighbours": np.array([0]), "attribute_similarity": np.array([0.14])}
    >>> why(Graph(2, [[0, 1]]), columns, np.array([0.3]), 0)
    'no common neighbour, attributes 14 % alike'
    """
    words = []
    if "planted" in evidence:
        words.append(f"planted with probability {evidence['planted'][row]:.2f}")
    if "classes_u" in evidence and "classes_v" in evidence:
        words.append(_ends(graph, edge, evidence["classes_u"][row], evidence["classes_v"][row]))
    if "common_neighbours" in evidence:
        shared = int(evidence["common_neighbours"][row])
        words.append(count(shared, "common neighbour") if shared else "no common neighbour")
    if "attribute_similarity" in evidence:
        words.append(f"attributes {100 * evidence['attribute_similarity'][row]:.0f} % alike")
    return ", ".join(words) or f"score {scores[row]:.3g}"


def _ends(graph: Graph, edge: Sequence[int] | None, *distributions: FloatArray) -> str:
    """What the ends are, where that is known, and what they look like to the model."""
    known = [None, None] if edge is None else [_known_class(graph, node) for node in edge]
    seen = [int(distribution.argmax()) for distribution in distributions]
    if seen[0] == seen[1] and known == [None, None]:
        return f"both ends look like {class_name(graph, seen[0])}"
    if seen[0] == seen[1] and known == seen:
        return f"both ends are {class_name(graph, seen[0])}"
    one, other = (_end(graph, *end) for end in zip(known, seen, distributions, strict=True))
    return f"one end {one}, the other {other}"


def _end(graph: Graph, known: int | None, seen: int, distribution: FloatArray) -> str:
    looks = f"looks like {class_name(graph, seen)} ({100 * distribution.max():.0f} %)"
    if known is None:
        return looks
    return f"is {class_name(graph, known)}" if known == seen else f"is {class_name(graph, known)} but {looks}"


def _known_class(graph: Graph, node: int) -> int | None:
    """The class of a training or validation node; None for all others, whatever the file says of them."""
    if graph.split is None or graph.labels is None:
        return None
    return int(graph.labels[node]) if _among(graph.split.train, node) or _among(graph.split.val, node) else None


def _among(nodes: IntArray, node: int) -> bool:
    """Whether a node is in a sorted list."""
    place = int(np.searchsorted(nodes, node))
    return place < len(nodes) and nodes[place] == node
