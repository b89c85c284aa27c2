"""The meta-gradient of all pairs in factors, and the blockwise search in them, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from focusedcleaner.datasets import synthetic
from focusedcleaner.engine import Structure, top_pairs
from focusedcleaner.engine.top_pairs import Excluded, best_pair
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate import PairGradient
from tests.strategies import labelled_graphs


def normalized(adjacency: Tensor) -> Tensor:
    loops = adjacency + torch.eye(len(adjacency)).double()
    scale = loops.sum(1).rsqrt()
    return scale[:, None] * loops * scale


@settings(deadline=None, max_examples=20)
@given(graph=labelled_graphs(), seed=st.integers(0, 1000), columns=st.integers(1, 5))
def test_factors_give_the_gradient_of_every_pair(graph: Graph, seed: int, columns: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    left, right = torch.randn(2, graph.num_nodes, columns, generator=generator, dtype=torch.float64)
    adjacency = torch.tensor(graph.adjacency().toarray(), requires_grad=True)
    (dense,) = torch.autograd.grad(((left @ right.T) * normalized(adjacency)).sum(), adjacency)
    gradient = PairGradient(Structure(graph), left, right)
    front, back = gradient.factors()
    assert front.shape == back.shape == (graph.num_nodes, 2 * columns + 2)
    off = ~torch.eye(graph.num_nodes).bool()
    torch.testing.assert_close((front @ back.T)[off], (dense + dense.T)[off], rtol=1e-9, atol=1e-9)
    u, v = torch.tensor(graph.edges).T
    torch.testing.assert_close(gradient.edges(), (dense + dense.T)[u, v], rtol=1e-9, atol=1e-9)


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
