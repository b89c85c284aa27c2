"""PRBCD and GRBCD: gradient attacks on random blocks of pairs, by PyTorch Geometric's implementation."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.attacks.base import Attack, Progress, without_isolation
from focusedcleaner.attacks.rbcd_victim import BlockVictim, Victim
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.settings import bounded

MERGED = 600_000
"""Edges up to which a block of pairs is merged with them, as PyG does; beyond, the pairs are a graph of their own."""


@dataclass(frozen=True)
class BlockAttack(Attack):
    """Base of PRBCD, GRBCD and LRBCD: attacks a GCN trained on the clean graph, on the nodes outside its training set.

    Args:
        block_size: number of pairs in a block; more are drawn if the budget needs them.
        epochs: steps of the attack.
        hidden: width of the attacked GCN.
    """

    block_size: int = bounded(250_000, "[1, 10000000]")
    epochs: int = bounded(125, "[1, 100000]")
    hidden: int = bounded(16, "[1, 10000]")

    changes: ClassVar[tuple[type, ...]] = ()
    """Classes that change PyG's one."""

    @abstractmethod
    def steps(self) -> tuple[str, dict[str, int]]:
        """Return the name of PyG's class and its settings."""

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
            large = graph.num_edges > MERGED
            victim = (BlockVictim if large else Victim)(graph, self.hidden)
            progress(0, budget, "training the attacked GCN")
            labels = victim.fit(graph, edges)
            unused = torch.zeros(graph.num_nodes, 1)  # the victim holds the attributes itself
            attack = self._attack(victim, block, large=large)
            self.constrain(attack, graph)
            attack.report = lambda step: progress(budget * step // self.epochs, budget)
            _, flips = attack.attack(unused, edges, labels, budget, torch.from_numpy(others))
        progress(budget, budget)
        ordered = np.unique(np.sort(flips.numpy().T.astype(np.int64), axis=1), axis=0)
        return without_isolation(graph, ordered[ordered[:, 0] != ordered[:, 1]][:budget])

    def constrain(self, attack: Any, graph: Graph) -> None:
        """Give PyG's attack the constraints beside the budget; there are none by default."""

    def _attack(self, victim: Victim, block_size: int, *, large: bool) -> Any:
        """PyG's attack, which reports its steps; on a large graph, with the block unmerged."""
        name, settings = self.steps()
        kind = getattr(_implementation(), name)
        added = (_Unmerged, _Reporting) if large else (_Reporting,)
        return type(name, (*self.changes, *added, kind), {})(victim, block_size, **settings, log=False)


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

    def steps(self) -> tuple[str, dict[str, int]]:
        resampling = max(1, math.floor(0.8 * self.epochs))  # as the authors do
        return "PRBCDAttack", {"epochs": self.epochs, "epochs_resampling": resampling}


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

    def steps(self) -> tuple[str, dict[str, int]]:
        return "GRBCDAttack", {"epochs": self.epochs}


def _implementation() -> Any:
    """Import PyG's module, without its warning that it is experimental."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "'torch_geometric.contrib'", UserWarning)
        from torch_geometric.contrib.nn.models import rbcd_attack
    return rbcd_attack


class _Reporting:
    """Added to PyG's classes: says at every step which it is."""

    report: Callable[[int], None]
    _step = 0

    def _forward_and_gradient(self, *args: Any, **kwargs: Any) -> Any:
        self.report(self._step)
        self._step += 1
        return super()._forward_and_gradient(*args, **kwargs)  # type: ignore[misc]


class _Unmerged:
    """Added to PyG's classes on large graphs: a `BlockVictim` takes the pairs of a block as they are."""

    model: BlockVictim
    edge_index: Tensor
    num_nodes: int

    def _get_modified_adj(self, edges: Tensor, ones: Tensor, pairs: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        return pairs, weights

    def _update(self, *args: Any, **kwargs: Any) -> Any:
        """Take the step; GRBCD replaces the edges, which PyG sorts by their ends."""
        before = self.edge_index
        scalars = super()._update(*args, **kwargs)  # type: ignore[misc]
        if self.edge_index is not before:
            edges = self.edge_index[:, self.edge_index[0] < self.edge_index[1]]
            self.model.flip(Graph(self.num_nodes, edges.T.numpy()))
        return scalars
