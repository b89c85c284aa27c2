"""The contract of a sanitizer."""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from focusedcleaner.budget import DEFAULT, Budget, edges_allowed, is_auto
from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.engine import computing
from focusedcleaner.engine.parallel import Executor
from focusedcleaner.engine.sparse import row_products
from focusedcleaner.errors import InputError, InputWarning, recorded_warnings
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.io.convert import as_graph
from focusedcleaner.progress import progress_reporter
from focusedcleaner.registry import EdgeScorer
from focusedcleaner.registry import Progress as Progress
from focusedcleaner.sanitizers.checks import (
    attribute_notes,
    bipartite_notes,
    check_finite,
    check_sanitizable,
    label_notes,
    removable,
)
from focusedcleaner.sanitizers.sanitation import Columns as Columns
from focusedcleaner.sanitizers.sanitation import Interrupted, Sanitation
from focusedcleaner.sanitizers.sanitation import no_scores as no_scores
from focusedcleaner.settings import Configurable
from focusedcleaner.verdict import Estimate as Estimate
from focusedcleaner.verdict import Verdict, removal_caveat

CHOOSERS = "self-attack, dense-blocks, and jaccard and cosine with a threshold (--set threshold=0.01),"
"""Methods that can choose their budget, for error messages."""
LOOKING = "Looking for planted edges"
"""What a progress bar says."""
RANKED_SHARE = 0.3
"""Share of the edges that the default `Sanitizer.edge_scorer` ranks: more than an attacker plants."""


@dataclass(frozen=True)
class Selection:
    """The edges that a method selected for removal, with scores and evidence: what `Sanitizer.select_edges` returns.

    >>> import numpy as np
    >>> Selection(removed=np.array([3, 0]), scores=np.array([0.9, 0.7])).removed
    array([3, 0])
    """

    removed: IntArray
    """Positions in the graph's edge list, most suspicious first."""
    scores: FloatArray
    """One score per removed edge."""
    evidence: Columns = field(default_factory=dict)
    """One column per kind of evidence, one row per removed edge."""
    trace: Columns = field(default_factory=dict)
    """One column per quantity, one row per round."""
    added: IntArray = field(default_factory=no_pairs)
    """A × 2 pairs u < v to insert, best first; empty for most methods."""
    added_scores: FloatArray = field(default_factory=no_scores)
    """One score per inserted edge."""
    estimate: Estimate | None = None
    """The number of planted edges, from methods that estimate it."""
    interrupted: bool = False
    """Whether Ctrl-C was pressed before the method was done."""
    shortfall: str = ""
    """Why an iterative method stopped before its budget was spent."""
    verdict: Verdict | None = None
    """Whether edges were planted, from methods that can tell. Without a budget, "uncertain" and "not suitable" go with
    an empty ``removed``."""
    suspects: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Positions of edges to list, not to remove, most suspicious first; those also in ``removed`` are skipped."""
    suspect_scores: FloatArray = field(default_factory=no_scores)
    """One score per suspect."""
    suspect_evidence: Columns = field(default_factory=dict)
    """One column per kind of evidence, one row per suspect."""
    edge_scores: FloatArray | None = None
    """Scores of all E edges, from methods that score every edge."""
    probabilistic: bool = False
    """Whether the scores are probabilities of being planted, if anything was."""


class Sanitizer(Configurable, ABC):
    """Removes the edges that an attacker most likely planted.

    A subclass implements `select_edges`. Its constructor only stores settings. It sees the graph as the defender does:
    without the labels of test nodes.

    >>> from focusedcleaner import datasets, sanitizer
    >>> cosine = sanitizer("cosine", threshold=0.01)
    >>> isinstance(cosine, Sanitizer), cosine.chooses_budget
    (True, True)
    """

    name: ClassVar[str]
    """The name by which `focusedcleaner.sanitize` and the command line find the method."""
    inserts: ClassVar[bool] = False
    """Whether the method may also insert edges; each insertion counts against the budget."""
    needs_labels: ClassVar[bool] = True
    """Whether the method needs the classes of a few nodes; without them, it is not even started."""
    scores_edges: ClassVar[bool] = False
    """Whether the method scores every edge: `Selection.edge_scores`."""
    probabilistic: ClassVar[bool] = False
    """Whether these scores are probabilities of being planted, if anything was."""
    needs_attributes: ClassVar[bool] = False
    """Whether the method compares nothing but the attributes of nodes."""
    fits_bipartite: ClassVar[bool] = False
    """Whether the method suits two kinds of nodes, such as users and items; else it warns of a bipartite graph."""

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
        progress: Progress | bool | None = None,
        checkpoint: Path | None = None,
        threads: int | None = None,
        executor: Executor | None = None,
    ) -> Sanitation:
        """Clean a graph; the input is not changed.

        Args:
            data: a `Graph`, PyG `Data`, NetworkX graph or scipy matrix, with labels and a split (training nodes and,
                preferably, validation nodes).
            budget: the maximum number of edges to remove: 500, 0.1 or "10%" of the edges; "auto" leaves the number to
                the method. None means "auto" if the method can choose, 10 % otherwise.
            seed: seed of all random draws.
            progress: True for a bar, or called with (done, total) or (done, total, stage) after every round; see
                `Progress`.
            checkpoint: file in which iterative methods save their state; if it exists, they resume from it.
            threads: number of threads; None takes every core. The result is the same for any number.
            executor: computes the blocks of a large graph elsewhere, such as on a Ray cluster.

        Raises:
            InputError: the graph or the budget can't be used.
            Interrupted: Ctrl-C; carries the partial result.
        """
        with recorded_warnings() as notes:
            graph = as_graph(data)
            check_sanitizable(graph, self.name, labels=self.needs_labels)
            allowed = self.allowed(graph, budget)
            few = label_notes(graph, self.name) if self.needs_labels else []
            other_kind = [] if self.fits_bipartite else bipartite_notes(graph, self.name)
            for note in (*few, *attribute_notes(graph), *other_kind):
                warnings.warn(note, InputWarning, stacklevel=2)
        start = time.perf_counter()
        with recorded_warnings() as later, computing(threads, executor), progress_reporter(progress, LOOKING) as report:
            seen = graph.as_seen_by_defender()
            ordered = seen.in_canonical_order()
            found = self.select_edges(ordered, allowed, seed=seed, progress=report, checkpoint=checkpoint)
            order = seen.canonical_order
            left = ~np.isin(found.suspects, found.removed)
            removed, evidence = order.pairs_back(ordered.edges[found.removed], found.evidence)
            columns = {name: column[left] for name, column in found.suspect_evidence.items()}
            suspects, columns = order.pairs_back(ordered.edges[found.suspects[left]], columns)
            evidence |= common_evidence(graph, removed)
            columns |= common_evidence(graph, suspects)
        notes += later
        planted = found.evidence.get("planted", found.scores)
        check_finite(self.name, score=found.scores, probability=planted, suspicion=found.suspect_scores)
        if found.edge_scores is not None:
            check_finite(self.name, score=found.edge_scores)
        changed = len(found.removed) + len(found.added)
        if found.shortfall and not changed:
            notes.append(f"{self.name} removed no edge: {found.shortfall}")
            warnings.warn(notes[-1], InputWarning, stacklevel=2)
        added, _ = order.pairs_back(found.added, {})
        edge_scores = found.edge_scores
        if edge_scores is not None and ordered is not seen:
            pairs, _ = order.pairs_back(ordered.edges, {})
            edge_scores = edge_scores[np.argsort(graph.edge_numbers(pairs))]
        sanitation = Sanitation(
            poisoned=graph,
            removed=removed,
            scores=found.scores,
            evidence=evidence,
            trace=found.trace,
            method=self.name,
            settings=self.settings(),
            budget=changed if allowed is None else allowed,
            seed=seed,
            seconds=time.perf_counter() - start,
            added=added,
            added_scores=found.added_scores,
            auto=allowed is None,
            estimate=found.estimate,
            source=data,
            verdict=self._verdict(found, allowed),
            suspects=suspects,
            suspect_scores=found.suspect_scores[left],
            suspect_evidence=columns,
            warnings=tuple(notes),
            edge_scores=edge_scores,
            probabilistic=found.probabilistic,
        )
        if found.interrupted:
            raise Interrupted(sanitation)
        return sanitation

    def _verdict(self, found: Selection, allowed: int | None) -> Verdict:
        """The method's verdict, or that it has none; where a rule decided the number of edges, it says so."""
        verdict, removed = found.verdict, len(found.removed)
        if verdict is not None and allowed is None:
            return verdict
        if verdict is None:
            reason = f"the method {self.name} ranks edges; it can't tell whether any was planted"
            if found.interrupted:
                reason = "the run was interrupted before it had an answer"
            verdict = Verdict("uncertain", reason)
        rule = "the method's own rule" if allowed is None else "the budget"
        return replace(verdict, caveat=removal_caveat(verdict, found.estimate, removed, rule))

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
    adjacency = graph.adjacency() if len(pairs) else sp.csr_array((graph.num_nodes, graph.num_nodes))
    evidence = {
        "common_neighbours": row_products(adjacency, adjacency, pairs).astype(np.int64),
        "degree_u": graph.degrees[u],
        "degree_v": graph.degrees[v],
    }
    if graph.features is not None:
        evidence["attribute_similarity"] = attribute_cosines(graph, pairs)
    return evidence
