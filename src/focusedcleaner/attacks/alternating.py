"""MinMax as published: attacker and defender take turns, one gradient step each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout

from focusedcleaner.attacks.base import ALL_PAIRS, Attack, Progress, flipped
from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.attacks.relaxed import RelaxedAscent, samples_within
from focusedcleaner.engine import Structure
from focusedcleaner.engine.operators import attributes
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.settings import bounded
from focusedcleaner.surrogate import PairGradient

EPOCHS, RATE, DECAY = 200, 0.01, 5e-4
"""The defender's training on the clean graph; its turns in the game have the same rate and no weight decay."""


@dataclass(frozen=True)
class PublishedMinMax(Attack):
    """MinMax with the published settings. In each turn t = 1 … T, the defender takes one training step and the attacker
    one step of projected gradient ascent, both on the same loss:

        W ← W − Adam(∂L/∂W),  S ← Π(S + (η/√t)·∂L/∂S),  A' = A + (1 − 2A)∘S,  S ∈ [0, 1], ΣS ≤ B,

    with L the cross-entropy of a GCN, Â'·ReLU(Â'XW₁ + b₁)·W₂ + b₂, on the training nodes (λ = 1). The GCN has been
    trained on the clean graph, and the attacker's derivative holds W fixed. The flips are the Bernoulli sample of S
    within the budget that has the largest loss. As published, the attack may isolate nodes.

    Xu, Chen, Liu, Chen, Weng, Hong, Lin: "Topology Attack and Defense for Graph Neural Networks: An Optimization
    Perspective", IJCAI 2019 (https://arxiv.org/abs/1906.04214), with the settings of DeepRobust.

    Args:
        iterations: T, the number of turns.
        rate: η, the attacker's learning rate in the first turn.
        lambda_: λ, the weight of the training nodes in the attacker's loss. The others, with the classes predicted on
            the clean graph, have 1 − λ.
        hidden: width of the GCN.
        dropout: share of hidden values dropped in the defender's turns.
        samples: number of Bernoulli samples.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = PublishedMinMax(iterations=20).poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> 0 < len(poisoning.added) + len(poisoning.removed) <= 20
    True
    """

    name = "minmax"
    max_nodes: ClassVar[int | None] = ALL_PAIRS

    iterations: int = bounded(200, "[1, 10000]")
    rate: float = bounded(200.0, "(0, inf)")
    lambda_: float = bounded(1.0, "[0, 1]")
    hidden: int = bounded(16, "[1, 10000]")
    dropout: float = bounded(0.5, "[0, 1)")
    samples: int = bounded(20, "[1, 10000]")

    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress) -> IntArray:
        rng = np.random.default_rng(seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            progress(0, budget, "training the attacked GCN")
            game = Game(self, graph, budget, rng)
            for turn in range(self.iterations):
                game.step(self.rate / (turn + 1) ** 0.5)
                progress(budget * (turn + 1) // self.iterations, budget)
        most_probable, draws = samples_within(game.values, budget, self.samples, rng)
        candidates = [game.pairs[drawn] for drawn in draws or [most_probable]]
        return max(candidates, key=lambda flips: game.loss_of(flipped(graph, flips)))


class Game(RelaxedAscent):
    """S and the GCN: each gradient is computed after one training step of the GCN."""

    def __init__(self, attack: PublishedMinMax, graph: Graph, budget: int, rng: np.random.Generator) -> None:
        super().__init__(graph, budget, rng=rng, unit=1.0)
        self.defender = Defender(graph, attack.hidden, attack.dropout)
        clean = Structure(graph, dtype=torch.float32)
        self.defender.fit(clean)
        predicted = self.defender.logits(clean).argmax(1)
        self.loss = AttackerLoss(graph, predicted, attack.lambda_)
        self.optimizer = torch.optim.Adam(self.defender.parameters(), lr=RATE)

    def gradient(self) -> PairGradient:
        structure = self.structure(torch.float32)
        self.defender.train_once(structure, self.optimizer)
        return self.defender.gradient(structure, self.loss)

    def loss_of(self, poisoned: Graph) -> float:
        return self.loss.value(self.defender.logits(Structure(poisoned, dtype=torch.float32)).double())


class Defender(nn.Module):
    """A two-layer GCN on any structure, and the gradient of a loss with respect to all pairs, in closed form."""

    def __init__(self, graph: Graph, hidden: int, dropped: float) -> None:
        super().__init__()
        assert graph.split is not None
        assert graph.labels is not None
        self.inputs, self.dropped = attributes(graph), dropped
        self.train_nodes = torch.tensor(graph.split.train)
        self.targets = torch.tensor(graph.labels)[self.train_nodes]
        widths = self.inputs.shape[1], hidden, graph.num_classes
        shapes = (widths[:2], widths[1:2], widths[1:], widths[2:])
        self.first, self.first_bias, self.second, self.second_bias = (
            nn.Parameter(torch.empty(shape).uniform_(-(shape[-1] ** -0.5), shape[-1] ** -0.5)) for shape in shapes
        )

    def forward(self, structure: Structure) -> Tensor:
        """Return the logits, N × C, with dropout in training."""
        hidden = torch.relu(_propagate(self.inputs(self.first), structure) + self.first_bias)
        hidden = dropout(hidden, self.dropped, self.training)
        return _propagate(hidden @ self.second, structure) + self.second_bias

    def fit(self, structure: Structure) -> None:
        """Train on a structure."""
        optimizer = torch.optim.Adam(self.parameters(), lr=RATE, weight_decay=DECAY)
        for _ in range(EPOCHS):
            self.train_once(structure, optimizer)

    def train_once(self, structure: Structure, optimizer: torch.optim.Optimizer) -> None:
        """Take one training step."""
        self.train()
        optimizer.zero_grad()
        cross_entropy(self(structure)[self.train_nodes], self.targets).backward()
        optimizer.step()

    @torch.no_grad()
    def logits(self, structure: Structure) -> Tensor:
        """Return the logits without dropout, N × C."""
        self.eval()
        logits: Tensor = self(structure)
        return logits

    @torch.no_grad()
    def gradient(self, structure: Structure, loss: AttackerLoss) -> PairGradient:
        """Return ∂loss/∂Â = G·(H·W₂)ᵀ + G₁·(X·W₁)ᵀ with G = ∂loss/∂Z and G₁ = (Â·G·W₂ᵀ) where the ReLU is active."""
        xw = self.inputs(self.first)
        active = structure.propagate(xw) + self.first_bias
        hw = torch.relu(active) @ self.second
        signal = loss.signal((structure.propagate(hw) + self.second_bias).double()).float()
        inner = (structure.propagate(signal) @ self.second.T) * (active > 0)
        return PairGradient(structure, torch.cat([signal, inner], 1), torch.cat([hw, xw], 1))


class _Propagation(torch.autograd.Function):
    """Â·M; Â is symmetric, and so its own transpose in the backward pass."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, structure: Structure) -> Tensor:
        ctx.structure = structure
        return structure.propagate(matrix)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return ctx.structure.propagate(gradients[0].contiguous()), None


def _propagate(matrix: Tensor, structure: Structure) -> Tensor:
    product: Tensor = _Propagation.apply(matrix, structure)
    return product
