"""Flips at random: the attack that every other attack must beat, and the draws that it shares with DICE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from focusedcleaner.attacks.base import Attack, Progress
from focusedcleaner.errors import InputError
from focusedcleaner.graph import BoolArray, Graph, IntArray


@dataclass(frozen=True)
class RandomAttack(Attack):
    """Inserts edges between random nodes and, if asked, deletes random edges.

        A' = A + R,  R uniform among the sets of ⌈(1−s)·B⌉ pairs without an edge and ⌊s·B⌋ edges,

    where B is the budget and s the share that is removed. Deletions never isolate a node, which makes them uniform only
    up to that. The usual control in poisoning experiments, e.g. in Jin et al., "Graph Structure Learning for Robust
    Graph Neural Networks", KDD 2020 (https://arxiv.org/abs/2005.10203).

    Args:
        share_removed: s, between 0 and 1.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = RandomAttack().poison(synthetic(num_nodes=100, seed=0), budget=0.1, seed=1)
    >>> len(poisoning.added), len(poisoning.removed)
    (20, 0)
    """

    name: ClassVar[str] = "random"

    share_removed: float = 0.0

    def __post_init__(self) -> None:
        check_share(self.share_removed)

    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress | None) -> tuple[IntArray, IntArray]:
        rng = np.random.default_rng(seed)
        deletions = number_removed(budget, self.share_removed)
        everyone = np.arange(graph.num_nodes)
        removed = draw_deletions(graph, np.ones(graph.num_edges, dtype=bool), deletions, rng)
        added = draw_insertions(graph, everyone, budget - deletions, rng)
        if progress is not None:
            progress(budget, budget)
        return added, removed


def check_share(share_removed: float) -> None:
    if not 0 <= share_removed <= 1:
        raise InputError(f"share_removed lies between 0 and 1, not {share_removed:g}")


def number_removed(budget: int, share_removed: float) -> int:
    """⌊s·B⌋; the small addition keeps 0.29 · 100 = 28.999999999999996 what it means."""
    return int(share_removed * budget + 1e-9)


def draw_deletions(graph: Graph, candidates: BoolArray, count: int, rng: np.random.Generator) -> IntArray:
    """Draw ``count`` candidate edges that can be deleted together without isolating a node (count × 2).

    Args:
        graph: whose edges are deleted.
        candidates: which of its E edges may go.
        count: how many.
        rng: decides which.

    Raises:
        InputError: the order drawn does not lead to so many.
    """
    numbers = rng.permutation(np.flatnonzero(candidates))
    order = graph.edges[numbers]
    found = np.flatnonzero(_spared(order, graph.degrees))
    if len(found) < count:
        raise InputError(
            f"the attack is to delete {count:,} edges, but only {len(found):,} suitable ones can be deleted without "
            "isolating a node"
        )
    return order[found[:count]]


def _spared(edges: IntArray, degrees: IntArray) -> BoolArray:
    """Which of these edges go, one after the other, if an edge stays where an end would have no other left.

    An edge is safe to delete if the edges listed before it, together with it, are fewer than its ends' degrees. What
    that leaves open is decided in the next round, with the degrees then left; a round decides at least the first edge.
    """
    left = degrees.copy()
    gone = np.zeros(len(edges), dtype=bool)
    open_ = np.arange(len(edges))
    while len(open_):
        ends = edges[open_]
        safe = (_place_at_node(ends) < left[ends] - 1).all(axis=1)
        gone[open_[safe]] = True
        left -= np.bincount(ends[safe].ravel(), minlength=len(left))
        open_ = open_[~safe]
        open_ = open_[(left[edges[open_]] > 1).all(axis=1)]
    return gone


def _place_at_node(edges: IntArray) -> IntArray:
    """For both ends of each edge, how many edges before it in the list touch that node (n × 2)."""
    nodes = edges.ravel()
    order = np.argsort(nodes, kind="stable")
    counts = np.bincount(nodes)
    first = np.cumsum(counts) - counts
    place = np.empty(len(nodes), dtype=np.int64)
    place[order] = np.arange(len(nodes)) - first[nodes[order]]
    return place.reshape(-1, 2)


def draw_insertions(graph: Graph, groups: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """Draw ``count`` pairs without an edge, uniformly among the pairs whose nodes are in different groups (count × 2).

    Args:
        graph: in which the pairs have no edge.
        groups: the group of each node; a node in group −1 is in no pair.
        count: how many.
        rng: decides which.

    Raises:
        InputError: there are not so many.
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
        fresh = drawn[:, 0] * graph.num_nodes + drawn[:, 1]
        keys = np.concatenate([keys, fresh[~np.isin(fresh, graph.edge_keys)]])
        keys = keys[np.sort(np.unique(keys, return_index=True)[1])]
    return np.stack(np.divmod(keys[:count], graph.num_nodes), axis=1)


def _draw_pairs(groups: IntArray, sizes: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """``count`` pairs u < v of nodes in different groups, each as likely as any other; a pair may come twice.

    With the nodes in the order of their groups, the partner's place is drawn among those outside u's own group: places
    from the group's start on are moved past its end.
    """
    nodes = np.argsort(groups, kind="stable")[int((groups < 0).sum()) :]
    outside = len(nodes) - sizes
    weight = np.cumsum(outside[groups[nodes]])
    first = nodes[np.searchsorted(weight, rng.integers(0, weight[-1], count), side="right")]
    group = groups[first]
    place = rng.integers(0, outside[group])
    start = np.cumsum(sizes) - sizes
    second = nodes[np.where(place < start[group], place, place + sizes[group])]
    return np.sort(np.stack([first, second], axis=1), axis=1)
