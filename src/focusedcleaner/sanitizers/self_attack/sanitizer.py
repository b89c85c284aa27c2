"""Self-attack: learn what planted edges look like by planting some, and count them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph
from focusedcleaner.io.checkpoint import Checkpoint
from focusedcleaner.registry import EdgeScorer
from focusedcleaner.sanitizers.base import Estimate, Findings, FindingsSoFar, Progress, Sanitizer
from focusedcleaner.sanitizers.self_attack.attackers import SIMULATED, attackers
from focusedcleaner.sanitizers.self_attack.em import KEPT, PlantedEdgeEM, Posterior, mean_posterior

_SPREAD = 1.645
"""Standard deviations on either side of an interval that holds 90 % of a normal distribution."""


@dataclass(frozen=True)
class SelfAttack(Sanitizer):
    """Attacks the partly cleaned graph itself, learns to recognize what was planted, and judges the real edges by it:

        q ← P(planted | clues) by a classifier of the edges that attackers plant in G − Z,  Z drawn from the last q,

    corrected for how common planted edges are in G itself. The edges of largest q go;
    with ``budget="auto"`` those of q > threshold: a planted edge does a GNN more harm than a genuine one does it good,
    by a factor of (1 − threshold)/threshold.

    The correction is that of Saerens, Latinne, Decaestecker: "Adjusting the Outputs of a Classifier to New a Priori
    Probabilities: A Simple Procedure", Neural Computation 2002. How it works, where it fails: docs/self-attack.md.

    Args:
        rounds: how often the graph is attacked; q is the mean of the last three rounds, and only these have the slow
            attackers unrolled and minmax.
        attackers: who is simulated, by commas: mettack, unrolled, minmax, targeted, dice, random, stealthy.
        trees: of the classifier (histogram gradient boosting).
        threshold: the probability from which on an edge goes when the budget is the method's own choice.

    >>> from focusedcleaner.attacks import attack
    >>> from focusedcleaner.datasets import synthetic
    >>> poisoned = attack("dice").poison(synthetic(num_nodes=200, homophily=0.9, seed=0), budget=40).graph
    >>> sanitation = SelfAttack(rounds=2, trees=20).sanitize(poisoned, budget=20)
    >>> len(sanitation.removed), sanitation.estimate.number > 5
    (20, True)
    """

    name: ClassVar[str] = "self-attack"

    rounds: int = 7
    attackers: str = SIMULATED
    trees: int = 60
    threshold: float = 0.15

    def __post_init__(self) -> None:
        attackers(self.attackers)
        if min(self.rounds, self.trees) < 1 or not 0 <= self.threshold <= 1:
            raise InputError("rounds and trees must be 1 or above, and threshold lies between 0 and 1")

    @property
    def chooses_budget(self) -> bool:
        return True

    def find(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Findings:
        keeper = Checkpoint(checkpoint, graph=graph.fingerprint(), budget=budget, seed=seed, settings=self.settings())
        opinions = _opinions(keeper.load())
        goal = graph.num_edges if budget is None else budget
        inquiry: PlantedEdgeEM | None = None
        try:
            inquiry = PlantedEdgeEM.of(
                graph, attackers(self.attackers), rounds=self.rounds, trees=self.trees, seed=seed
            )
            while len(opinions) < self.rounds:
                opinions = [*opinions, inquiry.round(len(opinions), opinions[-1] if opinions else None)]
                keeper.save(_arrays(opinions))
                if progress is not None:
                    progress(goal * len(opinions) // self.rounds, goal)
        except KeyboardInterrupt:
            if inquiry is None or not opinions:
                raise FindingsSoFar(Findings(np.empty(0, dtype=np.int64), np.empty(0))) from None
            raise FindingsSoFar(self._findings(inquiry, opinions, budget, seed)) from None
        return self._findings(inquiry, opinions, budget, seed)

    def edge_scorer(self, graph: Graph, *, seed: int = 0) -> EdgeScorer:
        """The classifier of the last round, trained on this graph, as a function of any graph over the same nodes."""
        inquiry = PlantedEdgeEM.of(graph, attackers(self.attackers), rounds=self.rounds, trees=self.trees, seed=seed)
        classifier = inquiry.trained()

        def score(trial: Graph) -> FloatArray:
            return classifier.opinion(inquiry.examiner.extract(trial)).planted

        return score

    def _findings(self, inquiry: PlantedEdgeEM, opinions: list[Posterior], budget: int | None, seed: int) -> Findings:
        graph, clues = inquiry.graph, inquiry.clues
        planted = mean_posterior(opinions)
        order = np.lexsort((-inquiry.first_suspicion(), -planted))
        if budget is None:
            order = order[planted[order] > self.threshold]
        size = len(order) if budget is None else budget
        removed = np.array(without_isolating(order, graph.edges, graph.degrees, size), dtype=np.int64)
        u, v = graph.edges[removed].T
        evidence = {
            "planted": planted[removed],
            "class_agreement": np.exp(clues["agreement"][removed]),
            "training_ends": clues["training_ends"][removed].astype(np.int64),
            "classes_u": clues.classes[u],
            "classes_v": clues.classes[v],
        }
        kinds = ("genuine", *inquiry.attackers)
        trace = {
            "round": np.arange(1, len(opinions) + 1),
            "estimated_planted": np.array([opinion.number for opinion in opinions]),
            **{f"share_{kind}": np.array([o.shares[place] for o in opinions]) for place, kind in enumerate(kinds)},
        }
        return Findings(removed, planted[removed], evidence, trace, estimate=estimated(planted, opinions[-KEPT:]))


def estimated(planted: FloatArray, opinions: list[Posterior]) -> Estimate:
    """How many edges are planted, with an interval: chance within an opinion, and disagreement between opinions."""
    number = float(planted.sum())
    variance = float((planted * (1 - planted)).sum()) + float(np.var([opinion.number for opinion in opinions]))
    half = _SPREAD * variance**0.5
    return Estimate(number, max(number - half, 0.0), min(number + half, float(len(planted))))


def _arrays(opinions: list[Posterior]) -> dict[str, NDArray[Any]]:
    return {
        "planted": np.array([opinion.planted for opinion in opinions]),
        "shares": np.array([opinion.shares for opinion in opinions]),
    }


def _opinions(arrays: Mapping[str, NDArray[Any]]) -> list[Posterior]:
    """The opinions that `_arrays` was made of; none of none."""
    if not arrays:
        return []
    return [Posterior(planted, shares) for planted, shares in zip(arrays["planted"], arrays["shares"], strict=True)]
