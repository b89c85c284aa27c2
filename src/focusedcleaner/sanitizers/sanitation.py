"""The result of a sanitizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count, readable, why
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.io.edit import with_changes, with_weights
from focusedcleaner.verdict import Estimate, Status, Verdict

if TYPE_CHECKING:
    import polars as pl

Columns = Mapping[str, NDArray[Any]]


def no_scores() -> FloatArray:
    """An empty list of scores."""
    return np.empty(0)


@dataclass(frozen=True)
class Sanitation:
    """The result of a sanitizer: the removed edges with scores and evidence, and the cleaned graph.

    >>> from focusedcleaner import datasets, sanitize
    >>> result = sanitize(datasets.synthetic(200), "agreement", budget=2)
    >>> result.graph.num_edges, result.status
    (398, 'uncertain')
    >>> result.to_frame().columns[:4]
    ['rank', 'u', 'v', 'score']
    """

    poisoned: Graph
    """The graph that was cleaned."""
    removed: IntArray
    """R × 2 node numbers, in order of removal."""
    scores: FloatArray
    """R scores of the removed edges; what they mean depends on the method."""
    evidence: Columns
    """What speaks against the removed edges: one column per kind of evidence, one row per edge."""
    trace: Columns
    """What the method measured on the way: one column per quantity, one row per round."""
    method: str
    """The name of the sanitizer."""
    settings: Mapping[str, Any]
    """Its settings."""
    budget: int
    """The number of edges that could be changed; with ``auto``, the number that was changed."""
    seed: int
    """The seed of the random numbers."""
    seconds: float
    """The time that the method took."""
    added: IntArray = field(default_factory=no_pairs)
    """A × 2 node numbers of the inserted edges, in order of insertion."""
    added_scores: FloatArray = field(default_factory=no_scores)
    """A scores of the inserted edges."""
    auto: bool = False
    """Whether the method chose its budget."""
    estimate: Estimate | None = None
    """The number of planted edges, from methods that estimate it."""
    source: Any = None
    """The object that was passed in; None for `poisoned` itself."""
    verdict: Verdict = field(default_factory=lambda: Verdict("uncertain", "the method gave no verdict"))
    """Whether edges were planted, as far as the method can tell."""
    suspects: IntArray = field(default_factory=no_pairs)
    """S × 2 node numbers of edges that were not removed, most suspicious first; empty for most methods."""
    suspect_scores: FloatArray = field(default_factory=no_scores)
    """S scores of the suspects."""
    suspect_evidence: Columns = field(default_factory=dict)
    """What speaks against the suspects, as in `evidence`."""
    warnings: tuple[str, ...] = ()
    """The texts of the warnings that were raised."""
    edge_scores: FloatArray | None = None
    """The score of every edge of `poisoned`, in the order of its edges; None from methods that work in rounds."""
    probabilistic: bool = False
    """Whether `edge_scores` are probabilities of being planted, if anything was."""
    soft: bool = False
    """Whether `data` has `edge_weights` and no edge was removed."""

    @property
    def status(self) -> Status:
        """The verdict in two words at most: "no sign", "poisoned", "uncertain" or "not suitable"."""
        return self.verdict.status

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        return self.verdict.headline(self.estimate)

    @property
    def summary(self) -> str:
        """The verdict, what was removed, and why, in a few sentences."""
        removed = f"{len(self.removed):,} of {count(self.poisoned.num_edges, 'edge')} removed"
        return " ".join(filter(None, (f"{self.headline}; {removed}.", self.verdict.explanation)))

    @property
    def edge_probabilities(self) -> FloatArray | None:
        """E probabilities of being planted; None unless the verdict is "poisoned" and the method gives them."""
        return self.edge_scores if self.probabilistic and self.status == "poisoned" else None

    @property
    def edge_weights(self) -> FloatArray:
        """E weights, in the order of `poisoned.edges`: 1 − the probability of being planted, and 1 without one."""
        probabilities = self.edge_probabilities
        return np.ones(self.poisoned.num_edges) if probabilities is None else 1 - np.clip(probabilities, 0, 1)

    @cached_property
    def graph(self) -> Graph:
        """The cleaned graph: without the removed edges and with the added ones."""
        rest = self.poisoned.without_edges(self.removed)
        return rest.with_edges(self.added) if len(self.added) else rest

    @property
    def data(self) -> Any:
        """The object that was passed in, cleaned: of the same kind, with everything about the other edges kept.

        If `soft`, it has all edges, each with its weight; a `Graph` has no weights, they are in `edge_weights`.
        """
        source = self.poisoned if self.source is None else self.source
        if self.soft:
            return with_weights(source, self.poisoned, self.edge_weights)
        return with_changes(source, self.poisoned, self.removed, self.added)

    def softened(self) -> Sanitation:
        """The result in soft mode: no edge is removed, those that were are the first suspects, and `data` has weights.

        All weights are 1 unless the verdict is "poisoned".
        """
        weighted = "no edge was removed: the weight of each is 1 − its probability of being planted"
        alike = "the weight of every edge is 1: only the finding that a graph is poisoned gives others"
        caveat = alike if self.edge_probabilities is None else weighted
        flagged = self.removed, self.scores, self.evidence
        if not len(self.removed):
            flagged = self.suspects, self.suspect_scores, self.suspect_evidence
        return replace(
            self,
            soft=True,
            removed=no_pairs(),
            scores=no_scores(),
            evidence={name: column[:0] for name, column in self.evidence.items()},
            suspects=flagged[0],
            suspect_scores=flagged[1],
            suspect_evidence=flagged[2],
            verdict=replace(self.verdict, expected_precision=None, caveat=caveat),
            budget=0,
        )

    def ranked_edges(self) -> tuple[IntArray, FloatArray, Columns]:
        """All edges (E × 2), the highest score first, their scores, and columns: `removed` and, if known, `planted`.

        Raises:
            InputError: the method has not scored every edge.
        """
        if self.edge_scores is None:
            why = f"{self.method} scores only the edges that it removes; fc.sanitize(data, scores=True) names others"
            if self.status == "not suitable":
                why = self.headline
            raise InputError(f"there is no score of every edge: {why}")
        gone = ~self.poisoned.without_edges(self.removed).has_edges(self.poisoned.edges)
        order = np.lexsort((~gone, -self.edge_scores))
        columns: dict[str, NDArray[Any]] = {"removed": gone[order]}
        if (probabilities := self.edge_probabilities) is not None:
            columns["planted"] = probabilities[order]
        return self.poisoned.edges[order], self.edge_scores[order], columns

    def to_frame(self, *, all_edges: bool = False) -> pl.DataFrame:
        """The removed edges as a polars table: rank, both nodes by name, score, and one column per kind of evidence.

        Args:
            all_edges: whether to list every edge instead, the highest score first, with whether it was removed and,
                where the verdict is "poisoned" and the method gives them, the probability that it was planted.
        """
        import polars as pl

        edges, scores, more = self.ranked_edges() if all_edges else (self.removed, self.scores, self.evidence)
        u, v = ([self.poisoned.name(node) for node in nodes] for nodes in edges.T.tolist())
        columns = {"rank": np.arange(1, len(u) + 1), "u": u, "v": v, "score": scores}
        evidence = {name: column.tolist() if column.ndim > 1 else column for name, column in more.items()}
        return pl.DataFrame(columns | evidence, strict=False)

    def _repr_html_(self) -> str:
        """A small table for notebooks: the verdict, what was removed, and the five most suspicious edges."""
        graph, edges, scores, evidence = self.poisoned, self.removed, self.scores, self.evidence
        if not len(edges):
            edges, scores, evidence = self.suspects, self.suspect_scores, self.suspect_evidence
        rows = ""
        for row, (u, v) in enumerate(edges[:5].tolist()):
            cells = graph.name(u), graph.name(v), why(graph, evidence, scores, row, (u, v))
            rows += f"<tr>{''.join(f'<td>{escape(readable(cell, 200))}</td>' for cell in cells)}</tr>"
        verdict = f"<p><strong>{escape(self.headline)}</strong><br>{escape(self.verdict.explanation)}</p>"
        table = f"<table><tr><th>u</th><th>v</th><th>evidence</th></tr>{rows}</table>"
        return f"{verdict}<p>{escape(repr(self))}</p>{table}"

    def __repr__(self) -> str:
        edges = count(self.poisoned.num_edges, "edge")
        parts = [f"{edges} weighted" if self.soft else f"{len(self.removed):,} of {edges} removed"]
        if len(self.added):
            parts.append(f"{len(self.added):,} added")
        if not len(self.removed) and len(self.suspects):
            parts.append(count(len(self.suspects), "suspect"))
        if self.estimate is not None and self.verdict.status == "poisoned":
            parts.append(f"about {self.estimate.number:,.0f} planted")
        return f"Sanitation({self.method}, {self.verdict.status}: {', '.join(parts)})"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a sanitation. ``sanitation`` holds the partial result, as does the checkpoint if there is one."""

    def __init__(self, sanitation: Sanitation) -> None:
        super().__init__("sanitation was interrupted")
        self.sanitation = sanitation
