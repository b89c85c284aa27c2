"""One edge, as it is shown to a person who has to judge it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from focusedcleaner.formatting import readable, why
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.report.neighbourhood import drawing, neighbourhood
from focusedcleaner.report.svg import Mark, mark
from focusedcleaner.review.classes import Classes
from focusedcleaner.runs import Run

ATTRIBUTES = 10
_LIKELIEST = 3

FACTS = {
    "meta_gradient": (
        "Meta-gradient",
        "How much the surrogate's loss falls if this edge goes. Larger is more suspicious.",
    ),
    "victim_score": ("Victim score", "How unusual the classes around this node are. Larger is more suspicious."),
    "common_neighbours": ("Common neighbours", "Nodes that both ends are joined to. Planted edges rarely have any."),
    "degree": ("Neighbours", "How many edges this node has in the graph as it was given."),
    "attribute_similarity": ("Attributes alike", "The cosine of the two rows of attributes: 1 for the same direction."),
}
"""What a column of evidence is called, and what it means."""


@dataclass(frozen=True)
class Fact:
    """A piece of evidence: one value for the edge, or one for each end."""

    name: str
    meaning: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Chance:
    """A class, and how likely a node is of it."""

    mark: Mark
    share: float


@dataclass(frozen=True)
class End:
    """One of the two nodes."""

    name: str
    label: Mark | None
    """Its class where it is known."""
    chances: tuple[Chance, ...]
    """The likeliest classes by the run's evidence."""
    flagged: int
    """How many flagged edges it has."""


@dataclass(frozen=True)
class Attribute:
    """An attribute in which the two nodes differ."""

    name: str
    values: tuple[float, float]
    widths: tuple[float, float]
    """From 0 to 1, for bars."""


@dataclass(frozen=True)
class Portrait:
    """All that is known about an edge."""

    rank: int
    score: float
    ends: tuple[End, End]
    why: str
    facts: tuple[Fact, ...]
    attributes: tuple[Attribute, ...]
    shared: int
    """Attributes that both nodes have."""
    own: tuple[int, int]
    """Attributes that only one of them has."""
    picture: str
    marks: tuple[Mark, ...]
    """The classes in the picture."""


class EdgeDetails:
    """Portraits of a run's edges; everything that is needed of the whole graph is made once.

    Args:
        run: the run.
        classes: of all nodes, for the pictures and the known labels.
    """

    def __init__(self, run: Run, classes: Classes) -> None:
        self.run = run
        self.classes = classes

    @cached_property
    def graph(self) -> Graph:
        return self.run.poisoned

    @cached_property
    def _adjacency(self) -> sp.csr_array:
        return self.graph.adjacency()

    @cached_property
    def _flagged(self) -> sp.csr_array:
        """The flagged edges alone, as an upper triangle."""
        u, v = self.run.removed.reshape(-1, 2).T
        nodes = self.graph.num_nodes
        return sp.coo_array((np.ones(len(u), dtype=np.int8), (u, v)), shape=(nodes, nodes)).tocsr()

    @cached_property
    def _flagged_degrees(self) -> IntArray:
        return np.bincount(self.run.removed.ravel(), minlength=self.graph.num_nodes)

    @cached_property
    def _spread(self) -> FloatArray:
        """The standard deviation of each attribute, 1 where it does not vary."""
        attributes = self.graph.attributes
        assert attributes is not None
        mean = np.asarray(attributes.mean(axis=0)).ravel()
        square = np.asarray(attributes.multiply(attributes).mean(axis=0)).ravel()
        deviation = np.sqrt(np.maximum(square - mean**2, 0))
        return np.where(deviation > 0, deviation, 1.0)

    def portrait(self, rank: int, *, hops: int = 2, most: int = 60) -> Portrait:
        """The edge of a rank.

        Args:
            rank: from 1.
            hops: how far the picture reaches.
            most: how many nodes it has at most.
        """
        row = rank - 1
        u, v = (int(node) for node in self.run.removed[row])
        around = neighbourhood(self.graph, u, v, hops=hops, most=most, adjacency=self._adjacency)
        near = self._flagged[around.nodes].tocoo()
        picture = drawing(
            self.graph,
            around,
            self.classes.numbers,
            known=self.classes.known,
            flagged=np.column_stack([around.nodes[near.row], near.col]),
            width=620,
            height=400,
        )
        there = np.unique(self.classes.numbers[around.nodes])
        attributes, shared, own = self._attributes(u, v)
        return Portrait(
            rank=rank,
            score=float(self.run.scores[row]),
            ends=(self._end(u, row, "u"), self._end(v, row, "v")),
            why=self.why(rank),
            facts=tuple(_facts(self.run.evidence, row)),
            attributes=attributes,
            shared=shared,
            own=own,
            picture=picture,
            marks=tuple(mark(self.graph, int(number)) for number in there),
        )

    def why(self, rank: int) -> str:
        """The evidence in a sentence."""
        row = rank - 1
        return why(self.graph, self.run.evidence, self.run.scores, row, self.run.removed[row].tolist())

    def _end(self, node: int, row: int, end: str) -> End:
        label = mark(self.graph, int(self.classes.numbers[node])) if self.classes.known[node] else None
        column = self.run.evidence.get(f"classes_{end}")
        chances: tuple[Chance, ...] = ()
        if column is not None and column.ndim == 2:
            likeliest = np.argsort(-column[row], kind="stable")[:_LIKELIEST]
            chances = tuple(Chance(mark(self.graph, int(one)), float(column[row, one])) for one in likeliest)
        return End(str(self.graph.name(node)), label, chances, int(self._flagged_degrees[node]))

    def _attributes(self, u: int, v: int) -> tuple[tuple[Attribute, ...], int, tuple[int, int]]:
        """The attributes that differ most, in standard deviations over all nodes, and how many are shared or not."""
        attributes = self.graph.attributes
        if attributes is None:
            return (), 0, (0, 0)
        rows = [attributes[[node]].tocoo() for node in (u, v)]
        columns = np.unique(np.concatenate([row.col for row in rows]))
        values = np.zeros((2, len(columns)))
        for place, row in enumerate(rows):
            values[place, np.searchsorted(columns, row.col)] = row.data
        apart = np.abs(values[0] - values[1]) / self._spread[columns]
        most = [column for column in np.lexsort((columns, -apart))[:ATTRIBUTES] if apart[column] > 0]
        largest = np.maximum(np.abs(values).max(axis=0), 1e-300)
        listed = tuple(
            Attribute(
                self._attribute_name(int(columns[place])),
                (float(values[0, place]), float(values[1, place])),
                (abs(values[0, place]) / largest[place], abs(values[1, place]) / largest[place]),
            )
            for place in most
        )
        has = values != 0
        return listed, int(has.all(axis=0).sum()), (int((has[0] & ~has[1]).sum()), int((has[1] & ~has[0]).sum()))

    def _attribute_name(self, number: int) -> str:
        names = self.graph.attribute_names
        return f"attribute {number}" if names is None else readable(names[number], 60)


def _facts(evidence: Any, row: int) -> list[Fact]:
    """Each scalar column once, a pair of columns for the two ends side by side."""
    facts = []
    for name, column in evidence.items():
        stem, _, end = name.rpartition("_")
        paired = end in ("u", "v") and f"{stem}_u" in evidence and f"{stem}_v" in evidence
        if column.ndim != 1 or (paired and end == "v"):
            continue
        columns: Sequence[Any] = (column, evidence[f"{stem}_v"]) if paired else (column,)
        key = stem if paired else name
        title, meaning = FACTS.get(key, (key.replace("_", " ").capitalize(), ""))
        facts.append(Fact(title, meaning, tuple(figure(float(one[row])) for one in columns)))
    return facts


def figure(value: float) -> str:
    """A number in three digits, whole numbers whole.

    >>> figure(0.0108588), figure(12.0), figure(12345.6)
    ('0.0109', '12', '12,346')
    """
    if np.isfinite(value) and value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
