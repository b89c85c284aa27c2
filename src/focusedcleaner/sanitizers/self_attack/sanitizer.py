"""Self-attack: learns what planted edges look like by planting some, and estimates their number."""

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
from focusedcleaner.io.disk import Checkpoint
from focusedcleaner.registry import EdgeScorer
from focusedcleaner.sanitizers.base import Estimate, InterruptedSelection, Progress, Sanitizer, Selection, no_scores
from focusedcleaner.sanitizers.self_attack.attackers import DEFAULT_ATTACKERS, attackers_by_name
from focusedcleaner.sanitizers.self_attack.em import AVERAGED_ROUNDS, PlantedEdgeEM, Posterior, mean_posterior

_Z90 = 1.645
"""Half-width, in standard deviations, of an interval that holds 90 % of a normal distribution."""


@dataclass(frozen=True)
class SelfAttack(Sanitizer):
    """Attacks the partly cleaned graph itself, learns to recognize planted edges, and scores the real edges:

        q ← P(planted | features) by a classifier trained on the edges that attackers plant in G − Z,
        Z drawn from the previous q,

    corrected for prior shift, since G has another share of planted edges than the training set. The edges with the
    largest q are removed; with ``budget="auto"``, those with q > threshold: a planted edge harms a GNN more than a
    genuine one helps it, by a factor of (1 − threshold)/threshold.

    The correction is from Saerens, Latinne, Decaestecker: "Adjusting the Outputs of a Classifier to New a Priori
    Probabilities: A Simple Procedure", Neural Computation 2002. How it works and where it fails: docs/self-attack.md.

    Args:
        rounds: EM rounds; q is the mean of the last three, and only these simulate the slow attackers unrolled and
            minmax.
        attackers: simulated attackers, by commas: mettack, unrolled, minmax, targeted, dice, random, stealthy.
        trees: boosting iterations of the classifier (histogram gradient boosting).
        threshold: on q, for the budget "auto".

    >>> from focusedcleaner.attacks import attack
    >>> from focusedcleaner.datasets import synthetic
    >>> poisoned = attack("dice").poison(synthetic(num_nodes=200, homophily=0.9, seed=0), budget=40).graph
    >>> sanitation = SelfAttack(rounds=2, trees=20, attackers="dice,random").sanitize(poisoned, budget=20)
    >>> len(sanitation.removed), sanitation.estimate.number > 5
    (20, True)
    """

    name: ClassVar[str] = "self-attack"

    rounds: int = 7
    attackers: str = DEFAULT_ATTACKERS
    trees: int = 60
    threshold: float = 0.15

    def __post_init__(self) -> None:
        attackers_by_name(self.attackers)
        if min(self.rounds, self.trees) < 1 or not 0 <= self.threshold <= 1:
            raise InputError("rounds and trees must be 1 or above, and threshold must lie between 0 and 1")

    @property
    def chooses_budget(self) -> bool:
        return True

    def select_edges(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Selection:
        saved = Checkpoint(checkpoint, graph=graph.fingerprint(), budget=budget, seed=seed, settings=self.settings())
        posteriors = _posteriors(saved.load())
        total = graph.num_edges if budget is None else budget
        em: PlantedEdgeEM | None = None
        try:
            em = self._em(graph, seed)
            while len(posteriors) < self.rounds:
                posteriors = [*posteriors, em.round(len(posteriors), posteriors[-1] if posteriors else None)]
                saved.save(_arrays(posteriors))
                if progress is not None:
                    progress(total * len(posteriors) // self.rounds, total)
        except KeyboardInterrupt:
            if em is None or not posteriors:
                raise InterruptedSelection(Selection(np.empty(0, dtype=np.int64), no_scores())) from None
            raise InterruptedSelection(self._selection(em, posteriors, budget)) from None
        return self._selection(em, posteriors, budget)

    def edge_scorer(self, graph: Graph, *, seed: int = 0) -> EdgeScorer:
        """Return the last round's classifier, trained on ``graph``, as a scorer of graphs over the same nodes."""
        em = self._em(graph, seed)
        classifier = em.fit_classifier()

        def score(trial: Graph) -> FloatArray:
            return classifier.posterior(em.extractor.extract(trial)).planted

        return score

    def _em(self, graph: Graph, seed: int) -> PlantedEdgeEM:
        attackers = attackers_by_name(self.attackers)
        return PlantedEdgeEM(graph, attackers, rounds=self.rounds, trees=self.trees, seed=seed)

    def _selection(self, em: PlantedEdgeEM, posteriors: list[Posterior], budget: int | None) -> Selection:
        graph, features = em.graph, em.features
        planted = mean_posterior(posteriors)
        order = np.lexsort((-em.initial_scores(), -planted))
        if budget is None:
            order = order[planted[order] > self.threshold]
        size = len(order) if budget is None else budget
        removed = np.array(without_isolating(order, graph.edges, graph.degrees, size), dtype=np.int64)
        u, v = graph.edges[removed].T
        evidence = {
            "planted": planted[removed],
            "class_agreement": np.exp(features["agreement"][removed]),
            "training_ends": features["training_ends"][removed].astype(np.int64),
            "classes_u": features.classes[u],
            "classes_v": features.classes[v],
        }
        priors = np.array([posterior.priors for posterior in posteriors])
        trace = {
            "round": np.arange(1, len(posteriors) + 1),
            "estimated_planted": np.array([posterior.expected for posterior in posteriors]),
            **{f"share_{name}": column for name, column in zip(("genuine", *em.attackers), priors.T, strict=True)},
        }
        estimate = estimate_planted(planted, posteriors[-AVERAGED_ROUNDS:])
        return Selection(removed, planted[removed], evidence, trace, estimate=estimate)


def estimate_planted(planted: FloatArray, posteriors: list[Posterior]) -> Estimate:
    """Estimate the number of planted edges.

    The interval adds the variance of the posterior to the variance between rounds.
    """
    number = float(planted.sum())
    variance = float((planted * (1 - planted)).sum()) + float(np.var([posterior.expected for posterior in posteriors]))
    half = _Z90 * variance**0.5
    return Estimate(number, max(number - half, 0.0), min(number + half, float(len(planted))))


def _arrays(posteriors: list[Posterior]) -> dict[str, NDArray[Any]]:
    """Return the posteriors as named arrays, for a checkpoint."""
    return {
        "planted": np.array([posterior.planted for posterior in posteriors]),
        "shares": np.array([posterior.priors for posterior in posteriors]),
    }


def _posteriors(arrays: Mapping[str, NDArray[Any]]) -> list[Posterior]:
    """Restore the posteriors from `_arrays`; an empty mapping gives none."""
    if not arrays:
        return []
    return [Posterior(planted, priors) for planted, priors in zip(arrays["planted"], arrays["shares"], strict=True)]
