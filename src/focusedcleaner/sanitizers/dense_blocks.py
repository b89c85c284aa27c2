"""Dense blocks: groups of accounts that share more items than their degrees explain, in a bipartite graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import ClassVar

import numpy as np

from focusedcleaner.edge_features.dense_blocks import Block, Incidence, find_blocks, peel, two_sides
from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.graph import BoolArray, FloatArray, Graph, IntArray
from focusedcleaner.sanitizers.base import Columns, Progress, Sanitizer, Selection
from focusedcleaner.settings import bounded
from focusedcleaner.verdict import Estimate, Verdict

POISONED, UNCERTAIN = 1.5, 1.4
"""How much denser than the next group of the graph a planted, and perhaps planted, group is; chosen on the development
set of docs/fraud.md, whose untouched graphs have at most 1.37."""
STEEPNESS = 16.0
"""Exponent of a group's odds of being planted; they are even at `UNCERTAIN`, and three to one at `POISONED`."""
CAMOUFLAGE, REST = 0.04, 0.01
"""Scores of edges in no group, at most: those of a group's accounts, and others. They order, and are no probability;
edges of groups have more than their sum."""
FEWEST_EDGES = 20
"""Edges that a group needs to be a finding."""
DENSEST = 0.1
"""Share of all pairs up to which a graph is judged: beyond, d_i·d_j/E exceeds 1 for many pairs and expects too much."""
REWIRED = 3
"""Random graphs with the same degrees."""
BELOW, ABOVE = 0.95, 1.1
"""The interval of the count as factors: on the development set they held 53 of 56 counts, without a spread."""
SUSPECTS_SHARE = 0.1
"""Share of the edges in the list of suspects, where none are removed by a budget."""
NOT_BIPARTITE = "the graph is not bipartite: its dense groups may be communities"


@dataclass(frozen=True)
class DenseBlocks(Sanitizer):
    """Ranks the edges of groups of accounts that share more items than their degrees explain:

        g(A, B) = Σ over pairs in A × B of w_j·(edge(i, j) − d_i·d_j/E) / (|A| + |B|),  w_j = 1/log(d_j + 5),

    found by greedy peeling, group after group. The weights, against which camouflage doesn't help, are those of Hooi,
    Song, Beutel, Shah, Shin, Faloutsos: "FRAUDAR: Bounding Graph Fraud in the Face of Camouflage", KDD 2016; the
    expected edges that are taken off are not (`focusedcleaner.edge_features.dense_blocks`). It needs no labels.

    The verdict compares groups with each other: real graphs have dense groups, too, but one is hardly denser than the
    next, or than the densest of random graphs with the same degrees. "poisoned" removes the edges of the groups above
    the gap that are better explained by their group than by the degrees of their ends. Camouflage, edges of these
    accounts to other items, is in no group: it is neither removed nor counted. So found, an account may lose all
    its edges.

    In a graph that is not bipartite, every edge counts in both directions; the method then only ranks, as communities
    are dense, too.

    Args:
        groups: most groups that are looked for.

    >>> reviews = [[user, 40 + (7 * user + k * k) % 30] for user in range(40) for k in range(4)]
    >>> ring = [[70 + account, 70 - item] for account in range(12) for item in range(1, 9)]
    >>> found = DenseBlocks().sanitize(Graph.from_pairs(82, reviews + ring), budget=50)
    >>> bool((found.removed >= 70).any(axis=1).all()), int(found.evidence["group_sources"][0])
    (True, 12)
    """

    name: ClassVar[str] = "dense-blocks"
    needs_labels: ClassVar[bool] = False
    fits_bipartite: ClassVar[bool] = True
    scores_edges: ClassVar[bool] = True
    probabilistic: ClassVar[bool] = True

    groups: int = bounded(8, "[2, 1000]")

    @property
    def chooses_budget(self) -> bool:
        return True

    def select_edges(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Selection:
        sides = two_sides(graph)
        incidence, numbers = _incidence(graph, sides)
        blocks: list[Block] = []
        search = find_blocks(incidence)
        for number in range(self.groups):
            self._tell(progress, number, f"group {number + 1} of at most {self.groups}")
            blocks += islice(search, 1)
        self._tell(progress, self.groups, "random graphs with the same degrees")
        trace = _trace(blocks, self.groups)
        blocks.sort(key=lambda block: -block.objective)
        random = max(peel(incidence.rewired(seed + draw))[0] for draw in range(REWIRED))
        gap = _gap(blocks, random)
        scores = _edge_scores(graph, incidence, numbers, blocks, gap)
        groups = _group_of_edges(graph, numbers, blocks)
        self._tell(progress, self.groups + 1)
        order = np.lexsort((graph.edges[:, 1], graph.edges[:, 0], -scores))
        verdict = gap.verdict if sides is not None else Verdict("not suitable", NOT_BIPARTITE)
        if verdict.status == "poisoned" and incidence.density > DENSEST:
            share = f"{100 * incidence.density:.0f} % of all possible edges exist"
            verdict = Verdict(
                "uncertain", f"{share}: in so dense a graph, planted groups can't be told from natural ones"
            )
        chosen, listed = order[:0], max(1, int(SUSPECTS_SHARE * graph.num_edges))
        if budget is not None:
            chosen, listed = order, 0
        elif verdict.status == "poisoned":
            chosen = order[_posteriors(graph, numbers, blocks[: gap.groups])[order] > 0.5]
        removed = chosen
        if budget is not None:
            removed = np.array(without_isolating(chosen, graph.edges, graph.degrees, budget), dtype=np.int64)
        found = verdict.status == "poisoned"
        if found and len(removed):
            verdict = replace(verdict, expected_precision=float(scores[removed].mean()))
        suspects = order[:listed]
        return Selection(
            removed,
            scores[removed],
            _evidence(groups, blocks, scores, removed, found),
            trace,
            estimate=gap.estimate if found else None,
            verdict=verdict,
            suspects=suspects,
            suspect_scores=scores[suspects],
            suspect_evidence=_evidence(groups, blocks, scores, suspects, found),
            edge_scores=scores,
            probabilistic=True,
        )

    def _tell(self, progress: Progress | None, done: int, doing: str = "") -> None:
        if progress is not None:
            progress(done, self.groups + 1, doing)


@dataclass(frozen=True)
class _Gap:
    """The largest gap in a series of groups, densest first."""

    groups: int
    """Groups above it."""
    ratio: float
    """The objective of the last group above it, as a multiple of what is below."""
    below: float
    blocks: list[Block]

    @property
    def probabilities(self) -> FloatArray:
        """The probability of each group that it was planted."""
        odds = (np.array([block.objective for block in self.blocks]) / (UNCERTAIN * self.below)) ** STEEPNESS
        return odds / (1 + odds)

    @property
    def estimate(self) -> Estimate:
        """The number of edges in the groups above the gap, without the usual edges among them."""
        number = float(sum(block.posterior.sum() for block in self.blocks[: self.groups]))
        spread = 1.645 * np.sqrt(number)
        return Estimate(number, max(BELOW * number - spread, 0.0), ABOVE * number + spread)

    @property
    def verdict(self) -> Verdict:
        if not self.blocks:
            return Verdict("no sign", "no group shares more neighbours than its degrees explain")
        sources, targets = self.blocks[0].size
        share = f"{100 * self.blocks[0].density:.0f} % of the possible edges"
        group = f"the densest group, {sources:,} × {targets:,} nodes with {share}"
        if self.groups > 1:
            group = f"{self.groups} groups, the densest of {sources:,} × {targets:,} nodes"
        series = f"{self.ratio:.1f} times as dense beyond chance as the next one or a random graph's"
        small = sum(len(block.edges) for block in self.blocks[: self.groups]) < FEWEST_EDGES
        if self.ratio < UNCERTAIN or small:
            return Verdict("no sign", f"no group stands out: {group}, is {series}")
        is_are = "is" if self.groups == 1 else "are"
        if self.ratio < POISONED:
            return Verdict("uncertain", f"{group}, {is_are} {series}: too little to tell it from a natural group")
        more = "; other edges of these accounts may be camouflage and are not counted"
        return Verdict("poisoned", f"{group}, {is_are} {series}{more}")


def _gap(blocks: list[Block], random: float) -> _Gap:
    """Find the largest gap in the upper half of a series of groups; nothing below counts less than a random graph."""
    best = _Gap(0, 0.0, 1.0, blocks)
    values = [block.objective for block in blocks]
    for groups in range(1, max(len(values) // 2, min(len(values), 1)) + 1):
        below = max([*values[groups : groups + 1], random, 1e-9])
        if values[groups - 1] / below > best.ratio:
            best = _Gap(groups, values[groups - 1] / below, below, blocks)
    return best


def _incidence(graph: Graph, sides: BoolArray | None) -> tuple[Incidence, IntArray]:
    """The edges from sources to targets, and the number of the graph's edge that each is.

    In a graph that is not bipartite, ``sides`` None, every node is a source and a target and every edge counts twice.
    """
    numbers = np.arange(graph.num_edges)
    u, v = graph.edges.T
    if sides is None:
        pairs, numbers = np.concatenate([graph.edges, graph.edges[:, ::-1]]), np.concatenate([numbers, numbers])
        return Incidence(pairs[:, 0], pairs[:, 1], graph.num_nodes, graph.num_nodes), numbers
    places = np.where(sides, np.cumsum(sides), np.cumsum(~sides)) - 1
    sources, targets = np.where(sides[u], u, v), np.where(sides[u], v, u)
    total = int(sides.sum())
    return Incidence(places[sources], places[targets], total, graph.num_nodes - total), numbers


def _posteriors(graph: Graph, numbers: IntArray, blocks: list[Block]) -> FloatArray:
    """For every edge, the probability that it belongs to its group; 0 if it is in none of these."""
    posteriors = np.zeros(graph.num_edges)
    for block in blocks:
        np.maximum.at(posteriors, numbers[block.edges], block.posterior)
    return posteriors


def _edge_scores(graph: Graph, incidence: Incidence, numbers: IntArray, blocks: list[Block], gap: _Gap) -> FloatArray:
    """For every edge, the probability that it was planted, if anything was; small and ordered outside all groups."""
    i, j = incidence.sources, incidence.targets
    usual = incidence.source_degrees[i] * incidence.target_degrees[j] / incidence.num_edges
    suspicion = np.zeros(incidence.num_sources)
    for block, probability in zip(blocks, gap.probabilities, strict=True):
        suspicion[block.sources] = np.maximum(suspicion[block.sources], probability)
    scores = np.zeros(graph.num_edges)
    np.maximum.at(scores, numbers, CAMOUFLAGE * suspicion[i] + REST / (1 + usual))
    for block, probability in zip(blocks, gap.probabilities, strict=True):
        least = CAMOUFLAGE + REST
        np.maximum.at(scores, numbers[block.edges], least + (1 - least) * probability * block.posterior)
    return scores


def _group_of_edges(graph: Graph, numbers: IntArray, blocks: list[Block]) -> IntArray:
    """For every edge its group, 1 for the densest; 0 if it is in none."""
    groups = np.zeros(graph.num_edges, dtype=np.int64)
    for number in range(len(blocks), 0, -1):
        groups[numbers[blocks[number - 1].edges]] = number
    return groups


def _evidence(groups: IntArray, blocks: list[Block], scores: FloatArray, edges: IntArray, found: bool) -> Columns:
    """The group of these edges, and its size and density; their probability only if something was found."""
    sizes = np.array([(0, 0), *(block.size for block in blocks)])
    densities = np.array([0.0, *(block.density for block in blocks)])
    group = groups[edges]
    evidence = {
        "group": group,
        "group_sources": sizes[group, 0],
        "group_targets": sizes[group, 1],
        "group_density": densities[group],
    }
    return {"planted": scores[edges], **evidence} if found else evidence


def _trace(blocks: list[Block], rounds: int) -> Columns:
    """A row per search, in the order of the searches; zeros where none was found."""
    rows = [(block.objective, *block.size, len(block.edges)) for block in blocks]
    table = np.zeros((rounds, 4))
    table[: len(rows)] = np.array(rows).reshape(-1, 4)
    sizes = table[:, 1:].astype(np.int64)
    return {
        "round": np.arange(1, rounds + 1),
        "group_objective": table[:, 0],
        "group_sources": sizes[:, 0],
        "group_targets": sizes[:, 1],
        "group_edges": sizes[:, 2],
    }
