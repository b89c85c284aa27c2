"""Numbers, names and evidence as text, for the terminal, the report and the review page."""

from __future__ import annotations

import math
import os
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.graph import FloatArray, Graph, IntArray

LITTLE_ALIKE, MUCH_ALIKE = 0.1, 0.5
"""Similarity of two nodes' attributes below which it speaks against their edge, and from which it speaks for it."""
LEADING = 3
"""Weight of a clue that is enough of a reason by itself."""
UNLIKELY = 0.2
"""Probability below which a link predictor speaks against an edge."""
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories of control, format and unassigned characters and of line separators."""

_KINDS = ("source", "target")


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


@dataclass(frozen=True)
class EdgeEvidence:
    """The evidence about one edge: a row of the columns, and the edge's two nodes."""

    graph: Graph
    columns: Mapping[str, NDArray[Any]]
    row: int
    edge: tuple[int, int]

    def number(self, name: str) -> float | None:
        """The value of a column of numbers; None if there is no such column."""
        column = self.columns.get(name)
        return None if column is None or column.ndim != 1 else float(column[self.row])

    def distributions(self, name: str) -> tuple[FloatArray, FloatArray] | None:
        """The distributions of both ends; None if there are none."""
        pair = self.columns.get(f"{name}_u"), self.columns.get(f"{name}_v")
        if pair[0] is None or pair[1] is None or pair[0].ndim != 2 or pair[1].ndim != 2:
            return None
        return pair[0][self.row], pair[1][self.row]

    def name(self, end: int) -> str:
        """The name of an end, short enough for a sentence."""
        return readable(self.graph.name(self.edge[end]), 40)


@dataclass(frozen=True)
class Clue:
    """A piece of evidence in words."""

    text: str
    weight: int
    """How strongly it speaks for a planted edge; negative if it speaks against one."""


def why(
    graph: Graph,
    evidence: Mapping[str, NDArray[Any]],
    scores: NDArray[Any],
    row: int,
    edge: Sequence[int],
    *,
    planted: bool = True,
) -> str:
    """Describe the evidence about one edge: the leading reason first, then what speaks against it.

    Args:
        graph: for the names of nodes and classes, and the classes of training and validation nodes.
        evidence: a column for each kind of evidence, as in a sanitation or a run.
        scores: of the edges, for methods without other evidence.
        row: the edge's position in both.
        edge: its two ends.
        planted: whether the edge is suspected to be planted; False for a pair that may lack its edge.

    >>> import numpy as np
    >>> columns = {"common_neighbours": np.array([0]), "attribute_similarity": np.array([0.04])}
    >>> columns |= {"classes_u": np.array([[0.1, 0.9]]), "classes_v": np.array([[0.3, 0.7]])}
    >>> why(Graph(2, [[0, 1]]), columns, np.array([0.3]), 0, (0, 1))
    'attributes 4 % alike, no common neighbour, though both look like class 1 (90 and 70 %)'
    """
    about = EdgeEvidence(graph, evidence, row, (int(edge[0]), int(edge[1])))
    clues = [clue for find in _CLUES if (clue := find(about)) is not None]
    if not clues:
        return f"score {scores[row]:.3g}"
    if not planted:
        return ", ".join(clue.text for clue in clues)
    clues.sort(key=lambda clue: -clue.weight)
    strong = [clue.text for clue in clues if clue.weight == LEADING]
    against = [clue.text for clue in clues if clue.weight < 0 < clues[0].weight]
    others = ", ".join(clue.text for clue in clues[len(strong) : len(clues) - len(against)])
    sentence = "; ".join([*strong, *([others] if others else [])])
    sentence += f", though {' and '.join(against)}" if against else ""
    probability = about.number("planted")
    return sentence if probability is None else f"{sentence}; planted with probability {probability:.2f}"


def why_sentence(
    graph: Graph, evidence: Mapping[str, NDArray[Any]], scores: NDArray[Any], row: int, edge: Sequence[int]
) -> str:
    """`why` as a sentence: with a full stop and, unless a node's name comes first, a capital.

    >>> import numpy as np
    >>> why_sentence(Graph(2, [[0, 1]]), {}, np.array([0.25]), 0, (0, 1))
    'Score 0.25.'
    """
    text = why(graph, evidence, scores, row, edge)
    about = EdgeEvidence(graph, evidence, row, (int(edge[0]), int(edge[1])))
    named = any(text.startswith(f"{about.name(end)} ") for end in (0, 1))
    return f"{text}." if named else f"{text[:1].upper()}{text[1:]}."


def _classes(about: EdgeEvidence) -> Clue | None:
    """The known or predicted classes of both ends, and those of their other neighbours where these differ."""
    found = about.distributions("classes")
    if found is None:
        return None
    known = [_known_class(about.graph, node) for node in about.edge]
    predicted = [int(distribution.argmax()) for distribution in found]
    shares = [f"{100 * distribution.max():.0f}" for distribution in found]
    classes = [own if label is None else label for label, own in zip(known, predicted, strict=True)]
    names = [class_name(about.graph, one) for one in classes]
    doubts = ["", ""]
    for end in (0, 1):
        if classes[end] != predicted[end]:
            doubts[end] = f" but looks like {class_name(about.graph, predicted[end])} ({shares[end]} %)"
        elif classes[0] == classes[1]:
            doubts[end] = _other_neighbours(about, end, classes[end], partial(class_name, about.graph))
    if classes[0] != classes[1] or any(doubts):
        parts = []
        for end in (0, 1):
            own = f"is {names[end]}" if known[end] is not None else f"looks like {names[end]} ({shares[end]} %)"
            parts.append(f"{about.name(end)} {own}{doubts[end]}")
        return Clue("; ".join(parts), LEADING)
    if known == [None, None]:
        return Clue(f"both look like {names[0]} ({' and '.join(shares)} %)", -1)
    if None not in known:
        return Clue(f"both are {names[0]}", -1)
    sure, other = (1, 0) if known[0] is None else (0, 1)
    return Clue(f"{about.name(sure)} is {names[0]} and {about.name(other)} looks like it ({shares[other]} %)", -1)


def _clusters(about: EdgeEvidence) -> Clue | None:
    """The clusters of both ends, in place of classes; numbered from 1."""
    found = about.distributions("clusters")
    numbers = [about.number("cluster_u"), about.number("cluster_v")]
    if found is not None:
        clusters = [int(distribution.argmax()) + 1 for distribution in found]
    elif numbers[0] is not None and numbers[1] is not None:
        clusters = [int(number) + 1 for number in numbers if number is not None]
    else:
        return None
    if clusters[0] != clusters[1]:
        return Clue(f"{about.name(0)} is in cluster {clusters[0]}, {about.name(1)} in cluster {clusters[1]}", LEADING)
    doubts = [_other_neighbours(about, end, clusters[end] - 1, _cluster_name) for end in (0, 1)]
    if not any(doubts):
        return Clue(f"both are in cluster {clusters[0]}", -1)
    both = (f"{about.name(end)} is in cluster {clusters[end]}{doubts[end]}" for end in (0, 1))
    return Clue("; ".join(both), LEADING)


def _cluster_name(number: int) -> str:
    return f"in cluster {number + 1}"


def _other_neighbours(about: EdgeEvidence, end: int, own: int, words: Callable[[int], str]) -> str:
    """That most other neighbours of an end are of another class or cluster than itself; empty if they are not."""
    found = about.distributions("neighbours")
    if found is None or not found[end].max() > 0.5 or (other := int(found[end].argmax())) == own:
        return ""
    if about.number(f"degree_{'uv'[end]}") == 2:
        return f" but its other neighbour is {words(other)}"
    most = "" if found[end].max() > 0.8 else "most of "
    return f" but {most}its other neighbours are {words(other)}"


def _group(about: EdgeEvidence) -> Clue | None:
    """The dense group of an edge between two kinds of nodes."""
    sources, targets, density = (about.number(f"group_{part}") for part in ("sources", "targets", "density"))
    if not about.number("group") or sources is None or targets is None or density is None:
        return None
    return Clue(_group_words(about.graph, int(sources), int(targets), density), LEADING)


def _link_probability(about: EdgeEvidence) -> Clue | None:
    probability = about.number("link_probability")
    if probability is None or probability >= UNLIKELY:
        return None
    return Clue(f"a link predictor gives it a probability of {probability:.2f}", LEADING)


def _common_neighbours(about: EdgeEvidence) -> Clue | None:
    shared = about.number("common_neighbours")
    if shared is None or "group" in about.columns:  # no edge of a bipartite graph has a common neighbour
        return None
    return Clue(count(int(shared), "common neighbour"), 0) if shared else Clue("no common neighbour", 1)


def _attributes(about: EdgeEvidence) -> Clue | None:
    alike = about.number("attribute_similarity")
    if alike is None:
        return None
    weight = 2 if alike < LITTLE_ALIKE else -1 if alike >= MUCH_ALIKE else 0
    return Clue(f"attributes {100 * max(alike, 0.0):.0f} % alike", weight)


_CLUES: tuple[Callable[[EdgeEvidence], Clue | None], ...] = (
    _classes,
    _clusters,
    _group,
    _link_probability,
    _common_neighbours,
    _attributes,
)
"""One function for each kind of evidence; it returns None if the method gives no such evidence."""


def _known_class(graph: Graph, node: int) -> int | None:
    """The class of a training or validation node; None for every other node, even if the file has its label."""
    if graph.split is None or graph.labels is None:
        return None
    return int(graph.labels[node]) if node in graph.split.train or node in graph.split.val else None


def known_sources(graph: Graph) -> IntArray | None:
    """For each node 1 if it is from the source column of a table of two kinds of nodes, −1 if from the target column.

    The columns are the graph's notes ``source_column`` and ``target_column``. A node is told by its name, "user 17" or
    "user:17" for the column user; the note ``a_source`` names a source. 0 where that can't tell; None if nowhere.

    >>> notes = {"source_column": "user", "target_column": "item"}
    >>> known_sources(Graph(3, [[0, 1]], names=["user 7", "item 7", "x"], notes=notes))
    array([ 1, -1,  0])
    """
    if graph.names is None or not {"source_column", "target_column"} <= graph.notes.keys():
        return None
    prefixes, a_source = _prefixes(graph), graph.notes.get("a_source")
    kinds = ((1 if name == a_source else _kind(name, *prefixes)) for name in map(str, graph.names))
    known = np.fromiter(kinds, np.int64, graph.num_nodes)
    return known if known.any() else None


def _prefixes(graph: Graph) -> list[tuple[str, ...]]:
    """How the names of sources begin, and those of targets."""
    return [tuple(f"{graph.notes[f'{kind}_column']}{mark}" for mark in " :/=") for kind in _KINDS]


def _kind(name: str, sources: tuple[str, ...], targets: tuple[str, ...]) -> int:
    """1 for the name of a source, −1 for that of a target, 0 if the name doesn't say."""
    return name.startswith(sources) - name.startswith(targets)


def _group_words(graph: Graph, sources: int, targets: int, density: float) -> str:
    """Describe a dense group."""
    named = {"source_column", "target_column"} <= graph.notes.keys() and graph.names
    source, target, which = "node", "neighbour", "the same"
    if named and ("a_source" in graph.notes or _kind(str(named[0]), *_prefixes(graph))):
        source, target = (readable(graph.notes[f"{kind}_column"], 30) for kind in _KINDS)
        which = "these"
    members, shared = count(int(sources), source), f"{which} {count(int(targets), target)}"
    if density < 0.5:
        return f"one of {members} with {100 * density:.0f} % of the possible edges to {shared}"
    return f"one of {members} that share {shared} ({100 * density:.0f} % of the possible edges)"
