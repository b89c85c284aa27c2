"""The contract of a sanitizer, and what it returns."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.budget import DEFAULT, Budget, edges_allowed, is_auto
from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.engine import one_thread
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.registry import EdgeScorer
from focusedcleaner.settings import Configurable

Progress = Callable[[int, int], None]
"""Told how many edges of how many have been removed."""

Columns = Mapping[str, NDArray[Any]]

CHOOSERS = "self-attack, and jaccard and cosine with a threshold (--set threshold=0.01),"
"""Who can choose a budget, for people."""


RANKED = 0.3
"""Share of the edges that `Sanitizer.edge_scorer` ranks: more than an attacker plants."""


def no_scores() -> FloatArray:
    return np.empty(0)


@dataclass(frozen=True)
class Estimate:
    """How many edges were planted, with an interval that is to hold the number nine times in ten."""

    number: float
    low: float
    high: float


@dataclass(frozen=True)
class Findings:
    """What a method found: edges in the order of suspicion, and why."""

    removed: IntArray
    """Numbers of the graph's edges, most suspicious first."""
    scores: FloatArray
    evidence: Columns = field(default_factory=dict)
    """A column per kind of evidence, a row per removed edge."""
    trace: Columns = field(default_factory=dict)
    """A column per quantity, a row per step."""
    added: IntArray = field(default_factory=no_pairs)
    """A × 2 node numbers, the smaller first: edges that the graph lacks, in their order. Most methods have none."""
    added_scores: FloatArray = field(default_factory=no_scores)
    estimate: Estimate | None = None
    """How many edges were planted, from a method that can tell."""


@dataclass(frozen=True)
class Sanitation:
    """A cleaned graph and the evidence for each edge that was removed."""

    poisoned: Graph
    removed: IntArray
    """R × 2 node numbers, in the order of removal."""
    scores: FloatArray
    evidence: Columns
    trace: Columns
    method: str
    settings: Mapping[str, Any]
    budget: int
    """How many edges could be changed; where the method chose, how many it changed."""
    seed: int
    seconds: float
    added: IntArray = field(default_factory=no_pairs)
    """A × 2 node numbers: edges that were inserted, in their order."""
    added_scores: FloatArray = field(default_factory=no_scores)
    auto: bool = False
    """Whether the method chose its budget."""
    estimate: Estimate | None = None
    """How many edges were planted, from a method that can tell."""

    @cached_property
    def graph(self) -> Graph:
        """The graph without the removed edges and with the added ones."""
        rest = self.poisoned.without_edges(self.removed)
        return rest.with_edges(self.added) if len(self.added) else rest


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a sanitation; what was done so far is in ``sanitation`` and in the checkpoint, if one was asked."""

    def __init__(self, sanitation: Sanitation) -> None:
        super().__init__("sanitation was interrupted")
        self.sanitation = sanitation


class FindingsSoFar(KeyboardInterrupt):
    """Raised by a method that is interrupted, with what it has."""

    def __init__(self, findings: Findings) -> None:
        super().__init__()
        self.findings = findings


class Sanitizer(Configurable, ABC):
    """Removes the edges that an attacker most likely planted.

    The constructor stores settings and nothing else. A method implements `find` and sees the graph as the defender
    does: without the labels of test nodes.
    """

    name: ClassVar[str]
    inserts: ClassVar[bool] = False
    """Whether it may insert edges too; each counts against the budget."""

    @property
    def chooses_budget(self) -> bool:
        """Whether it can say itself, with these settings, how many edges have to go."""
        return False

    def sanitize(
        self,
        graph: Graph,
        budget: Budget | None = None,
        *,
        seed: int = 0,
        progress: Progress | None = None,
        checkpoint: Path | None = None,
    ) -> Sanitation:
        """Clean a graph; the graph given is not changed.

        Args:
            graph: with labels and a split (training and, better, validation nodes).
            budget: how many edges may be removed: 500, 0.1 or "10%" of the edges; "auto" leaves it to a method that can
                choose. None is "auto" where the method can, and 10 % where it can't.
            seed: fixes whatever is random.
            progress: called with (removed so far, budget) after every step.
            checkpoint: a file that long methods save their state to; if it exists, they go on from it.

        Raises:
            InputError: the graph or the budget can't be used.
            Interrupted: Ctrl-C; carries the sanitation so far.
        """
        check_sanitizable(graph)
        allowed = self.allowed(graph, budget)
        start = time.perf_counter()
        interrupted = False
        with one_thread():
            try:
                findings = self.find(
                    graph.without_test_labels(), allowed, seed=seed, progress=progress, checkpoint=checkpoint
                )
            except FindingsSoFar as so_far:
                findings, interrupted = so_far.findings, True
        edges = graph.edges[findings.removed]
        sanitation = Sanitation(
            poisoned=graph,
            removed=edges,
            scores=findings.scores,
            evidence={**findings.evidence, **plain_evidence(graph, edges)},
            trace=findings.trace,
            method=self.name,
            settings=self.settings(),
            budget=len(edges) + len(findings.added) if allowed is None else allowed,
            seed=seed,
            seconds=time.perf_counter() - start,
            added=findings.added,
            added_scores=findings.added_scores,
            auto=allowed is None,
            estimate=findings.estimate,
        )
        if interrupted:
            raise Interrupted(sanitation)
        return sanitation

    def allowed(self, graph: Graph, budget: Budget | None) -> int | None:
        """A budget in edges; None where the method is to choose.

        Raises:
            InputError: it is no budget, it is more than can go, or the method can't choose.
        """
        if budget is None and not self.chooses_budget:
            budget = DEFAULT
        if budget is None or is_auto(budget):
            if not self.chooses_budget:
                raise InputError(f"{self.name} can't choose its budget: give one (10%); {CHOOSERS} can")
            return None
        allowed = edges_allowed(budget, graph.num_edges)
        if allowed > removable(graph) and not self.inserts:
            raise InputError(
                f"budget {budget} is {allowed:,} edges, but at most {removable(graph):,} of {graph.num_edges:,} can be "
                "removed without isolating a node"
            )
        return allowed

    @abstractmethod
    def find(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Findings:
        """The edges to remove, at most ``budget`` of them; None, for a method that chooses, is as many as it finds."""

    def edge_scorer(self, graph: Graph, *, seed: int = 0) -> EdgeScorer:
        """A scorer for edges of graphs over the same nodes, trained on this graph where the method trains.

        By default the method runs anew on each graph and ranks as many edges as it can remove, at most 30 %: the first
        scores 1, the last just above 0, and every edge that stays 0.
        """
        del graph

        def score(trial: Graph) -> FloatArray:
            ranked = min(int(RANKED * trial.num_edges), removable(trial))
            removed = self.sanitize(trial, max(ranked, 1), seed=seed).removed
            scores = np.zeros(trial.num_edges)
            keys = removed[:, 0] * trial.num_nodes + removed[:, 1]
            scores[np.searchsorted(trial.edge_keys, keys)] = 1 - np.arange(len(removed)) / max(len(removed), 1)
            return scores

        return score


def removable(graph: Graph) -> int:
    """A bound on the edges that can go while every node that has neighbours keeps one: E − ⌈connected nodes/2⌉."""
    connected = int((graph.degrees > 0).sum())
    return graph.num_edges - (connected + 1) // 2


def check_sanitizable(graph: Graph) -> None:
    """Refuse a graph that no sanitizer can work on, saying why."""
    if graph.num_edges == 0:
        raise InputError("the graph is empty: it has no edges")
    graph.check_labelled("a sanitizer")


def plain_evidence(graph: Graph, edges: IntArray) -> dict[str, NDArray[Any]]:
    """What anyone can see of an edge in the poisoned graph: likeness of attributes, common neighbours, degrees."""
    u, v = edges.T
    adjacency = graph.adjacency()
    evidence = {
        "common_neighbours": (adjacency[u] * adjacency[v]).sum(axis=1).astype(np.int64),
        "degree_u": graph.degrees[u],
        "degree_v": graph.degrees[v],
    }
    if graph.attributes is not None:
        evidence["attribute_similarity"] = attribute_cosines(graph, edges)
    return evidence
