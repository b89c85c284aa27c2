"""Adaptive attack: the attacker knows the sanitizer and consults it before planting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from focusedcleaner.attacks.base import ALL_PAIRS, Attack, Progress
from focusedcleaner.attacks.loss import AttackerLoss
from focusedcleaner.engine.top_pairs import Excluded, best_pairs, spread
from focusedcleaner.graph import FloatArray, Graph, IntArray, no_pairs
from focusedcleaner.registry import SANITIZERS, EdgeScorer
from focusedcleaner.settings import bounded
from focusedcleaner.surrogate import Implicit, Surrogate

WEIGHT_DECAY = 1e-3
"""Weight decay of the attacked surrogate, as in METTACK."""
TRIAL_BATCH = 0.1
"""Pairs inserted on trial at a time, as a share of the edges."""
LEAST = 1e-6
"""Lower clamp of 1 − q before the logarithm."""


@dataclass(frozen=True)
class Adaptive(Attack):
    """Plants the most harmful pairs among those that a sanitizer would overlook:

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
        rounds: the sanitizer's setting of that name, if it has one.
        trees: the sanitizer's setting of that name, if it has one.
        attackers: the sanitizer's setting of that name, if it has one; None keeps its default.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=100, seed=0)
    >>> poisoning = Adaptive(steps=2, pool=20, learns=1, rounds=1, trees=5).poison(graph, budget=10)
    >>> len(poisoning.added), len(poisoning.removed)
    (10, 0)
    """

    name = "adaptive"
    max_nodes = ALL_PAIRS

    against: str = "self-attack"
    stealth: float = bounded(4.0, "[0, inf)")
    steps: int = bounded(12, "[1, 10000]")
    pool: int = bounded(60, "[1, 10000]")
    learns: int = bounded(3, "[1, 1000]")
    rounds: int = bounded(2, "[1, 1000]")
    trees: int = bounded(60, "[1, 10000]")
    attackers: str | None = None

    def sanitizer(self) -> Any:
        """Return the sanitizer that is attacked, with those settings of this attack that it shares."""
        method = SANITIZERS[self.against]
        shared = {"rounds": self.rounds, "trees": self.trees, "attackers": self.attackers}
        names = method.names()
        return method.make({name: value for name, value in shared.items() if name in names and value is not None})

    def flip(self, graph: Graph, budget: int, *, seed: int, progress: Progress) -> IntArray:
        graph, planted, rng = graph.without_test_labels(), no_pairs(), np.random.default_rng(seed)
        sanitizer, trained = self.sanitizer(), 0
        scorer: EdgeScorer
        loss: AttackerLoss | None = None
        for step in range(self.steps):
            size = budget * (step + 1) // self.steps - len(planted)
            if size:
                surrogate = Surrogate(graph, inner=Implicit(WEIGHT_DECAY))
                fitted = surrogate.fit()
                loss = loss or AttackerLoss(graph, fitted.logits.argmax(1), 0.0)
                gradient = surrogate.meta_gradient(fitted, loss.signal(fitted.logits))
                pairs, harm = best_pairs(*gradient.factors(), Excluded(graph.edges), self.pool * size)
                pairs, harm = pairs[harm > 0], harm[harm > 0]
                scores = np.log(harm)
                if self.stealth > 0 and len(pairs):
                    if step * self.learns // self.steps >= trained:
                        scorer, trained = sanitizer.edge_scorer(graph, seed=seed), trained + 1
                    overlooked = 1 - suspicion(scorer, graph, pairs, rng)
                    scores = scores + self.stealth * np.log(np.maximum(overlooked, LEAST))
                chosen = spread(pairs[np.argsort(-scores, kind="stable")], size, max(2, size // 8))
                planted, graph = np.concatenate([planted, chosen]), graph.with_edges(chosen)
            progress(budget * (step + 1) // self.steps, budget)
        return planted


def suspicion(scorer: EdgeScorer, graph: Graph, pairs: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return the sanitizer's score of each pair, inserted on trial in random batches."""
    scores = np.empty(len(pairs))
    size = max(1, int(TRIAL_BATCH * graph.num_edges))
    for batch in np.array_split(rng.permutation(len(pairs)), -(-len(pairs) // size)):
        trial = graph.with_edges(pairs[batch])
        scores[batch] = scorer(trial)[trial.edge_numbers(pairs[batch])]
    return scores
