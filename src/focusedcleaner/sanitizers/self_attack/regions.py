"""Regions of a large graph, in which attackers are rehearsed side by side: unions of random parts of a partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from focusedcleaner.adjacency_rows import AdjacencyRows
from focusedcleaner.engine import map_blocks
from focusedcleaner.graph import Graph, IntArray, no_pairs
from focusedcleaner.sanitizers.self_attack.attackers import Attacker

REGION_EDGES = 40_000
"""Edges of a region, counted by half of its nodes' degrees."""
PARTS_PER_REGION = 4
"""Parts of the partition in a region: distant ones, so that an attacker can join unlike nodes, and few, so that most
edges of a node stay inside."""
LARGEST_PART = 2.0
"""Size of a part at most, relative to the mean."""


@dataclass(frozen=True)
class Partition:
    """The nodes of a graph in connected parts of similar size."""

    part: IntArray
    """The part of each node."""
    volumes: IntArray
    """The sum of the degrees in each part."""

    @classmethod
    def of(cls, graph: Graph, seed: int) -> Partition:
        """Divide a graph into parts, several of which make a region."""
        regions = max(1, graph.num_edges // REGION_EDGES)
        part = grow_parts(graph.rows, min(PARTS_PER_REGION * regions, graph.num_nodes), np.random.default_rng(seed))
        return cls(part, np.bincount(part, graph.degrees).astype(np.int64))

    def groups(self, attackers: dict[int, Attacker]) -> list[dict[int, Attacker]]:
        """Divide attackers into groups that have room beside each other."""
        most = int(np.clip(self.volumes.sum() // (2 * REGION_EDGES), 1, len(attackers)))
        parts = np.array_split(list(attackers), -(-len(attackers) // most))
        return [{number: attackers[number] for number in part.tolist()} for part in parts]

    def draw(self, count: int, rng: np.random.Generator) -> list[IntArray]:
        """Draw disjoint regions of `REGION_EDGES`, or less where there is no room: the nodes of each, in order.

        Fewer than ``count`` if there are fewer parts.
        """
        size = 2 * min(REGION_EDGES, int(self.volumes.sum()) // (2 * count))
        order = rng.permutation(len(self.volumes))
        region_of_part = np.empty(len(order), dtype=np.int64)
        begins = (np.cumsum(self.volumes[order]) - self.volumes[order]) // max(size, 1)
        region_of_part[order] = np.unique(begins, return_inverse=True)[1]  # a part of several sizes leaves no gap
        region = region_of_part[self.part]
        return [np.flatnonzero(region == number) for number in range(min(count, region.max() + 1))]


def grow_parts(rows: AdjacencyRows, count: int, rng: np.random.Generator) -> IntArray:
    """Grow about ``count`` parts from random nodes, breadth first; a node goes to a random one of those that reach it.

    A part that is full stops growing. What no part reaches is divided at random.

    >>> paths = AdjacencyRows.of(6, np.array([[0, 1], [1, 2], [3, 4], [4, 5]]))
    >>> grow_parts(paths, 2, np.random.default_rng(2)).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    size = rows.num_nodes
    most = max(int(LARGEST_PART * size / count), 1)
    part = np.full(size, -1, dtype=np.int64)
    frontier = rng.choice(size, count, replace=False)
    part[frontier] = np.arange(count)
    sizes = np.ones(count, dtype=np.int64)
    while len(frontier):
        counts = rows.indptr[frontier + 1] - rows.indptr[frontier]
        places = np.repeat(rows.indptr[frontier] - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        reached, by = rows.indices[places].astype(np.int64), np.repeat(part[frontier], counts)
        free = part[reached] < 0
        order = rng.permutation(int(free.sum()))
        reached, first = np.unique(reached[free][order], return_index=True)
        by = by[free][order][first]
        order = np.argsort(by, kind="stable")
        starts = np.searchsorted(by[order], np.arange(count))
        room = np.arange(len(order)) - starts[by[order]] < (most - sizes)[by[order]]
        frontier = reached[order[room]]
        part[frontier] = by[order[room]]
        sizes += np.bincount(part[frontier], minlength=count)
    left = np.flatnonzero(part < 0)
    part[left] = rng.permutation(len(left)) * count // max(len(left), 1)
    return part


@dataclass(frozen=True)
class _Task:
    """One attacker in one region."""

    region: Graph
    nodes: IntArray
    """The numbers of the region's nodes in the whole graph, in order."""
    attacker: Attacker
    budget: int
    seed: int


def plant_in_regions(
    graph: Graph, partition: Partition, attackers: dict[int, Attacker], share: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Let each attacker plant a share of the edges in a region of its own.

    Args:
        graph: with labels and a split.
        partition: of the graph's nodes.
        attackers: by number, from 1.
        share: edges planted, relative to the edges within a region.
        rng: draws the regions, and a seed for each task.

    Returns:
        The planted pairs (P × 2), and the attacker at each node, 0 outside of all regions.
    """
    at_node = np.zeros(graph.num_nodes, dtype=np.int64)
    tasks = []
    for (number, attacker), nodes in zip(attackers.items(), partition.draw(len(attackers), rng), strict=False):
        at_node[nodes] = number
        region, kept = _region(graph, nodes)
        tasks.append(_Task(region, kept, attacker, int(share * region.num_edges), int(rng.integers(2**31))))
    return np.concatenate([no_pairs(), *map_blocks(_plant, tasks)]), at_node


def _region(graph: Graph, nodes: IntArray) -> tuple[Graph, IntArray]:
    """The subgraph of these nodes, less those that have no neighbour in it, and the nodes that remain."""
    inside = np.zeros(graph.num_nodes, dtype=bool)
    inside[nodes] = True
    kept = np.unique(graph.edges[inside[graph.edges].all(axis=1)])
    if not len(kept):
        kept = nodes
    return graph.subgraph(kept), kept


def _plant(task: _Task) -> IntArray:
    """Return the pairs that an attacker plants in a region, by the numbers of the whole graph."""
    region = task.region
    assert region.labels is not None
    assert region.split is not None
    if task.budget < 1 or len(np.unique(region.labels[region.split.train])) < 2:
        return no_pairs()
    pairs = task.attacker(region, min(task.budget, region.num_edges), np.random.default_rng(task.seed))
    return task.nodes[pairs]
