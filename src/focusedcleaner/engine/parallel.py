"""Computing block by block: in this thread, in several threads, or on other machines.

A *kernel* is a function of one block and of what all blocks share. It is computed with one thread, whoever computes it,
and results come back in the order of the blocks: the same digits for any number of threads or workers.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context, ContextVar
from typing import Any, Protocol, TypeVar

import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from focusedcleaner.errors import InputError

PART = 2**15
"""Rows of a dense matrix that are computed at once."""
SMALL_PART = 2**12
"""The same for matrices with a row per training example, in graphs of several blocks."""

B = TypeVar("B")
R = TypeVar("R")


class Executor(Protocol):
    """Computes kernels on blocks."""

    def map(self, kernel: Callable[..., R], blocks: Sequence[B], *shared: Any) -> list[R]:
        """Return kernel(block, *shared) of every block, in their order."""


class Threads:
    """Computes kernels in ``count`` threads of this process, the calling one among them; one block in that alone."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count - 1, initializer=_no_threads_of_its_own) if count > 1 else None

    def map(self, kernel: Callable[..., R], blocks: Sequence[B], *shared: Any) -> list[R]:
        if self._pool is None or len(blocks) < 2:
            return [kernel(block, *shared) for block in blocks]
        results: list[Any] = [None] * len(blocks)
        numbers = iter(range(len(blocks)))  # each number is handed out once, by the interpreter's own lock

        def work() -> None:
            try:
                for number in numbers:
                    results[number] = kernel(blocks[number], *shared)
            finally:  # after an error no thread begins another block
                deque(numbers, maxlen=0)

        helpers = [self._pool.submit(work) for _ in range(min(self.count, len(blocks)) - 1)]
        try:
            Context().run(work)  # as in the other threads, a kernel's own blocks are computed by one
        finally:
            wait(helpers)
        for helper in helpers:
            helper.result()
        return results

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()


def _no_threads_of_its_own() -> None:
    """Let libraries compute with one thread in the calling one; what they count as theirs is kept by thread."""
    torch.set_num_threads(1)
    threadpool_limits(1)


_ONE = Threads(1)
_current: ContextVar[Executor | None] = ContextVar("executor", default=None)
_local: ContextVar[Threads | None] = ContextVar("threads", default=None)


def current_executor() -> Executor:
    """The executor of the innermost `computing`; one thread outside of it."""
    return _current.get() or _ONE


def map_blocks(kernel: Callable[..., R], blocks: Sequence[B], *shared: Any) -> list[R]:
    """Return kernel(block, *shared) of every block, in their order, by the `current_executor`.

    >>> map_blocks(lambda block, factor: factor * block, [1, 2, 3], 10)
    [10, 20, 30]
    """
    return current_executor().map(kernel, blocks, *shared)


def map_rows(kernel: Callable[..., Tensor], blocks: Sequence[B], starts: Sequence[int], *shared: Any) -> Tensor:
    """As `map_blocks`, for a kernel that returns some rows of one result: those from ``starts[i]`` for block i.

    Threads copy their rows to their place at once, while they are in the processor's cache.

    >>> map_rows(lambda block, factor: factor * torch.ones(block), [1, 2], [0, 1, 3], 10)
    tensor([10., 10., 10.])
    """
    return _rows(current_executor(), kernel, blocks, starts, *shared)


def map_part_rows(kernel: Callable[..., Tensor], parts: Sequence[B], starts: Sequence[int], *shared: Any) -> Tensor:
    """As `map_rows`, but always in threads of this process."""
    return _rows(_threads(), kernel, parts, starts, *shared)


def _rows(
    executor: Executor, kernel: Callable[..., Tensor], blocks: Sequence[B], starts: Sequence[int], *shared: Any
) -> Tensor:
    if len(blocks) == 1:
        return kernel(blocks[0], *shared)
    rows = _Rows(starts)
    if isinstance(executor, Threads):
        executor.map(lambda number: rows.put(number, kernel(blocks[number], *shared)), range(len(blocks)))
    else:
        parts = executor.map(kernel, blocks, *shared)
        map_parts(lambda number: rows.put(number, parts[number]), range(len(blocks)))
    return rows.whole


class _Rows:
    """The rows of a result, by blocks; its width is that of the block which comes first."""

    whole: Tensor

    def __init__(self, starts: Sequence[int]) -> None:
        self._starts, self._lock, self._begun = starts, threading.Lock(), False

    def put(self, number: int, part: Tensor) -> None:
        with self._lock:
            if not self._begun:
                self.whole, self._begun = part.new_empty((self._starts[-1], *part.shape[1:])), True
        self.whole[self._starts[number] : self._starts[number + 1]] = part


def joined(parts: list[Tensor]) -> Tensor:
    """Put the rows of all blocks together; those of one block are not copied."""
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def summed(parts: list[Tensor]) -> Tensor:
    """Add the results of all blocks, in their order."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def map_parts(kernel: Callable[..., R], parts: Sequence[B], *shared: Any) -> list[R]:
    """As `map_blocks`, but always in threads of this process: for dense matrices that are here anyway."""
    return _threads().map(kernel, parts, *shared)


def _threads() -> Threads:
    return _local.get() or _ONE


def by_rows(kernel: Callable[..., Tensor], *matrices: Tensor) -> Tensor:
    """Return kernel(*matrices) for a kernel that computes each row by itself, `PART` rows at a time in threads.

    >>> by_rows(torch.add, torch.ones(2), torch.ones(2))
    tensor([2., 2.])
    """
    size = len(matrices[0])
    if size <= PART:
        return kernel(*matrices)
    starts = [*range(0, size, PART), size]
    parts = [*zip(*(matrix.split(PART) for matrix in matrices), strict=True)]
    return _rows(_threads(), _unpacked, parts, starts, kernel)


def _unpacked(part: tuple[Tensor, ...], kernel: Callable[..., Tensor]) -> Tensor:
    return kernel(*part)


def rows_of(matrix: Tensor, rows: Tensor) -> Tensor:
    """Return some rows of a matrix, by their numbers.

    >>> rows_of(torch.arange(4.0).view(2, 2), torch.tensor([1]))
    tensor([[2., 3.]])
    """
    starts = [*range(0, max(len(rows), 1), SMALL_PART), len(rows)]
    return _rows(_threads(), matrix.__getitem__, rows.split(SMALL_PART), starts)


def beside(*matrices: Tensor) -> Tensor:
    """Put matrices with equally many rows beside each other.

    >>> beside(torch.zeros(1, 1), torch.ones(1, 2))
    tensor([[0., 1., 1.]])
    """
    return by_rows(_beside, *matrices)


def _beside(*parts: Tensor) -> Tensor:
    return torch.cat(parts, 1)


def checked_threads(threads: int | None) -> int:
    """The number of threads to use: the cores of this machine that the process may use, unless it is given."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise InputError(f"threads must be at least 1, not {threads}")
    return threads


@contextmanager
def computing(threads: int | None = 1, executor: Executor | None = None) -> Iterator[None]:
    """Compute blocks with this many threads, or by another executor; all else with one thread.

    A blocked matrix product of a library splits its sums by thread; the last digits, and with them the order of two
    nearly equal edges, would change. Our own blocks don't depend on the number of threads.
    """
    own = Threads(checked_threads(threads))
    tokens = _current.set(executor or own), _local.set(own)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)
        _current.reset(tokens[0])
        _local.reset(tokens[1])
        own.close()


def one_thread() -> AbstractContextManager[None]:
    """Compute with one thread, so that results do not depend on the number of cores."""
    return computing(1)
