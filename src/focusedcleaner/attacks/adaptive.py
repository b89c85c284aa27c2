"""An adaptive attack: the attacker knows the sanitizer and consults it before planting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from focusedcleaner.attacks.base import Attack, Progress
from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.engine.top_pairs import Excluded, best_pairs, spread
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.registry import SANITIZERS, EdgeScorer
from focusedcleaner.surrogate import Implicit, Surrogate

LARGEST = 30_000
"""Nodes up to which all pairs are walked at every step."""
WEIGHT_DECAY = 1e-3
"""Of the attacked surrogate, as our METTACK has it."""
TRIAL_BATCH = 0.1
"""Pairs inserted on trial at a time: 10 % of the edges."""
LEAST = 1e-6
"""Lower clamp of 1 − q before the logarithm."""


@dataclass(frozen=True)
class Adaptive(Attack):
    """Plants the most harmful pairs among those that a sanitizer overlooks:

        argmax_(u,v) log ∂L/∂A_uv + σ·log(1 − q_uv),

    where ∂L/∂A is METTACK's meta-gradient on the current graph and q_uv the suspicion that the sanitizer's
    `edge_scorer` assigns to the pair. The attacker trains the sanitizer on the graph it is poisoning, inserts the pairs
    of largest gradient on trial and reads off q. With σ = 1 the score is the expected harm after sanitation; σ = 0 is
    METTACK in a few large steps. No edge is removed.

    In the spirit of Mujkanovic, Geisler, Günnemann, Bojchevski: "Are Defenses for Graph Neural Networks Robust?",
    NeurIPS 2022 (https://arxiv.org/abs/2301.13694).

    Args:
        against: the sanitizer that is attacked, by name.
        stealth: σ, 0 or above.
        steps: number of meta-gradients; the budget is split evenly between them.
        pool: candidate pairs per step, as a multiple of the pairs that the step plants.
        learns: how often the sanitizer is trained, each time on the current graph.
        rounds: the sanitizer's setting of that name, where it has one.
        trees: the sanitizer's setting of that name, where it has one.
        attackers: the sanitizer's setting of that name, where it has one; None keeps its default.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=100, seed=0)
    >>> poisoning = Adaptive(steps=2, pool=5, learns=1, rounds=1, trees=5).poison(graph, budget=10)
    >>> len(poisoning.added), len(poisoning.removed)
    (10, 0)
    """

    name: ClassVar[str] = "adaptive"

    against: str = "self-attack"
    stealth: float = 4.0
    steps: int = 12
    pool: int = 60
    learns: int = 3
    rounds: int = 2
    trees: int = 60
    attackers: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.stealth < float("inf"):
            raise InputError(f"stealth is 0 or above, not {self.stealth:g}")
        if min(self.steps, self.pool, self.learns, self.rounds, self.trees) < 1:
            raise InputError("steps, pool, learns, rounds and trees must be 1 or above")

    def sanitizer(self) -> Any:
        """The sanitizer that is attacked, with the settings of this attack that it has."""
        method = SANITIZERS[self.against]
        given = {"rounds": self.rounds, "trees": self.trees, "attackers": self.attackers}
        known = method.names()
        return method.make({name: value for name, value in given.items() if name in known and value is not None})

    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress | None) -> tuple[IntArray, IntArray]:
        graph.check_labelled("the attack")
        self.sanitizer()
        if graph.num_nodes > LARGEST:
            raise InputError(
                f"{self.name} walks all pairs of nodes and takes at most {LARGEST:,} nodes, not {graph.num_nodes:,}"
            )
        under_way = _UnderWay(self, graph.without_test_labels(), seed)
        for step in range(self.steps):
            size = budget * (step + 1) // self.steps - len(under_way.planted)
            if size:
                under_way.plant(size, learn=step * self.learns // self.steps >= under_way.learnt)
            if progress is not None:
                progress(budget * (step + 1) // self.steps, budget)
        return under_way.planted, no_pairs()


class _UnderWay:
    """The graph as it stands, and the sanitizer as the attacker trained it last."""

    def __init__(self, attack: Adaptive, graph: Graph, seed: int) -> None:
        self.attack, self.graph, self.seed = attack, graph, seed
        self.planted: IntArray = no_pairs()
        self.rng = np.random.default_rng(seed)
        self.loss: AttackerLoss | None = None
        self.scorer: EdgeScorer | None = None
        self.learnt = 0
        """How often the sanitizer was trained."""

    def plant(self, size: int, *, learn: bool) -> None:
        """Plant ``size`` edges, or as many as there are harmful pairs."""
        surrogate = Surrogate(self.graph, inner=Implicit(WEIGHT_DECAY))
        fitted = surrogate.fit()
        self.loss = self.loss or AttackerLoss(self.graph, fitted.logits.argmax(1), 0.0)
        gradient = surrogate.meta_gradient(fitted, self.loss.signal(fitted.logits))
        pairs, harm = best_pairs(*gradient.factors(), Excluded(self.graph.edges), self.attack.pool * size)
        pairs, harm = pairs[harm > 0], harm[harm > 0]
        worth = np.log(harm)
        if self.attack.stealth > 0 and len(pairs):
            if learn:
                self.learn()
            worth = worth + self.attack.stealth * np.log(np.maximum(1 - self.suspicion(pairs), LEAST))
        chosen = spread(pairs[np.argsort(-worth, kind="stable")], size, max(2, size // 8))
        self.planted = np.concatenate([self.planted, chosen])
        self.graph = self.graph.with_edges(chosen)

    def learn(self) -> None:
        """Train the sanitizer on the graph as it stands."""
        self.scorer = self.attack.sanitizer().edge_scorer(self.graph, seed=self.seed)
        self.learnt += 1

    def suspicion(self, pairs: IntArray) -> FloatArray:
        """How suspicious the sanitizer finds each pair when it is inserted together with some of the others."""
        assert self.scorer is not None
        found = np.empty(len(pairs))
        at_once = max(1, int(TRIAL_BATCH * self.graph.num_edges))
        for part in np.array_split(self.rng.permutation(len(pairs)), -(-len(pairs) // at_once)):
            trial = self.graph.with_edges(pairs[part])
            place = np.searchsorted(trial.edge_keys, pairs[part, 0] * trial.num_nodes + pairs[part, 1])
            found[part] = self.scorer(trial)[place]
        return found
