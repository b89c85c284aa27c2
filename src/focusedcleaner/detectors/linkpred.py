"""LinkPred: victims are nodes with an edge that a link predictor finds unlikely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.detectors import mlp
from focusedcleaner.detectors.base import Detector, Memory, Victims, View
from focusedcleaner.engine import Pairs
from focusedcleaner.engine.blocks import RowBlock
from focusedcleaner.engine.parallel import SMALL_PART, by_rows, map_part_rows, map_parts, map_rows, rows_of
from focusedcleaner.engine.sparse import csr_tensor
from focusedcleaner.graph import IntArray, pair_keys
from focusedcleaner.settings import bounded

SAMPLED_EDGES, THRESHOLD_EDGES = 2**13, 2**15
"""Edges that the predictor is trained on, and those that its threshold is chosen by, where a graph has several blocks
of rows."""
FALLBACK_SHARE = 0.1
"""Share of the edges whose endpoints are victims if no edge is below the threshold."""


@dataclass(frozen=True)
class LinkPred(Detector):
    """Predicts links by H₃ = σ(H₂·H₂^T), H₂ = w₂·ReLU(w₁·[Z | softmax(PCA(X)/T)] + b₁) + b₂ (Eq. 15).

    Victims have an edge with H₃ < τ_lp (Eq. 16, where "all edges below" is read as "at least one").

    If no edge is below it, victims are the nodes at the least likely tenth of the edges.

    Trained with balanced binary cross-entropy on the edges and ``negatives`` sampled pairs per edge; each class weighs
    one half, as reweighting all N² pairs would do. τ_lp maximizes the G-mean on the ROC curve. From
    "FocusedCleaner", Section 6.4.2.

    Args:
        temperature: T of the softmax of the attributes.
        hidden: width of both layers.
        rate: Adam's learning rate.
        negatives: sampled pairs per edge.
        first_epochs: training epochs in the first step.
        epochs: training epochs in later steps, from the previous step's weights.
    """

    name: ClassVar[str] = "linkpred"

    temperature: float = bounded(2.0, "(0, inf)")
    hidden: int = bounded(32, "[1, 10000]")
    rate: float = bounded(1e-2, "(0, inf)")
    negatives: float = bounded(1.0, "(0, 1000]")
    first_epochs: int = bounded(300, "[1, 100000]")
    epochs: int = bounded(5, "[0, 100000]")

    def victims(self, view: View, memory: Memory) -> Victims:
        structure = view.structure
        positive, negative, weights = self.probabilities(view, memory)
        remaining = structure.alive.nonzero().squeeze(1)
        judged = remaining if len(structure.blocks) == 1 else _sample(remaining, THRESHOLD_EDGES, view.seed)
        doubts = by_rows(_one_minus, positive)
        doubt = structure.largest_at_nodes(doubts)
        limit = 1 - g_mean_threshold(positive[judged], negative)
        if not (doubt > limit).any():
            least = doubts[remaining].sort(descending=True).values[int(FALLBACK_SHARE * len(remaining))]
            limit = torch.nextafter(least, least.new_tensor(-torch.inf))
        return Victims.above(doubt, limit, weights)

    def probabilities(self, view: View, memory: Memory) -> tuple[Tensor, Tensor, Memory]:
        """Train; return H₃ of every edge (E values; any number for a removed one), H₃ of the sampled pairs, and the new
        memory."""
        structure = view.structure
        if len(structure.blocks) > 1:
            return self._probabilities_by_sample(view, memory)
        inputs = self._inputs(*_parts_of(view))
        edges = structure.ends[:, structure.alive].numpy()
        num_edges = edges.shape[1]
        sampled = self._sampled_pairs(structure.num_nodes, edges, view.seed)
        pairs = Pairs(structure.num_nodes, np.concatenate([edges, sampled], axis=1), dtype=inputs.dtype)
        weights = mlp.train(
            self._start(len(inputs), view.seed, memory),
            [inputs],
            lambda outputs: [balanced_bce_gradient(pairs, num_edges, outputs[0].T.contiguous()).T],
            epochs=self.epochs if memory else self.first_epochs,
            rate=self.rate,
        )
        outputs = mlp.apply(inputs, weights).T.contiguous()
        positive, negative = link_probabilities(pairs, num_edges, outputs)
        every = positive.new_full((structure.num_edges,), torch.nan)
        every[structure.alive] = positive
        return every, negative, weights

    def _probabilities_by_sample(self, view: View, memory: Memory) -> tuple[Tensor, Tensor, Memory]:
        """Train on `SAMPLED_EDGES` of the remaining edges and as many other pairs; return H₃ of all edges."""
        structure = view.structure
        edges = structure.ends[:, _sample(structure.alive.nonzero().squeeze(1), SAMPLED_EDGES, view.seed)].numpy()
        sampled = self._sampled_pairs(structure.num_nodes, edges, view.seed)
        nodes, ends = np.unique(np.concatenate([edges, sampled], axis=1), return_inverse=True)
        pairs = Pairs(len(nodes), ends.reshape(2, -1), dtype=torch.float32)
        inputs = self._inputs(*(rows_of(part, torch.from_numpy(nodes)) for part in _parts_of(view)))
        weights = mlp.train(
            self._start(len(inputs), view.seed, memory),
            [part.contiguous() for part in inputs.split(SMALL_PART, 1)],
            PairParts(pairs, edges.shape[1], SMALL_PART).gradient,
            epochs=self.epochs if memory else self.first_epochs,
            rate=self.rate,
        )
        _, negative = link_probabilities(pairs, edges.shape[1], mlp.apply(inputs, weights).T.contiguous())

        def outputs_of(*parts: Tensor) -> Tensor:
            return mlp.apply(self._inputs(*parts), weights).T.contiguous()

        outputs = by_rows(outputs_of, *_parts_of(view))
        return map_rows(_link_probabilities, structure.blocks, structure.edge_starts, outputs), negative, weights

    def _start(self, num_inputs: int, seed: int, memory: Memory) -> Memory:
        return memory or mlp.initial_weights(num_inputs, self.hidden, self.hidden, seed=seed)

    def _inputs(self, logits: Tensor, reduced: Tensor | None = None) -> Tensor:
        """Return [Z | softmax(PCA(X)/T)] with a column per node."""
        columns = [logits]
        if reduced is not None:
            columns.append(torch.softmax(reduced / self.temperature, 1))
        return torch.cat(columns, 1).T.float().contiguous()

    def _sampled_pairs(self, num_nodes: int, edges: IntArray, seed: int) -> IntArray:
        """Draw random pairs of different nodes without an edge, 2 × about ``negatives``·E."""
        generator = torch.Generator().manual_seed(seed)
        drawn = torch.randint(num_nodes, (2, math.ceil(self.negatives * edges.shape[1])), generator=generator)
        pairs = np.sort(drawn.numpy(), axis=0)
        is_edge = np.isin(pair_keys(pairs.T, num_nodes), pair_keys(edges.T, num_nodes))
        return pairs[:, (pairs[0] != pairs[1]) & ~is_edge]


def _sample(values: Tensor, size: int, seed: int) -> Tensor:
    """Draw about ``size`` of the values, in their order; all, if there are no more."""
    if len(values) <= size:
        return values
    drawn = torch.randint(len(values), (size,), generator=torch.Generator().manual_seed(seed))
    return values[drawn.unique()]


def _parts_of(view: View) -> tuple[Tensor, ...]:
    """What a link predictor sees of the nodes: logits and, with attributes, their first principal components."""
    return (view.logits,) if view.reduced is None else (view.logits, view.reduced)


def _one_minus(values: Tensor) -> Tensor:
    return 1 - values


def _link_probabilities(block: RowBlock, outputs: Tensor) -> Tensor:
    return torch.sigmoid(block.edge_products(outputs[block.start : block.stop], outputs))


class PairParts:
    """`balanced_bce_gradient` of pairs in parts of ``size`` nodes: each pair is computed at both ends."""

    def __init__(self, pairs: Pairs, num_edges: int, size: int) -> None:
        crow, columns = pairs.matrix.crow_indices(), pairs.matrix.col_indices()
        num_pairs = pairs.place.shape[1]
        target = torch.zeros_like(pairs.matrix.values()).index_fill_(0, pairs.place[:, :num_edges].ravel(), 1.0)
        weight = torch.where(target > 0, 1 / (2 * num_edges), 1 / (2 * max(num_pairs - num_edges, 1))).to(target.dtype)
        self.starts = [*range(0, len(crow) - 1, size), len(crow) - 1]
        self.parts = []
        for start, stop in pairwise(self.starts):
            entries = slice(int(crow[start]), int(crow[stop]))
            pattern = crow[start : stop + 1] - crow[start], columns[entries]
            self.parts.append((start, stop, pattern, target[entries], weight[entries]))

    def gradient(self, outputs: list[Tensor]) -> list[Tensor]:
        """Return ∂loss/∂outputs, both in parts with a column per node."""
        rows = map_part_rows(_transposed, outputs, self.starts)
        return map_parts(_pair_gradient, self.parts, rows)


def _transposed(outputs: Tensor) -> Tensor:
    return outputs.T


def _pair_gradient(part: tuple[int, int, tuple[Tensor, Tensor], Tensor, Tensor], outputs: Tensor) -> Tensor:
    start, stop, (crow, columns), target, weight = part
    shape = stop - start, len(outputs)
    ones = csr_tensor(crow, columns, torch.ones_like(weight), shape)
    dots = torch.sparse.sampled_addmm(ones, outputs[start:stop], outputs.T, beta=0.0).values()
    error = (torch.sigmoid(dots) - target) * weight
    return (csr_tensor(crow, columns, error, shape) @ outputs).T.contiguous()


def link_probabilities(pairs: Pairs, num_edges: int, outputs: Tensor) -> tuple[Tensor, Tensor]:
    """Return H₃ = σ(H₂ᵤ·H₂ᵥ) of the edges and of the other pairs (see `balanced_bce_gradient`)."""
    dots = pairs.dots(outputs, outputs) / 2
    # Two calls: the last digit of torch's vectorized sigmoid depends on the position in the tensor.
    return torch.sigmoid(dots[:num_edges]), torch.sigmoid(dots[num_edges:])


def balanced_bce_gradient(pairs: Pairs, num_edges: int, outputs: Tensor) -> Tensor:
    """Return ∂loss/∂H₂, N × r, of −½·mean over edges of log σ(H₂ᵤ·H₂ᵥ) − ½·mean over other pairs of log σ(−H₂ᵤ·H₂ᵥ).

    The first ``num_edges`` pairs are the edges; ``outputs`` is H₂.
    """
    positive, negative = link_probabilities(pairs, num_edges, outputs)
    error = torch.cat([(positive - 1) / (2 * len(positive)), negative / (2 * max(len(negative), 1))])
    return pairs.weighted(error) @ outputs


def g_mean_threshold(positive: Tensor, negative: Tensor) -> Tensor:
    """Return the threshold t, among the probabilities that occur, that maximizes √(TPR·TNR), where p ≥ t is an edge.

    >>> g_mean_threshold(torch.tensor([0.9, 0.6, 0.2]), torch.tensor([0.1, 0.3]))
    tensor(0.6000)
    """
    candidates = torch.cat([positive, negative]).sort().values
    positive, negative = positive.sort().values, negative.sort().values
    hits = 1 - torch.searchsorted(positive, candidates) / max(len(positive), 1)
    rejections = torch.searchsorted(negative, candidates) / max(len(negative), 1)
    return candidates[(hits * rejections).argmax()]
