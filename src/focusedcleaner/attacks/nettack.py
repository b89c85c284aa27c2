"""Nettack: a few flips at each target, so that it is misclassified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from focusedcleaner.attacks.degree_test import DegreeTest
from focusedcleaner.attacks.greedy import Flip, FlipLog, GreedyAttack
from focusedcleaner.engine.mutable_edges import MutableEdges
from focusedcleaner.errors import InputError
from focusedcleaner.graph import UNKNOWN, BoolArray, FloatArray, Graph, IntArray
from focusedcleaner.surrogate import Surrogate


@dataclass(frozen=True)
class Nettack(GreedyAttack):
    """Flips pairs at target nodes t, each time the one that most favours a wrong class:

        argmax_v  max_{c ≠ y_t} Z'_tc − Z'_t,y_t,  Z' = Â'²XW,

    where Â' is the graph after the flip of (t, v) and W the surrogate's weights, trained once on the clean graph. The
    targets take turns: after n rounds each has had n flips. Direct attack on the structure; no node is isolated, no
    pair flipped twice. The budget is an upper bound beside targets × flips.

    Zügner, Akbarnejad, Günnemann: "Adversarial Attacks on Neural Networks for Graph Data", KDD 2018
    (https://arxiv.org/abs/1805.07984). Which nodes are targets is Pro-GNN's protocol.

    Args:
        targets: node numbers; None takes the test nodes whose degree is above ``above_degree``.
        per_target: flips at each target, 1 to 5 in the protocol.
        above_degree: see ``targets``.
        likelihood_ratio: τ of the `DegreeTest` that each flip must pass, 0.004 as published; None for no test.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = Nettack(targets=(3, 14), per_target=2).poison(synthetic(num_nodes=100, seed=0), budget=10)
    >>> [bool({3, 14} & {u, v}) for u, v in poisoning.flips.tolist()]
    [True, True, True, True]
    """

    name: ClassVar[str] = "nettack"

    targets: tuple[int, ...] | None = None
    per_target: int = 5
    above_degree: int = 10
    likelihood_ratio: float | None = 0.004

    def __post_init__(self) -> None:
        if self.targets is not None:
            object.__setattr__(self, "targets", tuple(self.targets))
            if not self.targets or len(set(self.targets)) < len(self.targets):
                raise InputError("targets must be different nodes, at least one")
        if self.per_target < 1:
            raise InputError(f"per_target must be 1 or above, not {self.per_target}")
        if self.likelihood_ratio is not None and not self.likelihood_ratio > 0:
            raise InputError(f"likelihood_ratio must be above 0, not {self.likelihood_ratio:g}")

    def targets_in(self, graph: Graph) -> IntArray:
        """The targets' node numbers.

        Raises:
            InputError: a target is not a node of the graph, or there is none.
        """
        if self.targets is not None:
            wrong = [target for target in self.targets if not 0 <= target < graph.num_nodes]
            if wrong:
                raise InputError(f"target {wrong[0]} is not a node: nodes are numbered 0 to {graph.num_nodes - 1}")
            return np.array(self.targets, dtype=np.int64)
        assert graph.split is not None
        found = graph.split.test[graph.degrees[graph.split.test] > self.above_degree]
        if not len(found):
            raise InputError(f"no test node has more than {self.above_degree} neighbours: name targets yourself")
        return found

    def begin(self, graph: Graph, seed: int, log: FlipLog) -> _UnderWay:
        graph.check_labelled("the attack")
        return _UnderWay(self, graph, log)


class _UnderWay:
    """The graph as it stands, and whose turn it is."""

    def __init__(self, attack: Nettack, graph: Graph, log: FlipLog) -> None:
        self.targets = attack.targets_in(graph)
        self.turns = len(self.targets) * attack.per_target
        self.turn = int(log.memory["turn"]) if log.flips else 0
        fitted = Surrogate(graph).fit()
        self.xw: FloatArray = fitted.xw.numpy()
        known = graph.labels if graph.labels is not None else np.full(graph.num_nodes, UNKNOWN)
        self.labels = np.where(known == UNKNOWN, fitted.logits.argmax(1).numpy(), known)
        tau = attack.likelihood_ratio
        self.test = None if tau is None else DegreeTest(graph.degrees, tau)
        self.evolving = MutableEdges(graph)
        for u, v in log.flips:
            self.evolving.flip(u, v)

    def next(self) -> Flip | None:
        while self.turn < self.turns:
            target = int(self.targets[self.turn % len(self.targets)])
            self.turn += 1
            partner = self._best_partner(target)
            if partner is not None:
                u, v = sorted((target, partner))
                self.evolving.flip(u, v)
                return Flip((u, v), {"turn": torch.tensor(self.turn)})
        return None

    def _best_partner(self, target: int) -> int | None:
        logits, linked = logits_after_flips(self.evolving, self.xw, target)
        label = self.labels[target]
        margin = np.delete(logits, label, axis=1).max(axis=1) - logits[:, label]
        margin[~self._candidates(target, linked)] = -np.inf
        best = int(margin.argmax())
        return best if np.isfinite(margin[best]) else None

    def _candidates(self, target: int, linked: BoolArray) -> BoolArray:
        """Partners whose flip isolates nobody, undoes nothing and passes the test."""
        degrees = self.evolving.degrees
        everyone = np.arange(len(degrees))
        keys = np.minimum(everyone, target) * len(degrees) + np.maximum(everyone, target)
        fits: BoolArray = (everyone != target) & ~np.isin(keys, self.evolving.flipped)
        fits &= ~linked | ((degrees > 1) & (degrees[target] > 1))
        if self.test is not None:
            for change, mine in ((1, ~linked), (-1, linked)):
                groups, allowed = self.test.passes(degrees, change)
                fits &= ~mine | allowed[groups[target], groups]
        return fits


def logits_after_flips(evolving: MutableEdges, xw: FloatArray, target: int) -> tuple[FloatArray, BoolArray]:
    """The target's logits after the flip of (target, v) for every node v (N × C), and which v are its neighbours.

    With d = degree + 1, p = P/√d and U_j = p_j + Σ_{k ~ j} p_k, the target's logits are

        Z_t = (U_t/d_t + Σ_{j ~ t} U_j/d_j)/√d_t.

    A flip changes d and p of t and v alone; in the sum over j ~ t every U_j gains p'_t − p_t, those that have v as a
    neighbour also p'_v − p_v, and v's own term comes or goes. The row for the target itself means nothing.
    """
    adjacency = Graph(evolving.num_nodes, evolving.edges).adjacency()
    d = evolving.degrees + 1.0
    near = adjacency[[target]].toarray().ravel()
    linked: BoolArray = near > 0
    change = np.where(linked, -1.0, 1.0)[:, None]
    p = xw / np.sqrt(d)[:, None]
    u = p + adjacency @ p
    inverse = near / d
    shared = (adjacency @ inverse)[:, None]  # Σ 1/d_j over common neighbours j of t and v

    d_target, d_other = d[target] + change, np.maximum(d[:, None] + change, 1.0)
    p_target, p_other = xw[target] / np.sqrt(np.maximum(d_target, 1.0)), xw / np.sqrt(d_other)
    gain_target, gain_other = p_target - p[target], p_other - p

    others = inverse @ u + inverse.sum() * gain_target + shared * gain_other
    others = np.where(linked[:, None], others - (u + gain_target) / d[:, None], others)
    own = u[target] + gain_target + np.where(linked[:, None], -p, p_other)
    coming = np.where(linked[:, None], 0.0, (u + gain_other + p_target) / d_other)
    d_target = np.maximum(d_target, 1.0)
    return (others + own / d_target + coming) / np.sqrt(d_target), linked
