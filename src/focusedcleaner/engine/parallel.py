"""Computing block by block: in this thread, in several threads, or on other machines.

A *kernel* is a function of one block and of what all blocks share. It is computed with one thread, whoever computes it,
and results come back in the order of the blocks: the same digits for any number of threads or workers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from focusedcleaner.errors import InputError

PART = 2**15
"""Rows of a dense matrix that are computed at once."""

B = TypeVar("B")
R = TypeVar("R")


class Executor(Protocol):
    """Computes kernels on blocks."""

    def map(self, kernel: Callable[..., R], blocks: Sequence[B], *shared: Any) -> list[R]:
        """Return kernel(block, *shared) of every block, in their order."""


class Threads:
    """Computes kernels in ``count`` threads of this process; with one, or for one block, in the calling thread."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,)) if count > 1 else None

    def map(self, kernel: Callable[..., R], blocks: Sequence[B], *shared: Any) -> list[R]:
        if self._pool is None or len(blocks) < 2:
            return [kernel(block, *shared) for block in blocks]
        return list(self._pool.map(lambda block: kernel(block, *shared), blocks))

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()


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
    return (_local.get() or _ONE).map(kernel, parts, *shared)


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
