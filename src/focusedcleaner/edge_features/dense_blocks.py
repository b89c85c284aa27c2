"""Dense blocks of a bipartite graph: groups of accounts that share more items than their degrees explain.

With sources i (accounts) and targets j (items) of degrees d, a block of sources A and targets B has the objective

    g(A, B) = [ Σ over edges in A × B of w_j  −  ν · Σ over all pairs in A × B of w_j · d_i·d_j/E ] / (|A| + |B|),
    w_j = 1 / log(d_j + 5).

With ν = 0 this is FRAUDAR's objective: Hooi, Song, Beutel, Shah, Shin, Faloutsos: "FRAUDAR: Bounding Graph Fraud in the
Face of Camouflage", KDD 2016. Edges to popular targets count little, and w_j does not depend on what else an account
does, so that camouflage can't lower the objective of its block. With ν = 1, the default, the edges that the
configuration model expects are taken off: else active accounts and popular items form the densest block of every real
graph. Camouflage then costs a block only the share of the graph's edges that its own targets hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from focusedcleaner.formatting import known_sources
from focusedcleaner.graph import BoolArray, FloatArray, Graph, IntArray

DEGREE_OFFSET = 5.0
"""FRAUDAR's constant c in the weights 1/log(d + c): rare targets don't count without bound."""
NULL_WEIGHT = 1.0
"""ν: how often the expected edges are taken off."""
BATCH = 0.05
"""Share of the remaining nodes that peeling may remove at once."""
MEMBER_SHARE = 0.5
"""A member of a block has at least this share of the edges that an average member has."""
TINY = 1e-9
"""An objective up to this is 0: what is left of rounding."""
HASHES, SEEDS = 6, 3
"""Random orders of the targets, and how many of the groups of accounts that are alike in one of them are grown."""
REFINEMENTS = 20
"""Most steps of a refinement, which converges sooner."""


@dataclass(frozen=True)
class Incidence:
    """The E edges of a bipartite graph, each from a source (an account) to a target (an item).

    >>> Incidence(np.array([0, 0, 1]), np.array([0, 1, 1]), 2, 2).target_degrees
    array([1, 2])
    """

    sources: IntArray
    targets: IntArray
    num_sources: int
    num_targets: int

    @property
    def num_edges(self) -> int:
        return len(self.sources)

    @property
    def density(self) -> float:
        """The share of all pairs of a source and a target, each with an edge at least, that are edges."""
        return self.num_edges / max(int((self.source_degrees > 0).sum() * (self.target_degrees > 0).sum()), 1)

    @cached_property
    def source_degrees(self) -> IntArray:
        return np.bincount(self.sources, minlength=self.num_sources)

    @cached_property
    def target_degrees(self) -> IntArray:
        return np.bincount(self.targets, minlength=self.num_targets)

    @cached_property
    def weights(self) -> FloatArray:
        """The weight w of an edge to each target."""
        return 1 / np.log(self.target_degrees + DEGREE_OFFSET)

    def inside(self, sources: BoolArray, targets: BoolArray) -> BoolArray:
        """Which edges run between these sources and these targets, given as masks."""
        return sources[self.sources] & targets[self.targets]

    def restricted(self, edges: BoolArray) -> Incidence:
        """The same nodes with only these edges."""
        return Incidence(self.sources[edges], self.targets[edges], self.num_sources, self.num_targets)

    def rewired(self, seed: int) -> Incidence:
        """A draw from the configuration model: the same degrees, except that edges drawn twice count once."""
        targets = np.random.default_rng(seed).permutation(self.targets)
        keys = np.unique(self.sources * self.num_targets + targets)
        return Incidence(keys // self.num_targets, keys % self.num_targets, self.num_sources, self.num_targets)


@dataclass(frozen=True)
class Block:
    """A dense block, with the edges inside it."""

    sources: BoolArray
    """Mask over all sources."""
    targets: BoolArray
    edges: IntArray
    """Positions of the edges between its sources and its targets."""
    objective: float
    """g of the core from which it was grown."""
    posterior: FloatArray
    """For each of these edges, the probability ρ/(ρ + λ) that it is the block's and not one of its ends' usual edges: ρ
    is the block's density, λ = d_i·d_j/E by the degrees outside the block."""

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of sources and targets."""
        return int(self.sources.sum()), int(self.targets.sum())

    @property
    def density(self) -> float:
        """The share of the possible edges that exist."""
        return len(self.edges) / max(int(np.prod(self.size)), 1)


def two_sides(graph: Graph) -> BoolArray | None:
    """Return which nodes are sources if the graph is bipartite, else None.

    In a component whose sources are known (`known_sources`), these are the side of the sources; else it is the
    larger side, as there are more accounts than items in most tables.

    >>> two_sides(Graph(3, [[0, 1], [1, 2]])), two_sides(Graph(3, [[0, 1], [0, 2], [1, 2]]))
    (array([ True, False,  True]), None)
    """
    adjacency, nodes = graph.adjacency(), graph.num_nodes
    components, component = connected_components(adjacency, directed=False)
    # A component is bipartite if its bipartite double cover falls into two parts: each holds one side of each copy.
    cover = connected_components(sp.block_array([[None, adjacency], [adjacency, None]]), directed=False)[1]
    linked = graph.degrees > 0
    if (cover[:nodes] == cover[nodes:])[linked].any():
        return None
    first = cover[:nodes] < cover[nodes:]
    votes = np.where(first, 1.0, -1.0)
    known = known_sources(graph)
    if known is not None:
        votes = np.where(known == 0, votes, nodes * votes * known)
    balance = np.bincount(component, votes, components)
    return np.where(balance[component] < 0, ~first, first) & linked


def objective(incidence: Incidence, sources: BoolArray, targets: BoolArray, null_weight: float = NULL_WEIGHT) -> float:
    """The objective g of a block, given as two masks; 0 for an empty one."""
    size = int(sources.sum() + targets.sum())
    weight = incidence.weights[incidence.targets[incidence.inside(sources, targets)]].sum()
    source_mass, target_mass = _masses(incidence, null_weight)
    return float(weight - source_mass[sources].sum() * target_mass[targets].sum()) / max(size, 1)


def _masses(incidence: Incidence, null_weight: float) -> tuple[FloatArray, FloatArray]:
    """Factors whose product is the expected weight between a source and a target, times ``null_weight``."""
    sources = null_weight * incidence.source_degrees / max(incidence.num_edges, 1)
    return sources, incidence.target_degrees * incidence.weights


def peel(
    incidence: Incidence, null_weight: float = NULL_WEIGHT, batch: float = BATCH
) -> tuple[float, BoolArray, BoolArray]:
    """Find a block with a large objective by greedy peeling; return its objective, its sources and its targets.

    Nodes that contribute least to the objective are removed, up to a share ``batch`` of the remaining ones at once, and
    only those at or below the average; the best of all blocks on the way is refined. With ν = 0 its objective is at
    least half of the largest: for one node at a time, Charikar: "Greedy Approximation Algorithms for Finding Dense
    Components in a Graph", APPROX 2000; in batches, Bahmani, Kumar, Vassilvitskii: "Densest Subgraph in Streaming and
    MapReduce", VLDB 2012. With ν > 0 there is no such bound. Active accounts then leave early, even those of a dense
    block, so the graph is peeled a second time in FRAUDAR's order, ν = 0, with the same objective. Accounts with few
    edges leave early in both, so small blocks are also grown from accounts with like targets (`_seeds`).
    """
    best = (-np.inf, np.zeros(incidence.num_sources, dtype=bool), np.zeros(incidence.num_targets, dtype=bool))
    for order in dict.fromkeys((null_weight, 0.0)):
        found = max(_peeled(incidence, null_weight, order, batch), key=lambda block: block[0], default=best)
        best = max(best, _hill_climb(incidence, null_weight, *found), key=lambda block: block[0])
    for seed in _seeds(incidence, null_weight):
        best = max(best, _hill_climb(incidence, null_weight, *seed), key=lambda block: block[0])
    return best


def _peeled(
    incidence: Incidence, null_weight: float, order: float, batch: float
) -> Iterator[tuple[float, BoolArray, BoolArray]]:
    """Peel by contributions with ν = ``order``; yield each block that is better than those before it."""
    source_mass, target_mass = _masses(incidence, 1.0)
    weights, best = incidence.weights, -np.inf
    i, j = incidence.sources, incidence.targets
    sources, targets = incidence.source_degrees > 0, incidence.target_degrees > 0
    a, b = np.flatnonzero(sources), np.flatnonzero(targets)
    while len(i):
        mass_a, mass_b = source_mass[a].sum(), target_mass[b].sum()
        source_gain = np.bincount(i, weights[j], incidence.num_sources)[a] - order * source_mass[a] * mass_b
        target_gain = np.bincount(j, minlength=incidence.num_targets)[b] * weights[b] - order * target_mass[b] * mass_a
        weight, size = weights[j].sum(), len(a) + len(b)
        value = float(weight - null_weight * mass_a * mass_b) / size
        if value > best:
            best = value
            yield value, sources.copy(), targets.copy()
        gains = np.concatenate([source_gain, target_gain])
        most = max(1, int(batch * size))
        least = np.argpartition(gains, most - 1)[:most] if most > 1 else np.array([gains.argmin()])
        average = max(2 * (weight - order * mass_a * mass_b) / size, gains[least].min())
        least = least[gains[least] <= average]
        sources[a[least[least < len(a)]]] = False
        targets[b[least[least >= len(a)] - len(a)]] = False
        a, b = a[sources[a]], b[targets[b]]
        kept = sources[i] & targets[j]
        i, j = i[kept], j[kept]


def _seeds(incidence: Incidence, null_weight: float) -> list[tuple[float, BoolArray, BoolArray]]:
    """Blocks of accounts with like sets of targets, and the targets that most of them have: the best by the objective.

    Accounts are alike if the smallest of their targets in a random order is the same, which has the probability of the
    sets' Jaccard similarity: Broder: "On the Resemblance and Containment of Documents", 1997.
    """
    rng, found = np.random.default_rng(0), []
    source_mass, target_mass = _masses(incidence, null_weight)
    order = np.argsort(incidence.sources, kind="stable")
    i, j = incidence.sources[order], incidence.targets[order]
    starts = np.flatnonzero(np.diff(i, prepend=-1))
    for _ in range(HASHES):
        places = rng.permutation(incidence.num_targets)
        bucket = np.empty(incidence.num_sources, dtype=np.int64)
        bucket[i[starts]] = np.minimum.reduceat(places[j], starts)
        sizes = np.bincount(bucket[i[starts]], minlength=incidence.num_targets)
        keys, counts = np.unique(bucket[i] * incidence.num_targets + j, return_counts=True)
        buckets, targets = np.divmod(keys, incidence.num_targets)
        common = (2 * counts > sizes[buckets]) & (sizes[buckets] > 1)
        buckets, targets, counts = buckets[common], targets[common], counts[common]
        total = incidence.num_targets
        weight = np.bincount(buckets, counts * incidence.weights[targets], total)
        mass = np.bincount(bucket[i[starts]], source_mass[i[starts]], total) * np.bincount(
            buckets, target_mass[targets], total
        )
        values = (weight - mass) / np.maximum(sizes + np.bincount(buckets, minlength=total), 1)
        for best in np.argsort(-values)[:SEEDS]:
            members = np.zeros(incidence.num_sources, dtype=bool)
            members[i[starts]] = bucket[i[starts]] == best
            chosen = np.zeros(total, dtype=bool)
            chosen[targets[buckets == best]] = True
            found.append((float(values[best]), members, chosen))
    return sorted(found, key=lambda block: -block[0])[:SEEDS]


def _hill_climb(
    incidence: Incidence, null_weight: float, value: float, sources: BoolArray, targets: BoolArray
) -> tuple[float, BoolArray, BoolArray]:
    """Let nodes in and out that raise the objective, one side after the other, as long as it rises."""
    source_mass, target_mass = _masses(incidence, null_weight)
    i, j, weights = incidence.sources, incidence.targets, incidence.weights
    for _ in range(REFINEMENTS):
        kept = j[targets[j]]
        gain = np.bincount(i[targets[j]], weights[kept], incidence.num_sources)
        a = gain - source_mass * target_mass[targets].sum() > max(value, 0)
        target_gain = np.bincount(j[a[i]], minlength=incidence.num_targets) * weights
        b = target_gain - target_mass * source_mass[a].sum() > max(value, 0)
        better = objective(incidence, a, b, null_weight)
        if better <= value:
            break
        value, sources, targets = better, a, b
    return value, sources, targets


def find_blocks(incidence: Incidence) -> Iterator[Block]:
    """Find blocks with a positive objective, each in the graph without the edges of those before it.

    >>> clique = np.divmod(np.arange(40), 8)
    >>> [block.size for block in find_blocks(Incidence(*clique, 5, 8))]
    []
    """
    left = np.ones(incidence.num_edges, dtype=bool)
    while left.any():
        rest = incidence.restricted(left)
        value, sources, targets = peel(rest)
        if value <= TINY:
            return
        block = _grown(rest, value, sources, targets, np.flatnonzero(left))
        left[block.edges] = False
        yield block


def _grown(incidence: Incidence, value: float, sources: BoolArray, targets: BoolArray, numbers: IntArray) -> Block:
    """Grow a core to the nodes whose edges to it are better explained by the block than by their degrees outside it.

    With k edges into the block, μ for an average member and λ by the degrees outside, a node is a member if

        k·log(μ/λ) − (μ − λ) > log(nodes on its side/members on its side)  and  k ≥ μ/2,

    the likelihood ratio of two Poisson distributions against the prior odds. ``numbers`` are those of the edges.
    """
    i, j = incidence.sources, incidence.targets
    core = sources, targets
    for _ in range(REFINEMENTS):
        inside = incidence.inside(sources, targets)
        edges, a, b = int(inside.sum()), int(sources.sum()), int(targets.sum())
        into_targets = np.bincount(i[targets[j]], minlength=incidence.num_sources)
        into_sources = np.bincount(j[sources[i]], minlength=incidence.num_targets)
        # One edge more than there is, so that a node without edges elsewhere can be compared at all.
        outside = max(incidence.num_edges - edges, 1)
        free_sources = incidence.source_degrees - np.where(sources, into_targets, 0) + 1
        free_targets = incidence.target_degrees - np.where(targets, into_sources, 0) + 1
        usual_sources = free_sources * (free_targets[targets].sum() / outside)
        usual_targets = free_targets * (free_sources[sources].sum() / outside)
        grown = (
            _members(into_targets, edges / a, usual_sources, incidence.num_sources / a),
            _members(into_sources, edges / b, usual_targets, incidence.num_targets / b),
        )
        if not (grown[0].any() and grown[1].any() and incidence.inside(*grown).any()):
            sources, targets = core
            break
        settled = (grown[0] == sources).all() and (grown[1] == targets).all()
        sources, targets = grown
        if settled:
            break
    inside = incidence.inside(sources, targets)
    density = inside.sum() / (sources.sum() * targets.sum())
    free_sources = incidence.source_degrees - np.bincount(i[inside], minlength=incidence.num_sources)
    free_targets = incidence.target_degrees - np.bincount(j[inside], minlength=incidence.num_targets)
    usual = free_sources[i[inside]] * free_targets[j[inside]] / max(int((~inside).sum()), 1)
    return Block(sources, targets, numbers[inside], value, density / (density + usual))


def _members(edges: IntArray, average: float, usual: FloatArray, odds: float) -> BoolArray:
    """Which nodes with so many edges into a block are members of it."""
    ratio = edges * np.log(average / usual) - (average - usual)
    return (ratio > np.log(odds)) & (edges >= MEMBER_SHARE * average) & (average > usual)
