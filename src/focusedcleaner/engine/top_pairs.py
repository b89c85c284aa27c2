"""The best pair among all N² of them, without ever holding N² numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from focusedcleaner.graph import BoolArray, FloatArray, IntArray, no_pairs

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


NONE = Excluded(no_pairs())
"""Nothing but self-loops and the second direction of each pair."""


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


def best_pairs(front: Tensor, back: Tensor, excluded: Excluded, count: int) -> tuple[IntArray, FloatArray]:
    """The ``count`` pairs u < v of largest front_u·back_v that are not excluded, or as many as there are.

    Pairs are screened in single precision, block by block; a few more than asked for are computed again in double
    precision, which decides.

    Returns:
        The pairs (n × 2) and their values, largest first; of equal pairs the first.
    """
    wanted = count + ROWS
    pairs, values = torch.empty(0, 2, dtype=torch.long), torch.empty(0)
    for start, block in _screened(front.float(), back.float(), excluded):
        places = _places_of_largest(block, wanted, float(values[-1]) if len(values) == wanted else -torch.inf)
        found = torch.stack([places // block.shape[1], places % block.shape[1]], 1) + start
        pairs, values = torch.cat([pairs, found]), torch.cat([values, block.flatten()[places]])
        values, kept = values.topk(min(wanted, len(values)))
        pairs = pairs[kept]
    exact = (front[pairs[:, 0]] * back[pairs[:, 1]]).sum(1).numpy()
    order = np.lexsort((pairs[:, 1].numpy(), pairs[:, 0].numpy(), -exact))[:count]
    return pairs.numpy()[order], exact[order]


def _places_of_largest(block: Tensor, wanted: int, least: float) -> Tensor:
    """Where a block's largest values are, above −∞ and not below ``least``: at most so many.

    As many rows as wanted have a maximum that is not below the last of these maxima: what is smaller needs no sorting.
    """
    flat = block.flatten()
    if len(block) >= wanted:
        least = max(least, float(block.amax(1).topk(wanted).values[-1]))
    places = torch.arange(len(flat)) if least == -torch.inf else (flat >= least).nonzero().ravel()
    best = flat[places].topk(min(wanted, len(places)))
    return places[best.indices[best.values > -torch.inf]]


def pairs_above(
    front: Tensor, back: Tensor, threshold: float, always: IntArray
) -> tuple[IntArray, NDArray[np.float32]]:
    """The pairs u < v with front_u·back_v above the threshold, and these values, in single precision.

    Args:
        front: N × r.
        back: N × r.
        threshold: what a pair must exceed.
        always: P × 2, sorted: pairs that are given in any case.

    Returns:
        The pairs, sorted, and their values.
    """
    pairs, values = [], []
    for start, block in _screened(front.float(), back.float(), NONE):
        stop = start + len(block)
        here = always[slice(*np.searchsorted(always[:, 0], (start, stop)))] - start
        wanted = block > threshold
        wanted[torch.from_numpy(here[:, 0]), torch.from_numpy(here[:, 1])] = True
        places = wanted.nonzero()
        pairs.append(places.numpy() + start)
        values.append(block[places[:, 0], places[:, 1]].numpy())
    return np.concatenate(pairs), np.concatenate(values)


def largest_value(front: Tensor, back: Tensor, excluded: Excluded, rank: int) -> float:
    """The value of front_u·back_v at the pair of that rank, or at the last pair where it is above 0; 1 if none is."""
    best = torch.empty(0)
    for _, block in _screened(front.float(), back.float(), excluded):
        positive = block[block > 0]
        best = torch.cat([best, positive.topk(min(rank, len(positive))).values])
        best = best.topk(min(rank, len(best))).values
    return float(best[-1]) if len(best) else 1.0


def _promising_rows(front: Tensor, back: Tensor, excluded: Excluded) -> IntArray:
    """The rows with the largest maxima, in ascending order; rows without any pair are left out."""
    best = torch.cat([block.amax(1) for _, block in _screened(front, back, excluded)])
    values, rows = best.topk(min(ROWS, len(best)))
    return np.sort(rows[values > -torch.inf].numpy())


def _screened(front: Tensor, back: Tensor, excluded: Excluded) -> Iterator[tuple[int, Tensor]]:
    """Blocks of front·backᵀ, excluded pairs at −∞: the first row, which is also the first column, and the block."""
    for start, stop in _blocks(len(front)):
        block = front[start:stop] @ back[start:].T
        excluded.mask(block, np.arange(start, stop), start)
        yield start, block


def _blocks(num_nodes: int) -> Iterator[tuple[int, int]]:
    """Rows cut so that each block of the upper triangle has about `BLOCK` pairs."""
    start = 0
    while start < num_nodes:
        stop = min(num_nodes, start + max(1, BLOCK // (num_nodes - start)))
        yield start, stop
        start = stop


def spread(pairs: IntArray, size: int, most: int) -> IntArray:
    """The first ``size`` pairs of which no node has more than ``most``."""
    taken: dict[int, int] = {}
    chosen = []
    for u, v in pairs.tolist():
        if taken.get(u, 0) < most and taken.get(v, 0) < most:
            taken[u], taken[v] = taken.get(u, 0) + 1, taken.get(v, 0) + 1
            chosen.append((u, v))
        if len(chosen) == size:
            break
    return np.array(chosen, dtype=np.int64).reshape(-1, 2)
