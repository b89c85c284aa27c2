"""Kernels in threads: every row at its place, errors passed on, nested kernels in one thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from focusedcleaner.engine import computing, map_blocks
from focusedcleaner.engine.parallel import beside, by_rows, current_executor, map_part_rows, map_rows, rows_of


class Elsewhere:
    """An executor that is not made of threads."""

    def map(self, kernel: Callable[..., Any], blocks: Sequence[Any], *shared: Any) -> list[Any]:
        return [kernel(block, *shared) for block in blocks]


def _rows(block: tuple[int, int], matrix: Tensor) -> Tensor:
    start, stop = block
    return 2 * matrix[start:stop]


@settings(deadline=None, max_examples=30)
@given(sizes=st.lists(st.integers(0, 5), min_size=1, max_size=8), threads=st.integers(1, 4), away=st.booleans())
def test_rows_of_blocks_come_to_their_places(sizes: list[int], threads: int, away: bool) -> None:
    starts = [sum(sizes[:number]) for number in range(len(sizes) + 1)]
    blocks = [*pairwise(starts)]
    matrix = torch.arange(2.0 * starts[-1]).view(-1, 2)
    with computing(threads, Elsewhere() if away else None):
        assert torch.equal(map_rows(_rows, blocks, starts, matrix), 2 * matrix)
        assert torch.equal(map_part_rows(_rows, blocks, starts, matrix), 2 * matrix)


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 50])
def test_row_by_row_is_as_at_once(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focusedcleaner.engine.parallel.PART", 8)
    monkeypatch.setattr("focusedcleaner.engine.parallel.SMALL_PART", 2)
    left, right = torch.rand(rows, 3), torch.rand(rows, 2)
    with computing(3):
        assert torch.equal(by_rows(lambda part: part.softmax(1), left), left.softmax(1))
        chosen = torch.arange(rows - 1, -1, -3)
        assert torch.equal(rows_of(left, chosen), left[chosen])
        assert torch.equal(beside(left, right, left), torch.cat([left, right, left], 1))


@pytest.mark.parametrize("wrong", [0, 3, 9])
def test_an_error_ends_the_map_and_no_thread_goes_on(wrong: int) -> None:
    begun: list[int] = []

    def kernel(block: int) -> None:
        begun.append(block)
        if block == wrong:
            raise ZeroDivisionError
        time.sleep(0.001)

    with computing(2):
        with pytest.raises(ZeroDivisionError):
            map_blocks(kernel, range(10_000))
        assert len(begun) < 10_000
        assert map_blocks(abs, [-1, -2, -3]) == [1, 2, 3]


def test_a_kernel_of_a_kernel_is_computed_by_its_thread() -> None:
    def inner(_: int) -> str:
        return threading.current_thread().name

    def outer(_: int) -> set[str]:
        assert current_executor() is not whole
        return set(map_blocks(inner, range(20)))

    with computing(3):
        whole = current_executor()
        assert all(len(names) == 1 for names in map_blocks(outer, range(9)))
