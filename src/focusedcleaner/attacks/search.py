"""The best pair among all N² of them, without ever holding N² numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.graph import BoolArray, IntArray

BLOCK = 4_000_000
"""Pairs that are looked at together: 16 MB in single precision."""
ROWS = 32
"""Rows that are looked at again in double precision."""


@dataclass(frozen=True)
class Excluded:
    """Pairs that must not be chosen.

    Args:
        pairs: P × 2 node numbers, the smaller first, sorted.
        groups: the group of each of N nodes, where `allowed` is given.
        allowed: K × K, whether a pair of nodes of these groups may be chosen.
    """

    pairs: IntArray
    groups: IntArray | None = None
    allowed: BoolArray | None = None

    def mask(self, block: Tensor, rows: IntArray, first: int) -> None:
        """Write −∞ over excluded pairs in a block: the given rows, and the columns from ``first`` on."""
        columns = np.arange(first, first + block.shape[1])
        if self.groups is not None and self.allowed is not None:
            wrong = ~self.allowed[self.groups[rows]][:, self.groups[columns]]
            block.masked_fill_(torch.from_numpy(wrong), -torch.inf)
        begin, end = (np.searchsorted(self.pairs[:, 0], rows, side) for side in ("left", "right"))
        row = np.repeat(np.arange(len(rows)), end - begin)
        which = np.arange(len(row)) - np.repeat(np.cumsum(end - begin) - (end - begin), end - begin)
        column = self.pairs[begin[row] + which, 1]
        block[torch.from_numpy(row), torch.from_numpy(column - first)] = -torch.inf
        width = min(int(rows[-1]) + 1 - first, block.shape[1])
        below = torch.from_numpy(columns[:width] <= rows[:, None])
        block[:, :width].masked_fill_(below, -torch.inf)


def best_pair(front: Tensor, back: Tensor, excluded: Excluded) -> tuple[tuple[int, int], float] | None:
    """The pair u < v of largest front_u·back_v that is not excluded, and that value; None where all are.

    Rows are screened in single precision, block by block; those with the largest maxima are computed again in double
    precision. Of equal pairs the first is taken.
    """
    rows = _promising_rows(front.float(), back.float(), excluded)
    if not len(rows):
        return None
    first = int(rows[0])
    block = front[torch.from_numpy(rows)] @ back[first:].T
    excluded.mask(block, rows, first)
    place = int(block.argmax())
    row, column = divmod(place, block.shape[1])
    return (int(rows[row]), first + column), float(block[row, column])


def _promising_rows(front: Tensor, back: Tensor, excluded: Excluded) -> IntArray:
    """The rows with the largest maxima, in ascending order; rows without any pair are left out."""
    best = torch.cat([_maxima(front, back, excluded, start, stop) for start, stop in _blocks(len(front))])
    values, rows = best.topk(min(ROWS, len(best)))
    return np.sort(rows[values > -torch.inf].numpy())


def _maxima(front: Tensor, back: Tensor, excluded: Excluded, start: int, stop: int) -> Tensor:
    block = front[start:stop] @ back[start:].T
    excluded.mask(block, np.arange(start, stop), start)
    return block.amax(1)


def _blocks(num_nodes: int) -> Iterator[tuple[int, int]]:
    """Rows cut so that each block of the upper triangle has about `BLOCK` pairs."""
    start = 0
    while start < num_nodes:
        stop = min(num_nodes, start + max(1, BLOCK // (num_nodes - start)))
        yield start, stop
        start = stop
