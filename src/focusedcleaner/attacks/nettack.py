"""Nettack: flips at target nodes, to have them misclassified."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from focusedcleaner.attacks.base import FlipLog, GreedyAttack
from focusedcleaner.attacks.degree_test import DegreeTest
from focusedcleaner.engine.structure import MutableEdges
from focusedcleaner.errors import InputError
from focusedcleaner.graph import UNKNOWN, BoolArray, FloatArray, Graph, IntArray, pair_keys
from focusedcleaner.node_order import NodeOrder
from focusedcleaner.settings import bounded
from focusedcleaner.surrogate import Surrogate


@dataclass(frozen=True)
class Nettack(GreedyAttack):
    """Flips pairs at target nodes t, each time the one with the largest margin of a wrong class:

        argmax_v  max_{c ≠ y_t} Z'_tc − Z'_t,y_t,  Z' = Â'²XW,

    where Â' is the graph after the flip of (t, v) and W the surrogate's weights, trained once on the clean graph. The
    targets take turns: after n rounds each has had n flips. A direct attack on the structure; no node is isolated and
    no pair flipped twice. The number of flips is at most targets × ``per_target``, and at most the budget.

    Zügner, Akbarnejad, Günnemann: "Adversarial Attacks on Neural Networks for Graph Data", KDD 2018
    (https://arxiv.org/abs/1805.07984). The default targets are those of Pro-GNN.

    Args:
        targets: node numbers; None takes the test nodes of a degree above ``above_degree``.
        per_target: flips at each target, 1 to 5 in the protocol.
        above_degree: see ``targets``.
        likelihood_ratio: τ of the `DegreeTest` that each flip must pass, 0.004 as published; None for no test.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = Nettack(targets=(3, 14), per_target=2).poison(synthetic(num_nodes=100, seed=0), budget=10)
    >>> [bool({3, 14} & {u, v}) for u, v in poisoning.flips.tolist()]
    [True, True, True, True]
    """

    name = "nettack"

    targets: tuple[int, ...] | None = None
    per_target: int = bounded(5, "[1, inf)")
    above_degree: int = 10
    likelihood_ratio: float | None = bounded(0.004, "(0, inf)")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.targets is not None:
            object.__setattr__(self, "targets", tuple(self.targets))
            if not self.targets or len(set(self.targets)) < len(self.targets):
                raise InputError("targets must be different nodes, at least one")

    def check(self, graph: Graph) -> None:
        super().check(graph)
        self.targets_in(graph)

    def renumbered(self, order: NodeOrder) -> Self:
        return self if self.targets is None else replace(self, targets=tuple(order.places(self.targets).tolist()))

    def targets_in(self, graph: Graph) -> IntArray:
        """Return the node numbers of the targets; an `InputError` if one is not in the graph or there are none."""
        if self.targets is not None:
            wrong = [target for target in self.targets if not 0 <= target < graph.num_nodes]
            if wrong:
                raise InputError(f"target {wrong[0]} is not a node: nodes are numbered 0 to {graph.num_nodes - 1}")
            return np.array(self.targets, dtype=np.int64)
        assert graph.split is not None
        targets = graph.split.test[graph.degrees[graph.split.test] > self.above_degree]
        if not len(targets):
            raise InputError(f"no test node has more than {self.above_degree} neighbours: name targets yourself")
        return targets

    def search(self, graph: Graph, log: FlipLog) -> NettackSearch:
        return NettackSearch(self, graph, log)


class NettackSearch:
    """The poisoned graph so far, and the target whose turn it is."""

    def __init__(self, attack: Nettack, graph: Graph, log: FlipLog) -> None:
        self.targets = attack.targets_in(graph)
        self.turns = len(self.targets) * attack.per_target
        self.turn = int(log["turn"]) if "turn" in log else 0
        fitted = Surrogate(graph).fit()
        self.xw: FloatArray = fitted.xw.numpy()
        assert graph.labels is not None
        self.labels = np.where(graph.labels == UNKNOWN, fitted.logits.argmax(1).numpy(), graph.labels)
        tau = attack.likelihood_ratio
        self.test = None if tau is None else DegreeTest(graph.degrees, tau)
        self.poisoned = MutableEdges(graph)
        for u, v in log["flips"].tolist():
            self.poisoned.flip(u, v)

    def next_flip(self) -> tuple[int, int] | None:
        while self.turn < self.turns:
            target = int(self.targets[self.turn % len(self.targets)])
            self.turn += 1
            partner = self._best_partner(target)
            if partner is not None:
                u, v = sorted((target, partner))
                self.poisoned.flip(u, v)
                return u, v
        return None

    def state(self) -> FlipLog:
        return {"turn": np.array(self.turn)}

    def _best_partner(self, target: int) -> int | None:
        logits, linked = logits_after_flips(self.poisoned, self.xw, target)
        label = self.labels[target]
        margin = np.delete(logits, label, axis=1).max(axis=1) - logits[:, label]
        margin[~self._candidates(target, linked)] = -np.inf
        best = int(margin.argmax())
        return best if np.isfinite(margin[best]) else None

    def _candidates(self, target: int, linked: BoolArray) -> BoolArray:
        """Return the partners (N) whose flip isolates no node, undoes no flip and passes the degree test."""
        degrees = self.poisoned.degrees
        nodes = np.arange(len(degrees))
        keys = pair_keys(np.stack([np.minimum(nodes, target), np.maximum(nodes, target)], axis=1), len(degrees))
        allowed: BoolArray = (nodes != target) & ~np.isin(keys, self.poisoned.flipped)
        allowed &= ~linked | ((degrees > 1) & (degrees[target] > 1))
        if self.test is not None:
            for change, partners in ((1, ~linked), (-1, linked)):
                groups, passes = self.test.passes(degrees, change)
                allowed &= ~partners | passes[groups[target], groups]
        return allowed


def logits_after_flips(edges: MutableEdges, xw: FloatArray, target: int) -> tuple[FloatArray, BoolArray]:
    """Return the target's logits after the flip of (target, v) for every node v (N × C), and which v are neighbours.

    With d = degree + 1, p = P/√d and U_j = p_j + Σ_{k ~ j} p_k, the target's logits are

        Z_t = (U_t/d_t + Σ_{j ~ t} U_j/d_j)/√d_t.

    A flip changes d and p of t and v only; in the sum over j ~ t every U_j gains p'_t − p_t, the neighbours of v also
    p'_v − p_v, and the term of v itself is added or dropped. The target's own row has no meaning.
    """
    adjacency = Graph(edges.num_nodes, edges.edges).adjacency()
    d = edges.degrees + 1.0
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
