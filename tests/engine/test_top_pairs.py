"""The blockwise searches against brute force over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from focusedcleaner.datasets import synthetic
from focusedcleaner.engine import top_pairs
from focusedcleaner.engine.top_pairs import (
    Excluded,
    best_pair,
    best_pairs,
    largest_value,
    pairs_above,
    products_at,
    spread,
)


def brute_force(front: Tensor, back: Tensor, excluded: Excluded) -> tuple[tuple[int, int], float] | None:
    taken = {tuple(pair) for pair in excluded.pairs.tolist()}
    scores = (front @ back.T).tolist()
    options = []
    for u in range(len(front)):
        for v in range(u + 1, len(front)):
            fits = excluded.allowed is None or excluded.allowed[excluded.groups[u], excluded.groups[v]]  # type: ignore[index]
            if fits and (u, v) not in taken:
                options.append(((u, v), scores[u][v]))
    return max(options, key=lambda option: option[1], default=None)


@settings(deadline=None, max_examples=100)
@given(
    nodes=st.integers(1, 40),
    excluded_share=st.sampled_from([0.0, 0.1, 0.9, 1.0]),
    grouped=st.booleans(),
    block=st.sampled_from([1, 7, 100, 10_000]),
    rows=st.sampled_from([1, 3, 50]),
    seed=st.integers(0, 10_000),
)
def test_search_finds_what_brute_force_finds(
    nodes: int, excluded_share: float, grouped: bool, block: int, rows: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    front, back = (torch.from_numpy(rng.normal(size=(nodes, 3))) for _ in range(2))
    pairs = np.argwhere(np.triu(rng.random((nodes, nodes)) < excluded_share, 1)).reshape(-1, 2)
    groups, allowed = (rng.integers(0, 3, nodes), rng.random((3, 3)) < 0.5) if grouped else (None, None)
    excluded = Excluded(pairs, groups, allowed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(top_pairs, "BLOCK", block)
        patch.setattr(top_pairs, "ROWS", rows)
        found = best_pair(front, back, excluded)
    expected = brute_force(front, back, excluded)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert found[0] == expected[0]
        assert found[1] == pytest.approx(expected[1], abs=1e-12)


def test_screening_in_single_precision_does_not_decide() -> None:
    """Two pairs that single precision can't tell apart: double precision does."""
    front = torch.zeros(6, 1, dtype=torch.float64)
    back = torch.zeros(6, 1, dtype=torch.float64)
    front[:3] = torch.tensor([[1.0], [1.0 + 1e-12], [1.0]], dtype=torch.float64)
    back[3:] = 1.0
    found = best_pair(front, back, Excluded(np.empty((0, 2), dtype=np.int64)))
    assert found is not None
    assert found[0] == (1, 3)


def test_search_holds_a_block_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic(400, seed=0)
    sizes: list[int] = []
    whole = Excluded.mask

    def watched(self: Excluded, block: Tensor, rows: np.ndarray, first: int) -> None:
        sizes.append(block.numel())
        whole(self, block, rows, first)

    monkeypatch.setattr(Excluded, "mask", watched)
    monkeypatch.setattr(top_pairs, "BLOCK", 5000)
    front = torch.randn(400, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    best_pair(front, front.flip(1), Excluded(graph.edges))
    assert max(sizes[:-1]) <= 5000
    assert sizes[-1] <= top_pairs.ROWS * 400


@settings(deadline=None, max_examples=60)
@given(
    nodes=st.integers(1, 30),
    count=st.integers(1, 40),
    excluded_share=st.sampled_from([0.0, 0.2, 1.0]),
    block=st.sampled_from([1, 7, 100, 10_000]),
    spare=st.sampled_from([1, 32]),
    seed=st.integers(0, 10_000),
)
def test_best_pairs_are_those_of_brute_force(
    nodes: int, count: int, excluded_share: float, block: int, spare: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    front, back = (torch.from_numpy(rng.normal(size=(nodes, 3))) for _ in range(2))
    taken = np.argwhere(np.triu(rng.random((nodes, nodes)) < excluded_share, 1)).reshape(-1, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(top_pairs, "BLOCK", block)
        patch.setattr(top_pairs, "ROWS", spare)
        pairs, values = best_pairs(front, back, Excluded(taken), count)
    dense = (front @ back.T).numpy()
    dense[tuple(taken.T)] = -np.inf
    u, v = np.triu_indices(nodes, 1)
    order = np.argsort(-dense[u, v], kind="stable")
    order = order[dense[u, v][order] > -np.inf][:count]
    assert pairs.tolist() == np.stack([u, v], 1)[order].tolist()
    assert values == pytest.approx(dense[u, v][order])


def test_best_pairs_are_ordered_in_double_precision() -> None:
    front, back = torch.zeros(6, 1).double(), torch.zeros(6, 1).double()
    front[:3] = torch.tensor([[1.0], [1.0 + 1e-12], [1.0]]).double() + torch.tensor([[0.0], [1e-12], [0.0]]).double()
    back[3:] = 1.0
    pairs, _ = best_pairs(front, back, Excluded(np.empty((0, 2), dtype=np.int64)), 4)
    assert pairs.tolist() == [[1, 3], [1, 4], [1, 5], [0, 3]]


def test_pairs_above_a_threshold() -> None:
    rng = np.random.default_rng(0)
    front, back = (torch.from_numpy(rng.normal(size=(30, 3))) for _ in range(2))
    always = np.array([[0, 1], [4, 9], [28, 29]])
    pairs, values = pairs_above(front, back, 1.0, always)
    product = (front @ back.T).numpy()
    wanted = np.triu(product > 1.0, 1)
    wanted[always[:, 0], always[:, 1]] = True
    np.testing.assert_array_equal(pairs, np.argwhere(wanted))
    np.testing.assert_allclose(values, product[pairs[:, 0], pairs[:, 1]], atol=1e-5)


def test_value_of_a_rank() -> None:
    rng = np.random.default_rng(0)
    front, back = (torch.from_numpy(rng.normal(size=(12, 3))) for _ in range(2))
    products = np.sort((front @ back.T).numpy()[np.triu_indices(12, 1)])[::-1]
    excluded = Excluded(np.empty((0, 2), dtype=np.int64))
    assert largest_value(front, back, excluded, 5) == pytest.approx(products[4], rel=1e-5)
    assert largest_value(front, back, excluded, 66) == pytest.approx(products[products > 0][-1], rel=1e-5)
    assert largest_value(-front.abs(), back.abs(), excluded, 5) == 1.0


def test_spread_limits_the_pairs_of_a_node() -> None:
    pairs = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]])
    assert spread(pairs, 5, 2).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert spread(pairs, 1, 2).tolist() == [[0, 1]]
    assert spread(pairs[:0], 3, 2).shape == (0, 2)


@pytest.mark.parametrize("block", [1, 50, 4_000_000])
def test_products_at_pairs(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(top_pairs, "BLOCK", block)
    rng = np.random.default_rng(0)
    front, back = (torch.from_numpy(rng.normal(size=(20, 6))) for _ in range(2))
    pairs = rng.integers(0, 20, (70, 2))
    expected = (front @ back.T).numpy()[tuple(pairs.T)]
    np.testing.assert_allclose(products_at(front, back, pairs), expected, atol=1e-5)
    assert len(products_at(front, back, pairs[:0])) == 0
