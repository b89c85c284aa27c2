"""The attack on the sanitizer itself: someone who knows ``self-attack`` and asks it before planting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from focusedcleaner.attacks.base import Attack, Progress
from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.attacks.search import Excluded, best_pairs
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.selfattack import SIMULATED
from focusedcleaner.settings import as_json
from focusedcleaner.surrogate import Implicit, Surrogate

if TYPE_CHECKING:  # the simulated attackers of self-attack are attacks themselves
    from focusedcleaner.selfattack.clues import Examiner
    from focusedcleaner.selfattack.rounds import Judge

LARGEST = 30_000
"""Nodes up to which all pairs are walked at every step."""
WEIGHT_DECAY = 1e-3
"""Of the attacked surrogate, as our METTACK has it."""
ASKED_AT_ONCE = 0.1
"""Pairs about which the sanitizer is asked at a time, as a share of the edges: so many as are planted on a bad day."""
LEAST = 1e-6
"""The least probability of being overlooked that is told apart from none."""


@dataclass(frozen=True)
class Adaptive(Attack):
    """Plants the pairs that do most harm among those that the sanitizer ``self-attack`` overlooks:

        argmax_(u,v) log ∂L/∂A_uv + σ·log(1 − q_uv),

    ∂L/∂A being METTACK's meta-gradient on the graph as it stands, and q what the sanitizer's own classifier makes of
    the pair: the attacker runs the sanitizer on the graph it is poisoning, inserts the pairs of largest gradient on
    trial, and reads off how likely each looks planted. With σ = 1 that is the harm to be expected once the sanitizer
    has passed; σ = 0 is METTACK in a few large steps. Nothing is removed.

    In the spirit of Mujkanovic, Geisler, Günnemann, Bojchevski: "Are Defenses for Graph Neural Networks Robust?",
    NeurIPS 2022 (https://arxiv.org/abs/2301.13694).

    Args:
        stealth: σ, 0 or above.
        steps: meta-gradients that are taken; after each, as many edges are planted.
        pool: the sanitizer is asked about so many times the pairs that a step plants.
        learns: how often the sanitizer is trained, on the graph as it stands by then.
        rounds: of the sanitizer's training.
        trees: of its classifier.
        attackers: whom the sanitizer simulates, by commas.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=100, seed=0)
    >>> poisoning = Adaptive(steps=2, pool=5, learns=1, rounds=1, trees=5).poison(graph, budget=10)
    >>> len(poisoning.added), len(poisoning.removed)
    (10, 0)
    """

    name: ClassVar[str] = "adaptive"

    stealth: float = 4.0
    steps: int = 12
    pool: int = 60
    learns: int = 3
    rounds: int = 2
    trees: int = 60
    attackers: str = SIMULATED

    def __post_init__(self) -> None:
        if not 0 <= self.stealth < float("inf"):
            raise InputError(f"stealth is 0 or above, not {self.stealth:g}")
        if min(self.steps, self.pool, self.learns, self.rounds, self.trees) < 1:
            raise InputError("steps, pool, learns, rounds and trees must be 1 or above")

    def settings(self) -> dict[str, Any]:
        return dict(as_json(self))

    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress | None) -> tuple[IntArray, IntArray]:
        from focusedcleaner.sanitizers.base import check_sanitizable
        from focusedcleaner.selfattack.attackers import attackers

        check_sanitizable(graph)
        attackers(self.attackers)
        if graph.num_nodes > LARGEST:
            raise InputError(
                f"{self.name} walks all pairs of nodes and takes at most {LARGEST:,} nodes, not {graph.num_nodes:,}"
            )
        under_way = _UnderWay(self, graph.as_the_defender_sees_it(), seed)
        for step in range(self.steps):
            size = budget * (step + 1) // self.steps - len(under_way.planted)
            if size:
                under_way.plant(size, learn=step * self.learns // self.steps >= under_way.learnt)
            if progress is not None:
                progress(budget * (step + 1) // self.steps, budget)
        return under_way.planted, np.empty((0, 2), dtype=np.int64)


class _UnderWay:
    """The graph as it stands, and the sanitizer as the attacker has trained it last."""

    def __init__(self, attack: Adaptive, graph: Graph, seed: int) -> None:
        self.attack, self.graph, self.seed = attack, graph, seed
        self.planted: IntArray = np.empty((0, 2), dtype=np.int64)
        self.rng = np.random.default_rng(seed)
        self.loss: AttackerLoss | None = None
        self.sanitizer: tuple[Examiner, Judge] | None = None
        self.learnt = 0
        """How often the sanitizer has been trained."""

    def plant(self, size: int, *, learn: bool) -> None:
        """Plant so many edges, if so many pairs do harm."""
        from focusedcleaner.selfattack.by_gradient import spread

        surrogate = Surrogate(self.graph, inner=Implicit(WEIGHT_DECAY))
        fitted = surrogate.fit()
        self.loss = self.loss or AttackerLoss(self.graph, fitted.logits.argmax(1), 0.0)
        gradient = surrogate.meta_gradient(fitted, self.loss.signal(fitted.logits))
        pairs, harm = best_pairs(*gradient.factors(), Excluded(self.graph.edges), self.attack.pool * size)
        pairs, harm = pairs[harm > 0], harm[harm > 0]
        worth = np.log(harm)
        if self.attack.stealth > 0 and len(pairs):
            if learn:
                self._learn()
            worth = worth + self.attack.stealth * np.log(np.maximum(1 - self._suspicion(pairs), LEAST))
        chosen = spread(pairs[np.argsort(-worth, kind="stable")], size, max(2, size // 8))
        self.planted = np.concatenate([self.planted, chosen])
        self.graph = self.graph.with_edges(chosen)

    def _learn(self) -> None:
        """Do what the sanitizer would do with the graph as it stands."""
        from focusedcleaner.selfattack.attackers import attackers
        from focusedcleaner.selfattack.rounds import Investigation

        who = attackers(self.attack.attackers)
        inquiry = Investigation.of(self.graph, who, rounds=self.attack.rounds, trees=self.attack.trees, seed=self.seed)
        opinion = None
        for number in range(inquiry.rounds):
            judge = inquiry.judge(number, opinion)
            opinion = judge.opinion(inquiry.clues)
        self.sanitizer = inquiry.examiner, judge
        self.learnt += 1

    def _suspicion(self, pairs: IntArray) -> FloatArray:
        """How likely each pair would look planted to the sanitizer, inserted together with some of the others."""
        assert self.sanitizer is not None
        examiner, judge = self.sanitizer
        found = np.empty(len(pairs))
        at_once = max(1, int(ASKED_AT_ONCE * self.graph.num_edges))
        for part in np.array_split(self.rng.permutation(len(pairs)), -(-len(pairs) // at_once)):
            trial = self.graph.with_edges(pairs[part])
            place = np.searchsorted(trial.edge_keys, pairs[part, 0] * trial.num_nodes + pairs[part, 1])
            found[part] = judge.opinion(examiner.clues(trial)).planted[place]
        return found
