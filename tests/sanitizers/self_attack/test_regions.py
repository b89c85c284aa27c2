"""Regions: every node in one part, disjoint regions of the right size, and attackers that stay in theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.attacks import attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.engine import computing
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.sanitizers import SelfAttack
from focusedcleaner.sanitizers.self_attack import regions
from focusedcleaner.sanitizers.self_attack.attackers import attackers_by_name
from focusedcleaner.sanitizers.self_attack.regions import LARGEST_PART, Partition, grow_parts, plant_in_regions
from tests.strategies import labelled_graphs

QUICK: dict[str, Any] = {
    "rounds": 2,
    "trees": 15,
    "attackers": "mettack,random",
    "attackers_elsewhere": "mettack,random",
}


@pytest.fixture(scope="module")
def clean() -> Graph:
    return synthetic(500, mean_degree=8.0, num_classes=3, homophily=0.9, attribute_signal=0.6, seed=2)


@settings(deadline=None)
@given(graph=labelled_graphs(), data=st.data(), seed=st.integers(0, 99))
def test_every_node_is_in_one_part_of_a_bounded_size(graph: Graph, data: st.DataObject, seed: int) -> None:
    count = data.draw(st.integers(1, graph.num_nodes))
    part = grow_parts(graph.rows, count, np.random.default_rng(seed))
    assert part.shape == (graph.num_nodes,)
    assert np.unique(part).tolist() == list(range(count))
    unreached = graph.num_nodes / count + 1
    assert np.bincount(part).max() <= max(LARGEST_PART * graph.num_nodes / count, 1) + unreached


def test_parts_grow_along_edges(clean: Graph) -> None:
    part = grow_parts(clean.rows, 20, np.random.default_rng(0))
    shuffled = np.random.default_rng(0).permutation(part)
    inside, by_chance = (float((one[clean.edges[:, 0]] == one[clean.edges[:, 1]]).mean()) for one in (part, shuffled))
    assert inside > 3 * by_chance


@pytest.fixture
def _small_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six regions in the graph of these tests."""
    monkeypatch.setattr(regions, "REGION_EDGES", 300)


@pytest.mark.usefixtures("_small_regions")
@pytest.mark.parametrize("count", [1, 2, 6, 9])
def test_regions_are_disjoint_and_of_similar_size(clean: Graph, count: int) -> None:
    drawn = Partition.of(clean, 0).draw(count, np.random.default_rng(1))
    assert len(drawn) == count
    together = np.concatenate(drawn)
    assert len(np.unique(together)) == len(together)
    assert all((np.diff(nodes) > 0).all() for nodes in drawn)
    sizes = [clean.degrees[nodes].sum() / 2 for nodes in drawn]
    assert min(sizes) > 0.3 * min(300, 2000 / count)
    assert max(sizes) < 2 * 300


@pytest.mark.usefixtures("_small_regions")
def test_attackers_without_room_beside_each_other_take_turns(clean: Graph) -> None:
    attackers = dict(enumerate(attackers_by_name("dice,mettack,random,pgd,minmax,targeted,unrolled").values(), start=1))
    groups = Partition.of(clean, 0).groups(attackers)
    assert [list(group) for group in groups] == [[1, 2, 3, 4], [5, 6, 7]]


@pytest.mark.usefixtures("_small_regions")
def test_attackers_plant_new_pairs_in_regions_of_their_own(clean: Graph) -> None:
    attackers = dict(enumerate(attackers_by_name("dice,mettack,random").values(), start=2))
    partition = Partition.of(clean, 0)
    found: list[tuple[IntArray, IntArray]] = []
    for threads in (1, 3):
        with computing(threads):
            found.append(plant_in_regions(clean, partition, attackers, 0.1, np.random.default_rng(3)))
    (planted, attacker_at), again = found
    assert planted.tolist() == again[0].tolist()
    assert set(attacker_at.tolist()) <= {0, 2, 3, 4}
    assert (attacker_at[planted[:, 0]] == attacker_at[planted[:, 1]]).all()
    assert (attacker_at[planted] > 0).all()
    assert not clean.has_edges(planted).any()
    for number in attackers:
        inside = (attacker_at[clean.edges] == number).all(axis=1).sum()
        assert (attacker_at[planted[:, 0]] == number).sum() == pytest.approx(0.1 * inside, rel=0.25)


@pytest.mark.slow
@pytest.mark.usefixtures("_small_regions")
def test_regions_rank_like_the_whole_graph(clean: Graph) -> None:
    poisoned = attack("dice").poison(clean, "15%").graph
    planted = len(poisoned.added_edges(clean))
    hits = []
    for beyond in (0, clean.num_edges):
        removed = SelfAttack(**QUICK, regions_beyond=beyond).sanitize(poisoned, planted).removed
        hits.append(float((~clean.has_edges(np.sort(removed, axis=1))).mean()))
    assert hits[0] > 0.4
    assert hits[0] > 0.8 * hits[1]


@pytest.mark.slow
@pytest.mark.usefixtures("_small_regions")
@pytest.mark.parametrize("labels", [True, False])
def test_threads_change_no_digit_of_the_default(clean: Graph, labels: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focusedcleaner.adjacency_rows.BLOCK_ENTRIES", 2_000)
    monkeypatch.setattr("focusedcleaner.edge_features.extractor.PAIRS", 300)
    poisoned = attack("dice").poison(clean, "10%").graph
    graph = poisoned if labels else poisoned.unlabelled()
    one, several = (
        SelfAttack(**{**QUICK, "rounds": 1}, regions_beyond=0).sanitize(graph, threads=threads) for threads in (1, 3)
    )
    assert one.edge_scores is not None
    assert several.edge_scores is not None
    assert one.edge_scores.tobytes() == several.edge_scores.tobytes()
    assert one.removed.tolist() == several.removed.tolist()
    assert one.verdict == several.verdict


def test_a_part_larger_than_several_regions_leaves_none_empty() -> None:
    part = np.repeat(np.arange(6), 10)
    partition = Partition(part, np.array([10, 10, 1_000_000, 10, 10, 10]))
    for seed in range(5):
        regions = partition.draw(4, np.random.default_rng(seed))
        assert all(len(nodes) for nodes in regions)
        assert len(np.unique(np.concatenate(regions))) == sum(map(len, regions))
    assert len(Partition(np.zeros(5, dtype=np.int64), np.array([8])).draw(3, np.random.default_rng(0))) == 1
