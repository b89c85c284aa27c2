"""LinkPred: victims are the nodes at an edge that a link predictor finds unlikely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from focusedcleaner.detectors import mlp
from focusedcleaner.detectors.base import Detector, Memory, Victims, View
from focusedcleaner.engine import Pairs
from focusedcleaner.errors import InputError


@dataclass(frozen=True)
class LinkPred(Detector):
    """H₃ = σ(H₂·H₂^T), H₂ = ReLU([Z | softmax(PCA(X)/T)]·w₁ + b₁)·w₂ + b₂; a victim has an edge with H₃ < τ_lp.

    Trained with class-balanced binary cross-entropy on the edges and as many sampled pairs as ``negatives`` times their
    number, each side weighing one half, as reweighting all N² pairs would. τ_lp maximizes the G-mean on the ROC curve.
    From "FocusedCleaner", Section 6.4.2; the paper's "all edges below" is read as "at least one".

    Args:
        temperature: T of the attributes' softmax.
        hidden: width of both layers.
        rate: Adam's.
        negatives: sampled pairs per edge.
        first_epochs: epochs of training in the first step.
        epochs: epochs in each later step, from the weights of the step before.
    """

    name: ClassVar[str] = "linkpred"

    temperature: float = 2.0
    hidden: int = 32
    rate: float = 1e-2
    negatives: float = 1.0
    first_epochs: int = 300
    epochs: int = 5

    def __post_init__(self) -> None:
        if min(self.temperature, self.rate, self.negatives) <= 0 or min(self.hidden, self.first_epochs) < 1:
            raise InputError("LinkPred's temperature, rate, negatives, width and epochs must be positive")

    def victims(self, view: View, memory: Memory) -> Victims:
        likely, unlikely, learnt = self.probabilities(view, memory)
        threshold = g_mean_threshold(likely, unlikely)
        doubt = torch.zeros(view.structure.num_nodes, dtype=likely.dtype, device=likely.device)
        for end in view.structure.ends[:, view.structure.alive]:
            doubt.scatter_reduce_(0, end, 1 - likely, "amax")
        return Victims.above(doubt, 1 - threshold, learnt)

    def probabilities(self, view: View, memory: Memory) -> tuple[Tensor, Tensor, Memory]:
        """H₃ of the edges that are there, in their order, and of the sampled pairs; and what was learnt."""
        inputs = self._inputs(view)
        edges = view.structure.ends[:, view.structure.alive]
        others = self._other_pairs(view.structure.num_nodes, edges, view.seed)
        ends = torch.cat([edges, others], 1).cpu().numpy()
        pairs = Pairs(view.structure.num_nodes, ends, dtype=inputs.dtype, device=inputs.device)

        def logits(outputs: Tensor) -> tuple[Tensor, Tensor]:
            """H₂ᵤ·H₂ᵥ of the edges and of the other pairs."""
            dots = pairs.dots(outputs, outputs) / 2
            return dots[: edges.shape[1]], dots[edges.shape[1] :]

        def slope(outputs: Tensor) -> Tensor:
            """Of the balanced cross-entropy: each dot product pulls its two ends along each other."""
            rows = outputs.T.contiguous()
            attracted, repelled = (torch.sigmoid(part) for part in logits(rows))
            pull = torch.cat([(attracted - 1) / (2 * len(attracted)), repelled / (2 * max(len(repelled), 1))])
            return pairs.weighted_sum(pull, rows).T

        start = memory or mlp.fresh(len(inputs), self.hidden, self.hidden, seed=view.seed, device=inputs.device)
        epochs = self.epochs if memory else self.first_epochs
        learnt = mlp.train(start, inputs, slope, epochs=epochs, rate=self.rate)
        outputs = mlp.apply(inputs, learnt).T.contiguous()
        likely, unlikely = (torch.sigmoid(part) for part in logits(outputs))
        return likely, unlikely, learnt

    def _inputs(self, view: View) -> Tensor:
        """[Z | softmax(PCA(X)/T)] with a column per node."""
        columns = [view.logits]
        if view.reduced is not None:
            columns.append(torch.softmax(view.reduced / self.temperature, 1))
        return torch.cat(columns, 1).T.float().contiguous()

    def _other_pairs(self, num_nodes: int, edges: Tensor, seed: int) -> Tensor:
        """Random pairs of different nodes that are no edge, 2 × about ``negatives``·E."""
        generator = torch.Generator().manual_seed(seed)
        wanted = math.ceil(self.negatives * edges.shape[1])
        pairs = torch.randint(num_nodes, (2, wanted), generator=generator).to(edges.device)
        smaller, larger = torch.minimum(*pairs), torch.maximum(*pairs)
        keys, there = smaller * num_nodes + larger, edges[0] * num_nodes + edges[1]  # edges are sorted
        place = torch.searchsorted(there, keys).clamp_max(len(there) - 1)
        return torch.stack([smaller, larger])[:, (smaller != larger) & (there[place] != keys)]


def g_mean_threshold(positive: Tensor, negative: Tensor) -> Tensor:
    """The threshold t that maximizes √(TPR·TNR), where p ≥ t is called an edge, among the probabilities that occur.

    >>> g_mean_threshold(torch.tensor([0.9, 0.6, 0.2]), torch.tensor([0.1, 0.3]))
    tensor(0.6000)
    """
    candidates = torch.cat([positive, negative]).sort().values
    positive, negative = positive.sort().values, negative.sort().values
    hits = 1 - torch.searchsorted(positive, candidates) / max(len(positive), 1)
    rejections = torch.searchsorted(negative, candidates) / max(len(negative), 1)
    return candidates[(hits * rejections).argmax()]
