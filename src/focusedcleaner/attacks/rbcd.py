"""PRBCD and GRBCD: gradient attacks on random blocks of pairs, by PyTorch Geometric's implementation."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout

from focusedcleaner.attacks.base import Attack, Progress, without_isolation
from focusedcleaner.engine import Attributes
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.settings import bounded

EPOCHS, RATE, DECAY, DROPPED = 200, 0.01, 5e-4, 0.5
"""Training of the victim."""


@dataclass(frozen=True)
class BlockAttack(Attack):
    """Base of PRBCD and GRBCD: attacks a GCN trained on the clean graph, on the nodes outside its training set.

    Args:
        block_size: number of pairs in a block; more are drawn if the budget needs them.
        epochs: steps of the attack.
        hidden: width of the attacked GCN.
    """

    block_size: int = bounded(250_000, "[1, 10000000]")
    epochs: int = bounded(125, "[1, 100000]")
    hidden: int = bounded(16, "[1, 10000]")

    @abstractmethod
    def attacker(self, victim: nn.Module, block_size: int) -> Any:
        """Return PyG's attack on a trained model."""

    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress) -> IntArray:
        assert graph.split is not None
        others = np.setdiff1d(np.arange(graph.num_nodes), graph.split.train)
        if not len(others):
            raise InputError(f"{self.name} attacks nodes outside the training set, and there are none")
        pairs = graph.num_nodes * (graph.num_nodes - 1) // 2
        if pairs < 1.1 * budget + 3:
            raise InputError(f"the graph's {pairs:,} pairs are too few for {count(budget, 'flip')}: lower the power")
        block = min(self.block_size, pairs)
        distinct = -pairs * math.expm1(-block / pairs)  # a block is drawn with replacement
        if distinct < 1.2 * budget + 5:  # the attack needs more different pairs than flips
            block = 8 * (budget + 5)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            edges = torch.from_numpy(np.concatenate([graph.edges, graph.edges[:, ::-1]]).T.copy())
            victim = _Victim(graph, self.hidden)
            labels = _train(victim, graph, edges)
            unused = torch.zeros(graph.num_nodes, 1)  # the victim holds the attributes itself
            _, flips = self.attacker(victim, block).attack(unused, edges, labels, budget, torch.from_numpy(others))
        progress(budget, budget)
        ordered = np.unique(np.sort(flips.numpy().T.astype(np.int64), axis=1), axis=0)
        return without_isolation(graph, ordered[ordered[:, 0] != ordered[:, 1]][:budget])


@dataclass(frozen=True)
class PRBCD(BlockAttack):
    """Projected randomized block coordinate descent: projected gradient ascent as `PGD`, on a block of pairs b_t only,

        S_b ← Π(S_b + η·∂L/∂S_b),  b_t resampled where S is still 0,  A' = A + (1 − 2A)∘S,  ΣS ≤ B,

    where L is the margin of the probabilities of a GCN trained on the clean graph. Memory grows with the block, not
    with N². The poisoned graph is the one that misleads that GCN.

    Geisler, Schmidt, Şirin, Zügner, Bojchevski, Günnemann: "Robustness of Graph Neural Networks at Scale", NeurIPS 2021
    (https://arxiv.org/abs/2110.14038). The settings are those of `BlockAttack`.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = PRBCD(block_size=2000, epochs=10).poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> 0 < len(poisoning.added) + len(poisoning.removed) <= 20
    True
    """

    name = "prbcd"

    def attacker(self, victim: nn.Module, block_size: int) -> Any:
        steps = {"epochs": self.epochs, "epochs_resampling": max(1, math.floor(0.8 * self.epochs))}  # as the authors do
        return _implementation().PRBCDAttack(victim, block_size, **steps, log=False)


@dataclass(frozen=True)
class GRBCD(BlockAttack):
    """Greedy randomized block coordinate descent: in each of T steps, on a new random block b_t of pairs,

        flip the ⌈B/T⌉ pairs of largest (1 − 2A)∘∂L/∂A,

    where L is the margin of the probabilities of a GCN trained on the clean graph. The poisoned graph is the one that
    misleads that GCN.

    Geisler, Schmidt, Şirin, Zügner, Bojchevski, Günnemann: "Robustness of Graph Neural Networks at Scale", NeurIPS 2021
    (https://arxiv.org/abs/2110.14038). The settings are those of `BlockAttack`.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = GRBCD(block_size=2000, epochs=10).poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> 0 < len(poisoning.added) + len(poisoning.removed) <= 20
    True
    """

    name = "grbcd"

    def attacker(self, victim: nn.Module, block_size: int) -> Any:
        return _implementation().GRBCDAttack(victim, block_size, epochs=self.epochs, log=False)


def _implementation() -> Any:
    """Import PyG's module, without its warning that it is experimental."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "'torch_geometric.contrib'", UserWarning)
        from torch_geometric.contrib.nn.models import rbcd_attack
    return rbcd_attack


class _Victim(nn.Module):
    """A two-layer GCN with edge weights, which holds the attributes as a sparse matrix."""

    def __init__(self, graph: Graph, hidden: int) -> None:
        super().__init__()
        self.attributes = Attributes(graph, dtype=torch.float32)
        self.num_nodes = graph.num_nodes
        self.first = nn.Parameter(nn.init.xavier_uniform_(torch.empty(self.attributes.num_columns, hidden)))
        self.second = nn.Linear(hidden, graph.num_classes)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        from torch_geometric.nn.conv.gcn_conv import gcn_norm  # takes seconds to import

        ends, weights = gcn_norm(edge_index, edge_weight, self.num_nodes, dtype=torch.float32)
        hidden = torch.relu(self._propagate(self.attributes.times(self.first), ends, weights))
        hidden = dropout(hidden, DROPPED, self.training)
        return self._propagate(self.second(hidden), ends, weights)

    def _propagate(self, values: Tensor, ends: Tensor, weights: Tensor) -> Tensor:
        return torch.zeros_like(values).index_add(0, ends[1], weights.unsqueeze(1) * values[ends[0]])


def _train(victim: _Victim, graph: Graph, edges: Tensor) -> Tensor:
    """Train the victim, and return the classes to attack: labels of training nodes, predictions for the others."""
    assert graph.split is not None
    assert graph.labels is not None
    train, labels = torch.from_numpy(graph.split.train.copy()), torch.from_numpy(graph.labels.copy())
    optimizer = torch.optim.Adam(victim.parameters(), lr=RATE, weight_decay=DECAY)
    unused = torch.zeros(graph.num_nodes, 1)
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        cross_entropy(victim(unused, edges)[train], labels[train]).backward()
        optimizer.step()
    victim.eval().requires_grad_(False)
    predicted: Tensor = victim(unused, edges).argmax(1)
    predicted[train] = labels[train]
    return predicted
