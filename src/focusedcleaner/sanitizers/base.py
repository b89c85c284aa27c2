"""The contract of a sanitizer, and its result."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.budget import DEFAULT, Budget, edges_allowed, is_auto
from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.engine import one_thread
from focusedcleaner.engine.sparse import row_products
from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.formatting import readable, why
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.io.convert import as_graph
from focusedcleaner.io.edit import with_changes
from focusedcleaner.registry import EdgeScorer
from focusedcleaner.sanitizers.checks import attribute_notes, check_finite, check_sanitizable, removable
from focusedcleaner.settings import Configurable

if TYPE_CHECKING:
    import polars as pl

Progress = Callable[[int, int], None]
"""Called with (edges removed so far, budget)."""

Columns = Mapping[str, NDArray[Any]]

CHOOSERS = "self-attack, and jaccard and cosine with a threshold (--set threshold=0.01),"
"""Methods that can choose their budget, for error messages."""
RANKED_SHARE = 0.3
"""Share of the edges that the default `Sanitizer.edge_scorer` ranks: more than an attacker plants."""


def no_scores() -> FloatArray:
    """An empty list of scores."""
    return np.empty(0)


@dataclass(frozen=True)
class Estimate:
    """The estimated number of planted edges, with an interval.

    The interval accounts for chance and for the spread between rounds only; it held the truth on 20 of 63 test graphs.
    """

    number: float
    low: float
    high: float


@dataclass(frozen=True)
class Selection:
    """The edges that a method selected for removal, with scores and evidence."""

    removed: IntArray
    """Positions in the graph's edge list, most suspicious first."""
    scores: FloatArray
    evidence: Columns = field(default_factory=dict)
    """One column per kind of evidence, one row per removed edge."""
    trace: Columns = field(default_factory=dict)
    """One column per quantity, one row per round."""
    added: IntArray = field(default_factory=no_pairs)
    """A × 2 pairs u < v to insert, best first; empty for most methods."""
    added_scores: FloatArray = field(default_factory=no_scores)
    estimate: Estimate | None = None
    """The number of planted edges, from methods that estimate it."""
    interrupted: bool = False
    """Whether Ctrl-C was pressed before the method was done."""
    shortfall: str = ""
    """Why an iterative method stopped before its budget was spent."""


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
        """A small table for notebooks: the result in one line and the five most suspicious edges."""
        graph, rows = self.poisoned, ""
        for row, (u, v) in enumerate(self.removed[:5].tolist()):
            cells = graph.name(u), graph.name(v), why(graph, self.evidence, self.scores, row, (u, v))
            rows += f"<tr>{''.join(f'<td>{escape(readable(cell, 200))}</td>' for cell in cells)}</tr>"
        return f"<p>{escape(repr(self))}</p><table><tr><th>u</th><th>v</th><th>evidence</th></tr>{rows}</table>"

    def __repr__(self) -> str:
        parts = [f"{len(self.removed):,} of {self.poisoned.num_edges:,} edges removed"]
        if len(self.added):
            parts.append(f"{len(self.added):,} added")
        if self.estimate is not None:
            parts.append(f"about {self.estimate.number:,.0f} planted")
        return f"Sanitation({self.method}: {', '.join(parts)})"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a sanitation. ``sanitation`` holds the partial result, as does the checkpoint if there is one."""

    def __init__(self, sanitation: Sanitation) -> None:
        super().__init__("sanitation was interrupted")
        self.sanitation = sanitation


class Sanitizer(Configurable, ABC):
    """Removes the edges that an attacker most likely planted.

    A subclass implements `select_edges`. Its constructor only stores settings. It sees the graph as the defender does:
    without the labels of test nodes.
    """

    name: ClassVar[str]
    inserts: ClassVar[bool] = False
    """Whether the method may also insert edges; each insertion counts against the budget."""

    @property
    def chooses_budget(self) -> bool:
        """Whether the method, with these settings, can choose how many edges to remove."""
        return False

    def sanitize(
        self,
        data: Any,
        budget: Budget | None = None,
        *,
        seed: int = 0,
        progress: Progress | None = None,
        checkpoint: Path | None = None,
    ) -> Sanitation:
        """Clean a graph; the input is not changed.

        Args:
            data: a `Graph`, PyG `Data`, NetworkX graph or scipy matrix, with labels and a split (training nodes and,
                preferably, validation nodes).
            budget: the maximum number of edges to remove: 500, 0.1 or "10%" of the edges; "auto" leaves the number to
                the method. None means "auto" if the method can choose, 10 % otherwise.
            seed: seed of all random draws.
            progress: called with (removed so far, budget) after every round.
            checkpoint: file in which iterative methods save their state; if it exists, they resume from it.

        Raises:
            InputError: the graph or the budget can't be used.
            Interrupted: Ctrl-C; carries the partial result.
        """
        graph = as_graph(data)
        check_sanitizable(graph)
        allowed = self.allowed(graph, budget)
        for note in attribute_notes(graph):
            warnings.warn(note, InputWarning, stacklevel=2)
        start = time.perf_counter()
        with one_thread():
            seen = graph.without_test_labels()
            ordered = seen.in_canonical_order()
            selection = self.select_edges(ordered, allowed, seed=seed, progress=progress, checkpoint=checkpoint)
        planted = selection.evidence.get("planted", selection.scores)
        check_finite(self.name, score=selection.scores, probability=planted)
        if selection.shortfall and not len(selection.removed) + len(selection.added):
            warnings.warn(f"{self.name} removed no edge: {selection.shortfall}", InputWarning, stacklevel=2)
        order = seen.canonical_order
        edges, evidence = order.pairs_back(ordered.edges[selection.removed], selection.evidence)
        added, _ = order.pairs_back(selection.added, {})
        sanitation = Sanitation(
            poisoned=graph,
            removed=edges,
            scores=selection.scores,
            evidence={**evidence, **common_evidence(graph, edges)},
            trace=selection.trace,
            method=self.name,
            settings=self.settings(),
            budget=len(edges) + len(added) if allowed is None else allowed,
            seed=seed,
            seconds=time.perf_counter() - start,
            added=added,
            added_scores=selection.added_scores,
            auto=allowed is None,
            estimate=selection.estimate,
            source=data,
        )
        if selection.interrupted:
            raise Interrupted(sanitation)
        return sanitation

    def allowed(self, graph: Graph, budget: Budget | None) -> int | None:
        """Return the budget as a number of edges, or None if the method is to choose."""
        if budget is None and not self.chooses_budget:
            budget = DEFAULT
        if budget is None or is_auto(budget):
            if not self.chooses_budget:
                raise InputError(f"{self.name} can't choose its budget: give one (10%); {CHOOSERS} can")
            return None
        allowed = edges_allowed(budget, graph.num_edges)
        if allowed > removable(graph) and not self.inserts:
            most = f"at most {removable(graph):,} of {graph.num_edges:,} can be removed without isolating a node"
            raise InputError(f"budget {budget} is {allowed:,} edges, but {most}")
        return allowed

    @abstractmethod
    def select_edges(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Selection:
        """Select at most ``budget`` edges to remove; None lets a method that `chooses_budget` decide how many."""

    def edge_scorer(self, graph: Graph, *, seed: int = 0) -> EdgeScorer:
        """Return a function that scores the edges of graphs over the same nodes, trained on ``graph`` if it trains.

        By default the method runs anew on each graph and ranks as many edges as it can remove, at most 30 %: the first
        scores 1, the last just above 0, and every edge that stays 0.
        """
        del graph

        def score(trial: Graph) -> FloatArray:
            ranked = min(int(RANKED_SHARE * trial.num_edges), removable(trial))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", InputWarning)  # one for each of many trials
                removed = self.sanitize(trial, max(ranked, 1), seed=seed).removed
            scores = np.zeros(trial.num_edges)
            scores[trial.edge_numbers(removed)] = 1 - np.arange(len(removed)) / max(len(removed), 1)
            return scores

        return score


def common_evidence(graph: Graph, pairs: IntArray) -> dict[str, NDArray[Any]]:
    """Evidence reported by every method: attribute similarity, common neighbours and degrees of each pair (P × 2)."""
    u, v = pairs.T
    adjacency = graph.adjacency()
    evidence = {
        "common_neighbours": row_products(adjacency, adjacency, pairs).astype(np.int64),
        "degree_u": graph.degrees[u],
        "degree_v": graph.degrees[v],
    }
    if graph.features is not None:
        evidence["attribute_similarity"] = attribute_cosines(graph, pairs)
    return evidence
