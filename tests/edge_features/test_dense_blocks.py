"""Dense blocks: greedy peeling against brute force and a slow greedy, planted blocks, sides of a bipartite graph."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.edge_features.dense_blocks import Incidence, find_blocks, objective, peel, two_sides
from focusedcleaner.graph import BoolArray, Graph

TINY = 1e-9


@st.composite
def incidences(draw: st.DrawFn, most: int = 5) -> Incidence:
    sources, targets = draw(st.integers(1, most)), draw(st.integers(1, most))
    pairs = st.tuples(st.integers(0, sources - 1), st.integers(0, targets - 1))
    edges = sorted(draw(st.sets(pairs, min_size=1)))
    i, j = np.array(edges, dtype=np.int64).T
    return Incidence(i, j, sources, targets)


def random_incidence(sources: int, targets: int, edges: int, seed: int) -> Incidence:
    rng = np.random.default_rng(seed)
    keys = np.unique(rng.integers(0, sources * targets, edges))
    return Incidence(keys // targets, keys % targets, sources, targets)


def with_block(clean: Incidence, sources: int, targets: int, density: float, camouflage: int = 0) -> Incidence:
    """New accounts that share the first targets, each with some random other edges."""
    rng = np.random.default_rng(1)
    i, j = np.nonzero(rng.random((sources, targets)) < density)
    others = np.repeat(np.arange(sources), camouflage), rng.integers(0, clean.num_targets, sources * camouflage)
    new = np.concatenate([i, others[0]]) + clean.num_sources
    keys = np.unique(
        np.concatenate([clean.sources, new]) * clean.num_targets + np.concatenate([clean.targets, j, others[1]])
    )
    return Incidence(*np.divmod(keys, clean.num_targets), clean.num_sources + sources, clean.num_targets)


def masks(size: int) -> list[BoolArray]:
    return [(number >> np.arange(size)) % 2 == 1 for number in range(1, 2**size)]


def slow_objective(incidence: Incidence, sources: BoolArray, targets: BoolArray, null_weight: float) -> float:
    """The formula, pair by pair."""
    edges = set(zip(incidence.sources.tolist(), incidence.targets.tolist(), strict=True))
    total = 0.0
    for i in np.flatnonzero(sources):
        for j in np.flatnonzero(targets):
            expected = sum(e[0] == i for e in edges) * sum(e[1] == j for e in edges) / len(edges)
            weight = 1 / np.log(sum(e[1] == j for e in edges) + 5)
            total += weight * (((i, j) in edges) - null_weight * expected)
    return total / (sources.sum() + targets.sum())


def slow_greedy(incidence: Incidence) -> float:
    """FRAUDAR: the best objective on the way when one node after the other goes, the one that contributes least."""
    sources, targets = incidence.source_degrees > 0, incidence.target_degrees > 0
    best = 0.0
    while sources.any() and targets.any():
        best = max(best, objective(incidence, sources, targets, 0.0))
        inside = incidence.inside(sources, targets)
        weights = incidence.weights[incidence.targets[inside]]
        gains = [
            np.bincount(incidence.sources[inside], weights, incidence.num_sources),
            np.bincount(incidence.targets[inside], weights, incidence.num_targets),
        ]
        least = [np.where(mask, gain, np.inf) for mask, gain in zip((sources, targets), gains, strict=True)]
        side = int(least[1].min() < least[0].min())
        (sources, targets)[side][least[side].argmin()] = False
    return best


@settings(deadline=None, max_examples=60)
@given(incidence=incidences(4), null_weight=st.sampled_from([0.0, 0.5, 1.0]))
def test_the_objective_is_the_formula(incidence: Incidence, null_weight: float) -> None:
    for sources in masks(incidence.num_sources)[::3]:
        for targets in masks(incidence.num_targets)[::3]:
            fast = objective(incidence, sources, targets, null_weight)
            assert fast == pytest.approx(slow_objective(incidence, sources, targets, null_weight), abs=TINY)


@settings(deadline=None, max_examples=60)
@given(incidence=incidences(), batch=st.sampled_from([0.0, 0.05, 0.5]))
def test_peeling_reaches_half_of_the_optimum(incidence: Incidence, batch: float) -> None:
    optimum = max(
        objective(incidence, sources, targets, 0.0)
        for sources in masks(incidence.num_sources)
        for targets in masks(incidence.num_targets)
    )
    value, sources, targets = peel(incidence, 0.0, batch)
    assert optimum / 2 - TINY <= value <= optimum + TINY
    assert value == pytest.approx(objective(incidence, sources, targets, 0.0), abs=TINY)


@settings(deadline=None, max_examples=60)
@given(incidence=incidences())
def test_the_value_with_expected_edges_is_that_of_the_returned_block(incidence: Incidence) -> None:
    value, sources, targets = peel(incidence)
    optimum = max(
        objective(incidence, a, b) for a in masks(incidence.num_sources) for b in masks(incidence.num_targets)
    )
    assert value <= optimum + TINY
    assert value == pytest.approx(objective(incidence, sources, targets), abs=TINY)


@pytest.mark.parametrize("seed", range(4))
def test_batches_are_as_good_as_one_node_at_a_time(seed: int) -> None:
    incidence = with_block(random_incidence(80, 60, 500, seed), 12, 10, 0.8)
    exact = slow_greedy(incidence)
    assert peel(incidence, 0.0, 0.0)[0] >= exact - TINY
    assert peel(incidence, 0.0)[0] >= 0.95 * exact


@pytest.mark.parametrize("camouflage", [0, 10, 40])
def test_a_planted_block_is_the_first_whatever_its_camouflage(camouflage: int) -> None:
    incidence = with_block(random_incidence(400, 200, 3_000, 0), 25, 12, 0.9, camouflage)
    block = next(find_blocks(incidence))
    assert (np.flatnonzero(block.sources) >= 400).mean() > 0.9
    assert block.sources[400:].mean() > 0.9
    assert block.targets[:12].all()
    assert block.density > 0.7
    assert block.posterior.mean() > 0.8


@pytest.mark.parametrize("seed", range(3))
def test_a_small_ring_of_accounts_with_few_edges_is_found(seed: int) -> None:
    """Peeling alone loses it: its accounts have half as many edges as others, and leave early."""
    incidence = with_block(random_incidence(1_000, 500, 20_000, seed), 20, 10, 1.0)
    block = next(find_blocks(incidence))
    assert block.size == (20, 10)
    assert block.sources[1_000:].all()


def test_camouflage_does_not_lower_fraudars_objective() -> None:
    clean = random_incidence(400, 200, 3_000, 0)
    values = []
    for camouflage in (0, 40):
        incidence = with_block(clean, 25, 12, 1.0, camouflage)
        sources, targets = np.arange(425) >= 400, np.arange(200) < 12
        # Camouflage may hit the block's own targets by chance; their weights are those of the block without it.
        bare = with_block(clean, 25, 12, 1.0)
        values.append(bare.weights[incidence.targets[incidence.inside(sources, targets)]].sum())
    assert values[1] >= values[0]


def test_the_densest_part_of_a_graph_by_degrees_alone_is_no_block() -> None:
    rng = np.random.default_rng(0)
    chances = np.outer(np.linspace(0.1, 1, 120), np.linspace(0.1, 1, 80))
    i, j = np.nonzero(rng.random(chances.shape) < chances)
    incidence = Incidence(i, j, 120, 80)
    core = objective(incidence, np.arange(120) >= 60, np.arange(80) >= 40, 0.0)
    assert peel(incidence)[0] < 0.2 * core


@settings(deadline=None, max_examples=40)
@given(incidence=incidences(8))
def test_blocks_share_no_edge(incidence: Incidence) -> None:
    blocks = list(islice(find_blocks(incidence), 5))
    edges = np.concatenate([np.empty(0, dtype=np.int64), *(block.edges for block in blocks)])
    assert len(np.unique(edges)) == len(edges)
    for block in blocks:
        assert len(block.edges)
        assert block.sources[incidence.sources[block.edges]].all()
        assert block.targets[incidence.targets[block.edges]].all()
        assert ((block.posterior > 0) & (block.posterior <= 1)).all()
        assert 0 < block.density <= 1


def test_rewiring_keeps_the_degrees_of_a_sparse_graph() -> None:
    incidence = random_incidence(2_000, 2_000, 4_000, 0)
    rewired = incidence.rewired(3)
    assert rewired.num_edges > 0.99 * incidence.num_edges
    assert np.abs(rewired.source_degrees - incidence.source_degrees).max() <= 2
    again, other = incidence.rewired(3), incidence.rewired(4)
    assert np.array_equal(rewired.targets, again.targets)
    assert not np.array_equal(rewired.targets[:100], other.targets[:100])


@settings(deadline=None, max_examples=60)
@given(incidence=incidences(6))
def test_sides_of_a_bipartite_graph(incidence: Incidence) -> None:
    pairs = np.column_stack([incidence.sources, incidence.num_sources + incidence.targets])
    graph = Graph.from_pairs(incidence.num_sources + incidence.num_targets, pairs)
    sides = two_sides(graph)
    assert sides is not None
    assert (sides[graph.edges[:, 0]] != sides[graph.edges[:, 1]]).all()
    assert not sides[graph.degrees == 0].any()


def test_the_larger_side_is_the_source_unless_the_names_tell() -> None:
    star = [[0, 1], [0, 2], [0, 3]]
    assert two_sides(Graph(4, star)) == pytest.approx([False, True, True, True])
    notes = {"source_column": "user", "target_column": "item"}
    named = Graph(4, star, names=["user 1", "item 1", "item 2", "item 3"], notes=notes)
    assert two_sides(named) == pytest.approx([True, False, False, False])
    told = Graph(4, star, names=["a", "b", "c", "d"], notes={**notes, "a_source": "a"})
    assert two_sides(told) == pytest.approx([True, False, False, False])
    assert two_sides(Graph(3, [[0, 1], [0, 2], [1, 2]])) is None
