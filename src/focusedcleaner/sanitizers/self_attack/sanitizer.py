"""Self-attack: learns what planted edges look like by planting some. As a sanitizer, and as a victim detector."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from focusedcleaner.detectors import DETECTORS
from focusedcleaner.detectors.base import Detector, Memory, Victims, View
from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.graph import FloatArray, Graph
from focusedcleaner.io.disk import Checkpoint
from focusedcleaner.registry import EdgeScorer
from focusedcleaner.sanitizers.base import Estimate, Progress, Sanitizer, Selection, no_scores
from focusedcleaner.sanitizers.self_attack.attackers import DEFAULT_ATTACKERS, attackers_by_name
from focusedcleaner.sanitizers.self_attack.em import AVERAGED_ROUNDS, PlantedEdgeEM, Posterior, mean_posterior
from focusedcleaner.settings import bounded

_Z90 = 1.645
"""Half-width, in standard deviations, of an interval that holds 90 % of a normal distribution."""
FALLBACK_SHARE = 0.1
"""Share of the edges whose endpoints are victims if no edge is above the threshold."""


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

    rounds: int = bounded(7, "[1, 1000]")
    attackers: str = DEFAULT_ATTACKERS
    trees: int = bounded(60, "[1, 10000]")
    threshold: float = bounded(0.15, "[0, 1]")

    def __post_init__(self) -> None:
        super().__post_init__()
        attackers_by_name(self.attackers)

    @property
    def chooses_budget(self) -> bool:
        return True

    def select_edges(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Selection:
        saved = Checkpoint(checkpoint, graph=graph.fingerprint(), budget=budget, seed=seed, settings=self.settings())
        done = saved.load()
        posteriors = [Posterior(*part) for part in zip(done["planted"], done["shares"], strict=True)] if done else []
        total = graph.num_edges if budget is None else budget
        em: PlantedEdgeEM | None = None
        interrupted = False
        try:
            em = self._em(graph, seed)
            while len(posteriors) < self.rounds:
                posteriors = [*posteriors, em.round(len(posteriors), posteriors[-1] if posteriors else None)]
                planted = np.array([posterior.planted for posterior in posteriors])
                saved.save({"planted": planted, "shares": np.array([posterior.priors for posterior in posteriors])})
                if progress is not None:
                    progress(total * len(posteriors) // self.rounds, total)
        except KeyboardInterrupt:
            interrupted = True
        if em is None or not posteriors:
            return Selection(np.empty(0, dtype=np.int64), no_scores(), interrupted=True)
        return replace(self._selection(em, posteriors, budget), interrupted=interrupted)

    def edge_scorer(self, graph: Graph, *, seed: int = 0) -> EdgeScorer:
        """Return the last round's classifier, trained on ``graph``, as a scorer of graphs over the same nodes."""
        em = self._em(graph, seed)
        _, classifier = em.run()

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


@dataclass(frozen=True)
class PlantedEdges(Detector):
    """Victims are the endpoints of remaining edges whose posterior probability q of being planted exceeds a threshold:

        score(i) = max over edges (i, j) of q(i, j).

    If no remaining edge exceeds it, the threshold is lowered to the top tenth of the edges. q is that of
    `focusedcleaner.sanitizers.SelfAttack`, computed once, before the first round.

    Args:
        rounds: EM rounds; q is the mean of the last three.
        trees: boosting iterations of the classifier.
        attackers: names of the simulated attackers, separated by commas.
        threshold: on q.
    """

    name: ClassVar[str] = "self-attack"

    rounds: int = bounded(7, "[1, 1000]")
    trees: int = bounded(60, "[1, 10000]")
    attackers: str = DEFAULT_ATTACKERS
    threshold: float = bounded(0.5, "[0, 1]")

    def begin(self, graph: Graph, seed: int) -> Memory:
        attackers = attackers_by_name(self.attackers)
        planted, _ = PlantedEdgeEM(graph, attackers, rounds=self.rounds, trees=self.trees, seed=seed).run()
        return {"planted": torch.from_numpy(planted)}

    def victims(self, view: View, memory: Memory) -> Victims:
        structure = view.structure
        planted = torch.where(structure.alive, memory["planted"].to(structure.dtype), 0.0)
        score = torch.zeros(structure.num_nodes, dtype=structure.dtype)
        for ends in structure.ends:
            score.scatter_reduce_(0, ends, planted, "amax")
        threshold = score.new_tensor(self.threshold)
        if not (score > threshold).any():
            threshold = torch.quantile(planted[structure.alive], 1 - FALLBACK_SHARE)
        return Victims.above(score, threshold, memory)


DETECTORS[PlantedEdges.name] = PlantedEdges


def estimate_planted(planted: FloatArray, posteriors: list[Posterior]) -> Estimate:
    """Estimate the number of planted edges; the interval adds the posterior's variance to that between rounds."""
    number = float(planted.sum())
    variance = float((planted * (1 - planted)).sum()) + float(np.var([posterior.expected for posterior in posteriors]))
    half = _Z90 * variance**0.5
    return Estimate(number, max(number - half, 0.0), min(number + half, float(len(planted))))
