"""The result of a sanitizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.formatting import count, readable, why
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.io.edit import with_changes
from focusedcleaner.verdict import Estimate, Verdict

if TYPE_CHECKING:
    import polars as pl

Columns = Mapping[str, NDArray[Any]]


def no_scores() -> FloatArray:
    """An empty list of scores."""
    return np.empty(0)


@dataclass(frozen=True)
class Sanitation:
    """The result of a sanitizer: the removed edges with scores and evidence, and the cleaned graph."""

    poisoned: Graph
    removed: IntArray
    """R × 2 node numbers, in order of removal."""
    scores: FloatArray
    evidence: Columns
    trace: Columns
    method: str
    settings: Mapping[str, Any]
    budget: int
    """The number of edges that could be changed; with ``auto``, the number that was changed."""
    seed: int
    seconds: float
    added: IntArray = field(default_factory=no_pairs)
    """A × 2 node numbers of the inserted edges, in order of insertion."""
    added_scores: FloatArray = field(default_factory=no_scores)
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
    suspect_evidence: Columns = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    """The texts of the warnings that were raised."""

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        return self.verdict.headline(self.estimate)

    @cached_property
    def graph(self) -> Graph:
        """The cleaned graph: without the removed edges and with the added ones."""
        rest = self.poisoned.without_edges(self.removed)
        return rest.with_edges(self.added) if len(self.added) else rest

    @property
    def data(self) -> Any:
        """The object that was passed in, cleaned: of the same kind, with everything about the other edges kept."""
        source = self.poisoned if self.source is None else self.source
        return with_changes(source, self.poisoned, self.removed, self.added)

    def to_frame(self) -> pl.DataFrame:
        """The removed edges as a polars table: rank, both nodes by name, score, and one column per kind of evidence."""
        import polars as pl

        u, v = ([self.poisoned.name(node) for node in nodes] for nodes in self.removed.T.tolist())
        columns = {"rank": np.arange(1, len(u) + 1), "u": u, "v": v, "score": self.scores}
        evidence = {name: column.tolist() if column.ndim > 1 else column for name, column in self.evidence.items()}
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
        parts = [f"{len(self.removed):,} of {count(self.poisoned.num_edges, 'edge')} removed"]
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
