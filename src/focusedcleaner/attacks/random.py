"""Random flips: the control of every poisoning experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from focusedcleaner.attacks.base import Attack, Needs, Progress
from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.errors import InputError
from focusedcleaner.graph import BoolArray, Graph, IntArray, pair_keys, pairs_of_keys
from focusedcleaner.settings import bounded


@dataclass(frozen=True)
class RandomAttack(Attack):
    """Inserts edges between random nodes and, if asked, deletes random edges.

        A' = A + R,  R uniform among the sets of ⌈(1−s)·B⌉ pairs without an edge and ⌊s·B⌋ edges,

    where B is the budget and s the share of deletions. Deletions are uniform except that none isolates a node. The
    usual control in poisoning experiments, e.g. in Jin et al., "Graph Structure Learning for Robust Graph Neural
    Networks", KDD 2020 (https://arxiv.org/abs/2005.10203).

    Args:
        share_removed: s, between 0 and 1.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = RandomAttack().poison(synthetic(num_nodes=100, seed=0), budget=0.1, seed=1)
    >>> len(poisoning.added), len(poisoning.removed)
    (20, 0)
    """

    name = "random"
    needs: ClassVar[Needs] = "edges"

    share_removed: float = bounded(0.0, "[0, 1]")

    def candidates(self, graph: Graph) -> tuple[BoolArray, IntArray]:
        """Return which of the E edges may be deleted, and a group per node: edges are inserted between groups.

        A node in group −1 gets no edge.
        """
        return np.ones(graph.num_edges, dtype=bool), np.arange(graph.num_nodes)

    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress) -> IntArray:
        rng = np.random.default_rng(seed)
        deletions = int(self.share_removed * budget + 1e-9)  # 0.29 · 100 is 28.999999999999996
        deletable, groups = self.candidates(graph)
        removed = draw_deletions(graph, deletable, deletions, rng)
        added = draw_insertions(graph, groups, budget - deletions, rng)
        progress(budget, budget)
        return np.concatenate([added, removed])


def draw_deletions(graph: Graph, candidates: BoolArray, count: int, rng: np.random.Generator) -> IntArray:
    """Draw ``count`` candidate edges (of E) that can be deleted together without isolating a node, count × 2."""
    order = rng.permutation(np.flatnonzero(candidates))
    drawn = without_isolating(order, graph.edges, graph.degrees, count)
    if len(drawn) < count:
        drawable = f"only {len(drawn):,} suitable ones can be deleted without isolating a node"
        raise InputError(f"the attack is to delete {count:,} edges, but {drawable}")
    return graph.edges[drawn]


def draw_insertions(graph: Graph, groups: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """Draw ``count`` pairs without an edge, uniformly among the pairs of nodes in different groups, count × 2.

    Nodes in group −1 are in no pair.
    """
    sizes = np.bincount(groups[groups >= 0], minlength=1)
    total = int(sizes.sum())
    ends = groups[graph.edges]
    taken = (ends >= 0).all(axis=1) & (ends[:, 0] != ends[:, 1])
    possible = (total**2 - int((sizes**2).sum())) // 2 - int(taken.sum())
    if possible < count:
        raise InputError(f"the attack is to insert {count:,} edges, but only {possible:,} suitable pairs have none")
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < count:
        drawn = _draw_pairs(groups, sizes, 2 * (count - len(keys)) + 16, rng)
        keys = np.concatenate([keys, pair_keys(drawn[~graph.has_edges(drawn)], graph.num_nodes)])
        keys = keys[np.sort(np.unique(keys, return_index=True)[1])]
    return pairs_of_keys(keys[:count], graph.num_nodes)


def _draw_pairs(groups: IntArray, sizes: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """Draw ``count`` pairs u < v of nodes in different groups, uniformly and with replacement.

    With the nodes sorted by group, v's position is drawn among those outside u's group: positions from the start of
    that group on are shifted past its end.
    """
    nodes = np.argsort(groups, kind="stable")[int((groups < 0).sum()) :]
    outside = len(nodes) - sizes
    weight = np.cumsum(outside[groups[nodes]])
    first = nodes[np.searchsorted(weight, rng.integers(0, weight[-1], count), side="right")]
    group = groups[first]
    position = rng.integers(0, outside[group])
    start = np.cumsum(sizes) - sizes
    second = nodes[np.where(position < start[group], position, position + sizes[group])]
    return np.sort(np.stack([first, second], axis=1), axis=1)
