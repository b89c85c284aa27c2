"""Search all N² pairs u < v for the largest products front_u·back_v, one block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from focusedcleaner.graph import BoolArray, FloatArray, IntArray, no_pairs

BLOCK = 4_000_000
"""Pairs per block: 16 MB in single precision."""
ROWS = 32
"""Rows, or surplus pairs, that are recomputed in double precision."""


@dataclass(frozen=True)
class Excluded:
    """Pairs that must not be chosen.

    Args:
        pairs: P × 2 node numbers, the smaller first, sorted.
        groups: the group of each of N nodes, if `allowed` is given.
        allowed: K × K, whether a pair of nodes of these two groups may be chosen.
    """

    pairs: IntArray
    groups: IntArray | None = None
    allowed: BoolArray | None = None

    def mask(self, block: Tensor, rows: IntArray, first: int) -> None:
        """Set excluded pairs to −∞ in a block with the given rows and the columns from ``first`` on."""
        columns = np.arange(first, first + block.shape[1])
        if self.groups is not None and self.allowed is not None:
            forbidden = ~self.allowed[self.groups[rows]][:, self.groups[columns]]
            block.masked_fill_(torch.from_numpy(forbidden), -torch.inf)
        begin, end = (np.searchsorted(self.pairs[:, 0], rows, side) for side in ("left", "right"))
        row = np.repeat(np.arange(len(rows)), end - begin)
        offset = np.arange(len(row)) - np.repeat(np.cumsum(end - begin) - (end - begin), end - begin)
        column = self.pairs[begin[row] + offset, 1]
        block[torch.from_numpy(row), torch.from_numpy(column - first)] = -torch.inf
        width = min(int(rows[-1]) + 1 - first, block.shape[1])
        below = torch.from_numpy(columns[:width] <= rows[:, None])
        block[:, :width].masked_fill_(below, -torch.inf)


def best_pair(front: Tensor, back: Tensor, excluded: Excluded) -> tuple[tuple[int, int], float] | None:
    """Return the pair with the largest product and that product; None if every pair is excluded.

    Rows are screened in single precision; those with the largest maxima are recomputed in double precision. Ties go to
    the first pair.
    """
    maxima = torch.cat([block.amax(1) for _, block in _screened(front, back, excluded)])
    largest = maxima.topk(min(ROWS, len(maxima)))
    rows = np.sort(largest.indices[largest.values > -torch.inf].numpy())
    if not len(rows):
        return None
    first = int(rows[0])
    block = front[torch.from_numpy(rows)] @ back[first:].T
    excluded.mask(block, rows, first)
    row, column = divmod(int(block.argmax()), block.shape[1])
    return (int(rows[row]), first + column), float(block[row, column])


def best_pairs(front: Tensor, back: Tensor, excluded: Excluded, count: int) -> tuple[IntArray, FloatArray]:
    """Return the ``count`` pairs with the largest products (n × 2), largest first, and these products.

    There are fewer if fewer are not excluded. Ties are in the order of the pairs. Pairs are screened in single
    precision; `ROWS` more than requested are recomputed in double precision.
    """
    wanted = count + ROWS
    pairs, values = torch.empty(0, 2, dtype=torch.long), torch.empty(0)
    for start, block in _screened(front, back, excluded):
        places = _largest_places(block, wanted, float(values[-1]) if len(values) == wanted else -torch.inf)
        new = torch.stack([places // block.shape[1], places % block.shape[1]], 1) + start
        pairs, values = torch.cat([pairs, new]), torch.cat([values, block.flatten()[places]])
        values, kept = values.topk(min(wanted, len(values)))
        pairs = pairs[kept]
    exact = (front[pairs[:, 0]] * back[pairs[:, 1]]).sum(1).numpy()
    order = np.lexsort((pairs[:, 1].numpy(), pairs[:, 0].numpy(), -exact))[:count]
    return pairs.numpy()[order], exact[order]


def _largest_places(block: Tensor, wanted: int, least: float) -> Tensor:
    """Return the flat indices of a block's ``wanted`` largest values among those above −∞ and not below ``least``.

    The ``wanted`` largest row maxima are all at least the smallest of them, so smaller values need no sorting.
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
    """Return the pairs with a product above the threshold and those of ``always`` (P × 2, sorted), in order, and their
    products in single precision."""
    pairs, values = [], []
    for start, block in _screened(front, back, Excluded(no_pairs())):
        stop = start + len(block)
        forced = always[slice(*np.searchsorted(always[:, 0], (start, stop)))] - start
        selected = block > threshold
        selected[torch.from_numpy(forced[:, 0]), torch.from_numpy(forced[:, 1])] = True
        places = selected.nonzero()
        pairs.append(places.numpy() + start)
        values.append(block[places[:, 0], places[:, 1]].numpy())
    return np.concatenate(pairs), np.concatenate(values)


def products_at(front: Tensor, back: Tensor, pairs: IntArray) -> NDArray[np.float32]:
    """Return front_u·back_v for each of P × 2 pairs, in single precision and in batches that fit into memory.

    >>> products_at(torch.eye(2), torch.eye(2), np.array([[0, 1], [1, 1]]))
    array([0., 1.], dtype=float32)
    """
    front, back = front.float(), back.float()
    batches = torch.from_numpy(pairs).split(max(1, BLOCK // front.shape[1]))
    parts = [(front.index_select(0, batch[:, 0]) * back.index_select(0, batch[:, 1])).sum(1) for batch in batches]
    values: NDArray[np.float32] = torch.cat(parts).numpy()
    return values


def largest_value(front: Tensor, back: Tensor, excluded: Excluded, rank: int) -> float:
    """Return the product of the given rank, or the smallest positive one if fewer are positive; 1 if none is."""
    best = torch.empty(0)
    for _, block in _screened(front, back, excluded):
        positive = block[block > 0]
        best = torch.cat([best, positive.topk(min(rank, len(positive))).values])
        best = best.topk(min(rank, len(best))).values
    return float(best[-1]) if len(best) else 1.0


def _screened(front: Tensor, back: Tensor, excluded: Excluded) -> Iterator[tuple[int, Tensor]]:
    """Yield blocks of the upper triangle of front·backᵀ in single precision, with about `BLOCK` pairs each.

    Excluded pairs are −∞. Each block comes with its first row, which is also its first column.
    """
    front, back = front.float(), back.float()
    start = 0
    while start < len(front):
        stop = min(len(front), start + max(1, BLOCK // (len(front) - start)))
        block = front[start:stop] @ back[start:].T
        excluded.mask(block, np.arange(start, stop), start)
        yield start, block
        start = stop


def spread(pairs: IntArray, size: int, most: int) -> IntArray:
    """Return the first ``size`` pairs such that no node is in more than ``most`` of them."""
    taken: dict[int, int] = {}
    chosen = []
    for u, v in pairs.tolist():
        if taken.get(u, 0) < most and taken.get(v, 0) < most:
            taken[u], taken[v] = taken.get(u, 0) + 1, taken.get(v, 0) + 1
            chosen.append((u, v))
        if len(chosen) == size:
            break
    return np.array(chosen, dtype=np.int64).reshape(-1, 2)
