"""The cost model counts what an executor is really given, and predicts what it was fitted to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.cost_model import PAPERS, PRODUCTS, Size, Speeds, round_of, thread_seconds, worker_seconds
from focusedcleaner.datasets import synthetic
from focusedcleaner.engine.blocks import EdgeWeights
from focusedcleaner.sanitizers import sanitizer


class Counting:
    """Computes in one thread, and counts the bytes that go to and come from a kernel, by round."""

    def __init__(self) -> None:
        self.rounds: list[list[tuple[int, int]]] = [[]]
        self.sent: set[str] = set()

    def map(self, kernel: Callable[..., Any], blocks: Sequence[Any], *shared: Any) -> list[Any]:
        results = [kernel(block, *shared) for block in blocks]
        self.rounds[-1].append((sum(map(self._bytes, shared)), sum(map(self._bytes, results))))
        return results

    def _bytes(self, value: Any) -> int:
        if isinstance(value, EdgeWeights):
            new = value.key not in self.sent
            self.sent.add(value.key)
            return value.values.nbytes if new else 0
        return value.nbytes if isinstance(value, torch.Tensor) else 0


@pytest.mark.parametrize("method", ["cld", "lp"])
def test_a_round_moves_the_bytes_that_the_model_counts(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focusedcleaner.adjacency_rows.BLOCK_ENTRIES", 2000)
    graph = synthetic(800, 5, 5, 0.8, 40, seed=3)
    assert graph.split is not None
    counting = Counting()
    cleaner = sanitizer(method, edges_per_round=20)
    cleaner.sanitize(graph, 60, executor=counting, progress=lambda *_: counting.rounds.append([]))
    size = Size(graph.num_nodes, graph.num_edges, 40, 5, len(graph.split.train))
    predicted = round_of(method, size, word=8)
    for moved in counting.rounds[1:3]:
        assert len(moved) == predicted.calls
        assert sum(sent for sent, _ in moved) == predicted.sent
        returned = sum(back for _, back in moved)
        small = 8 * len(graph.rows.starts) * 1000  # sums of each block
        assert predicted.returned - 8 * size.edges <= returned <= predicted.returned + small


@given(one=st.floats(0.1, 100), gain=st.floats(0.5, 1.0))
def test_fitted_speeds_give_the_times_they_were_fitted_to(one: float, gain: float) -> None:
    size = Size(200_000, 1_000_000, 64, 16, 20_000)
    speeds = Speeds.fitted(one, one * gain, round_of("cld", size), size)
    assert thread_seconds("cld", size, speeds, 1) == pytest.approx(one)
    assert thread_seconds("cld", size, speeds, 2) == pytest.approx(one * gain)


@pytest.mark.parametrize("size", [PRODUCTS, PAPERS])
def test_workers_shorten_the_arithmetic_and_lengthen_the_transport(size: Size) -> None:
    speeds = Speeds(1e-9, 1e-9, store=1e9, message=1e-3)
    times = [worker_seconds("cld", size, speeds, workers) for workers in (1, 8, 64)]
    assert times == sorted(times, reverse=True)
    assert worker_seconds("cld", size, speeds, 64, machines=64) > times[-1]
