"""Scores of a sanitation against the truth: ESR, F1, CR and precision, beside the oracle's ESR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from focusedcleaner.adjacency_rows import StoredNames
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count, percent
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.io.convert import as_graph
from focusedcleaner.io.node_ids import NodeIds
from focusedcleaner.sanitizers import Sanitation


@dataclass(frozen=True)
class Score:
    """Counts and ratios of the removed edges S_san against the planted edges S_atk.

    Ratios lie in [0, 1]; 0/0 is NaN.
    """

    attacked: int
    """|S_atk|, the planted edges."""
    removed: int
    """|S_san|, the removed edges."""
    hits: int
    """|S_atk ∩ S_san|, the planted edges that were removed."""

    @property
    def esr(self) -> float:
        """Effective sanitation ratio |S_atk ∩ S_san| / |S_atk ∪ S_san| (Eq. 2)."""
        return _ratio(self.hits, self.attacked + self.removed - self.hits)

    @property
    def f1(self) -> float:
        """F1, the harmonic mean of precision and recall: 2|S_atk ∩ S_san| / (|S_atk| + |S_san|) (Eq. 3)."""
        return _ratio(2 * self.hits, self.attacked + self.removed)

    @property
    def cr(self) -> float:
        """Coverage ratio, the recall: |S_atk ∩ S_san| / |S_atk| (Eq. 17)."""
        return _ratio(self.hits, self.attacked)

    @property
    def precision(self) -> float:
        """|S_atk ∩ S_san| / |S_san|."""
        return _ratio(self.hits, self.removed)

    @property
    def oracle_esr(self) -> float:
        """The ESR of as many removals, planted edges first: min(|S_san|, |S_atk|) / max(|S_san|, |S_atk|)."""
        return _ratio(min(self.removed, self.attacked), max(self.removed, self.attacked))

    @property
    def oracle(self) -> Score:
        """The score of as many removals, planted edges first."""
        return Score(self.attacked, self.removed, min(self.attacked, self.removed))

    @property
    def sentence(self) -> str:
        """The counts and the main ratios in words.

        >>> Score(attacked=502, removed=702, hits=430).sentence
        '430 of 502 planted edges removed: precision 61.3 %, recall 85.7 %, F1 71.4 %, ESR 55.6 %'
        """
        measures = {"precision": self.precision, "recall": self.cr, "F1": self.f1, "ESR": self.esr}
        ratios = ", ".join(f"{name} {percent(value)}" for name, value in measures.items())
        return f"{self.hits:,} of {count(self.attacked, 'planted edge')} removed: {ratios}"

    def to_dict(self) -> dict[str, float]:
        """All counts and ratios, with the oracle's ESR."""
        names = ("esr", "f1", "precision", "cr", "oracle_esr", "attacked", "removed", "hits")
        return {name: getattr(self, name) for name in names}


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def score(removed: Sanitation | ArrayLike, *, clean: Any, poisoned: Any = None) -> Score:
    """Compare removed edges with the planted ones: the edges that the poisoned graph has and the clean one lacks.

    Args:
        removed: the result of a sanitation, or R × 2 node pairs.
        clean: the graph before the attack, in any form that `focusedcleaner.sanitize` takes.
        poisoned: the graph after it; not needed with the result of a sanitation, which holds it.

    >>> clean = Graph(4, [[0, 1], [2, 3]])
    >>> poisoned = Graph(4, [[0, 1], [0, 2], [1, 3], [2, 3]])
    >>> found = score([[0, 2], [2, 3]], poisoned=poisoned, clean=clean)
    >>> found.hits, found.attacked, round(found.esr, 3), found.f1, found.oracle_esr
    (1, 2, 0.333, 0.5, 1.0)
    """
    if isinstance(removed, Sanitation):
        poisoned, removed = removed.poisoned, removed.removed
    elif poisoned is None:
        raise InputError("score needs the poisoned graph beside a list of removed edges")
    before, after = as_graph(clean), as_graph(poisoned)
    planted = Graph(after.num_nodes, after.added_edges(before))
    gone = Graph.from_pairs(after.num_nodes, removed)
    if not after.has_edges(gone.edges).all():
        raise InputError("an edge that was removed is not in the poisoned graph")
    return Score(planted.num_edges, gone.num_edges, int(planted.has_edges(gone.edges).sum()))


@dataclass(frozen=True)
class Restored:
    """Counts and ratios of proposed edges against the ``cut`` ones, which the attacker removed; 0/0 is NaN."""

    cut: int
    proposed: int
    hits: int
    """Proposed edges that had been cut."""

    @property
    def precision(self) -> float:
        """hits / proposed."""
        return _ratio(self.hits, self.proposed)

    @property
    def recall(self) -> float:
        """hits / cut."""
        return _ratio(self.hits, self.cut)


def score_restored(proposed: ArrayLike, *, poisoned: Graph, clean: Graph) -> Restored:
    """Compare proposed edges (M × 2) with those that the clean graph has and the poisoned one lacks.

    >>> clean, poisoned = Graph(4, [[0, 1], [1, 2], [2, 3]]), Graph(4, [[0, 1]])
    >>> found = score_restored([[1, 2], [0, 3]], poisoned=poisoned, clean=clean)
    >>> found.hits, found.cut, found.precision, found.recall
    (1, 2, 0.5, 0.5)
    """
    cut = Graph(clean.num_nodes, clean.added_edges(poisoned))
    pairs = Graph.from_pairs(clean.num_nodes, proposed)
    return Restored(cut.num_edges, pairs.num_edges, int(cut.has_edges(pairs.edges).sum()))


def aligned(truth: Graph, graph: Graph, *, partial: bool = False) -> Graph:
    """Renumber the truth's nodes as the graph numbers them, by name; as they are where either has no names.

    Args:
        truth: the clean graph.
        graph: the graph of the run.
        partial: the truth may lack nodes: an edge table has none for an account whose edges were all planted.

    >>> clean, run = Graph(2, [[0, 1]], names=["b", "a"]), Graph(3, [[0, 1], [1, 2]], names=["a", "b", "fake"])
    >>> aligned(clean, run, partial=True).edges
    array([[0, 1]])
    """
    places = _places(truth, graph)
    missing = np.flatnonzero(places < 0)
    named = truth.names is not None and graph.names is not None
    lacks_some = partial and named and graph.num_nodes - len(missing) == truth.num_nodes < graph.num_nodes
    if truth.num_nodes != graph.num_nodes and not lacks_some:
        raise InputError(
            f"the truth has {truth.num_nodes:,} nodes and the run's graph {graph.num_nodes:,}: they can't be compared"
        )
    if len(missing) and named and not lacks_some:
        name = graph.name(missing[0])
        raise InputError(f"the truth has no node {name!r}, but the run's graph has: they can't be compared")
    if (len(missing) and not lacks_some) or (truth.names is None and graph.names is None):
        return truth
    number = np.empty(truth.num_nodes, dtype=np.int64)
    number[places[places >= 0]] = np.flatnonzero(places >= 0)
    return Graph.from_pairs(graph.num_nodes, number[truth.edges], names=graph.names)


def _places(truth: Graph, graph: Graph) -> IntArray:
    """The node of the truth that each node of the graph is, by name; −1 where there is none."""
    numbers = [_id_numbers(one) for one in (truth, graph)]
    if numbers[0] is not None and numbers[1] is not None:
        return NodeIds(numbers[0]).places(NodeIds(numbers[1]))
    known = {name: node for node, name in enumerate(truth.names or range(truth.num_nodes))}
    names = graph.names or range(graph.num_nodes)
    return np.array([known.get(name, -1) for name in names], dtype=np.int64)


def _id_numbers(graph: Graph) -> IntArray | None:
    """The names of the nodes as an array, where they are one."""
    if graph.names is None:
        return np.arange(graph.num_nodes)
    return graph.names.numbers if isinstance(graph.names, StoredNames) else None
