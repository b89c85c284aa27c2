"""Self-attack: learns what planted edges look like by planting some. As a sanitizer, and as a victim detector."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import torch
from scipy.special import expit

from focusedcleaner.detectors import DETECTORS
from focusedcleaner.detectors.base import Detector, Memory, Victims, View
from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.edge_features.pair_features import other_neighbours
from focusedcleaner.errors import InputWarning
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.io.disk import Checkpoint
from focusedcleaner.registry import EdgeScorer
from focusedcleaner.sanitizers.base import Progress, Sanitizer, Selection
from focusedcleaner.sanitizers.checks import unsuitable
from focusedcleaner.sanitizers.sanitation import Columns, no_scores
from focusedcleaner.sanitizers.self_attack.attackers import ATTACKERS_ELSEWHERE, DEFAULT_ATTACKERS, attackers_by_name
from focusedcleaner.sanitizers.self_attack.em import (
    Observed,
    PlantedEdgeEM,
    mean_log_odds,
    mean_posterior,
)
from focusedcleaner.sanitizers.self_attack.judgement import Judgement
from focusedcleaner.sanitizers.self_attack.plans import NO_HARM, Plan, plan_for
from focusedcleaner.sanitizers.usable_labels import usable_labels
from focusedcleaner.settings import bounded
from focusedcleaner.verdict import Verdict

FALLBACK_SHARE = 0.1
"""Share of the edges whose endpoints are victims if no edge is above the threshold."""
SUSPECTS_SHARE = 0.1
"""Share of the edges in the list of suspects, where none are removed by a budget."""
MODEL_SHARE, HOMOPHILOUS = 0.1, 0.5
"""Least share of the edges removed for a model, where at least this share of all edges is within a predicted class."""
SURE = 0.8
"""Probability from which an edge is evidence."""


@dataclass(frozen=True)
class SelfAttack(Sanitizer):
    """Attacks the partly cleaned graph itself, learns to recognize planted edges, and scores the real edges:

        q ← P(planted | features) by a classifier trained on the edges that attackers plant in G − Z,
        Z drawn from the previous q,

    corrected for prior shift, since G has another share of planted edges than the training set. Two searches do so: one
    for attackers that train on the defender's training nodes, one for attackers elsewhere; edges are ranked by the mean
    of their log odds. How it works and where it fails: docs/self-attack.md. Without labels, clusters of the nodes stand
    for classes, and another search counts; with all labels, both are done (docs/label-free.md).

    It ends with a verdict. Edges are removed only if that is "poisoned", or a budget is given: for a model, those with
    a probability of at least the threshold, since a planted edge harms a GNN more than a genuine one helps it, by a
    factor of (1 − threshold)/threshold, and on homophilous graphs at least a tenth of all, since a GNN does without
    edges between unlike nodes; as evidence, those that are planted with a probability of at least 0.8.

    The correction is from Saerens, Latinne, Decaestecker: "Adjusting the Outputs of a Classifier to New a Priori
    Probabilities: A Simple Procedure", Neural Computation 2002. Classifiers trained on planted edges are also in Li et
    al.: "Boosting the Adversarial Robustness of Graph Neural Networks: An OOD Perspective" (GOOD-AT), ICLR 2024, which
    plants in the clean graph, and in Xu et al.: "EDoG: Adversarial Edge Detection for Graph Neural Networks",
    https://arxiv.org/abs/2212.13607.

    Args:
        rounds: EM rounds of the search at the training nodes, and of the wide search, which has at most three;
            probabilities are the mean of the last two, and only these simulate unrolled and minmax.
        attackers: simulated attackers, by commas: mettack, unrolled, minmax, pgd, targeted, dice, random, stealthy.
        attackers_elsewhere: those with training nodes of their own.
        trees: boosting iterations of the classifier (histogram gradient boosting).
        purpose: "model" removes what would harm a GNN, "evidence" what is almost certainly planted.
        threshold: on the probability, for the purpose "model".
        regions_beyond: edges beyond which attackers are simulated in regions of the graph, whose number is bounded.

    >>> from focusedcleaner.attacks import attack
    >>> from focusedcleaner.datasets import synthetic
    >>> poisoned = attack("dice").poison(synthetic(num_nodes=300, homophily=0.9, seed=0), budget=60).graph
    >>> quick = SelfAttack(rounds=2, trees=20, attackers="dice,random", attackers_elsewhere="random")
    >>> sanitation = quick.sanitize(poisoned, budget=20)
    >>> len(sanitation.removed), sanitation.estimate.number > 5
    (20, True)
    """

    name: ClassVar[str] = "self-attack"
    needs_labels: ClassVar[bool] = False
    scores_edges: ClassVar[bool] = True
    probabilistic: ClassVar[bool] = True

    rounds: int = bounded(4, "[1, 1000]")
    attackers: str = DEFAULT_ATTACKERS
    attackers_elsewhere: str = ATTACKERS_ELSEWHERE
    trees: int = bounded(60, "[1, 10000]")
    purpose: Literal["model", "evidence"] = "model"
    threshold: float = bounded(0.05, "[0, 1]")
    regions_beyond: int = bounded(200_000, "[0, inf)")

    def __post_init__(self) -> None:
        super().__post_init__()
        attackers_by_name(self.attackers)
        attackers_by_name(self.attackers_elsewhere)

    @property
    def chooses_budget(self) -> bool:
        return True

    def select_edges(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Selection:
        obstacle = unsuitable(graph)
        if obstacle and budget is None:
            return Selection(np.empty(0, dtype=np.int64), no_scores(), verdict=Verdict("not suitable", obstacle))
        saved = Checkpoint(checkpoint, graph=graph.fingerprint(), budget=budget, seed=seed, settings=self.settings())
        graph, notes = usable_labels(graph)
        for note in notes:
            warnings.warn(note, InputWarning, stacklevel=2)
        plan: Plan | None = None
        judgement, interrupted = None, False
        try:
            plan = self._plan(graph, seed)
            plan.restore(saved.load())
            tell = _Tell(progress, plan.total)
            for search, posteriors in zip(plan.searches, plan.posteriors, strict=True):
                while len(posteriors) < search.rounds:
                    tell(plan.done, f"attackers: {', '.join(search.attackers_of(len(posteriors)))}")
                    posteriors.append(search.round(len(posteriors), posteriors))
                    saved.save(plan.arrays())
            if plan.measures_harm:
                tell(plan.done, "do the suspicious edges do harm?")
            judgement = plan.judge(plan.harm())
            tell(plan.total)
        except KeyboardInterrupt:
            interrupted = True
        if plan is None or not plan.done:
            return Selection(np.empty(0, dtype=np.int64), no_scores(), interrupted=True)
        verdict = None if judgement is None else judgement.verdict
        if obstacle and verdict is not None:
            verdict = replace(verdict, status="not suitable", reason=obstacle)
        judgement = judgement or plan.judge(NO_HARM)
        found = self._selection(plan, judgement, verdict, budget)
        return replace(found, interrupted=interrupted)

    def _plan(self, graph: Graph, seed: int) -> Plan:
        here, elsewhere = attackers_by_name(self.attackers), attackers_by_name(self.attackers_elsewhere)
        return plan_for(graph)(
            graph,
            here,
            elsewhere,
            rounds=self.rounds,
            trees=self.trees,
            seed=seed,
            by_regions=graph.num_edges > self.regions_beyond,
        )

    def edge_scorer(self, graph: Graph, *, seed: int = 0) -> EdgeScorer:
        """Return the last classifiers of the searches, trained on ``graph``, as a scorer of graphs over its nodes."""
        plan = self._plan(usable_labels(graph.as_seen_by_defender())[0], seed)
        classifiers = []
        for search, posteriors in zip(plan.searches, plan.posteriors, strict=True):
            found, classifier = search.run()
            posteriors += found
            classifiers.append((search.observed.extractor, classifier))

        def score(trial: Graph) -> FloatArray:
            tables = {id(extractor): extractor.extract(trial).table for extractor, _ in classifiers}
            return expit(mean_log_odds([1 - one.posterior(tables[id(by)])[0][:, 0] for by, one in classifiers]))

        return score

    def _selection(self, plan: Plan, judgement: Judgement, verdict: Verdict | None, budget: int | None) -> Selection:
        observed, planted = plan.observed, judgement.planted
        graph = observed.graph
        order = np.lexsort((-observed.initial_scores, -planted))
        listed = max(1, int(SUSPECTS_SHARE * graph.num_edges))
        chosen = order[:0]
        if budget is not None:
            chosen, listed = order, 0
        elif verdict is not None and verdict.status == "poisoned":
            own, rule = self._own_budget(observed, planted)
            chosen, verdict = order[:own], replace(verdict, rule=rule)
        size = len(chosen) if budget is None else budget
        removed = np.array(without_isolating(chosen, graph.edges, graph.degrees, size), dtype=np.int64)
        if verdict is not None and verdict.rule and len(removed) < len(chosen):
            kept = f"{len(chosen) - len(removed):,} stayed because a node would have lost its last edge"
            verdict = replace(verdict, rule=f"{verdict.rule}; {kept}")
        if verdict is not None and len(removed):
            verdict = replace(verdict, expected_precision=float(planted[removed].mean()))
        suspects = order[:listed]
        suspicion = dict(_evidence(observed, planted, suspects, labelled=not plan.by_clusters))
        if verdict is None or verdict.status != "poisoned":
            del suspicion["planted"]  # a probability only if anything was planted; it stays the score
        return Selection(
            removed,
            planted[removed],
            _evidence(observed, planted, removed, labelled=not plan.by_clusters),
            plan.trace(),
            estimate=judgement.estimate,
            verdict=verdict,
            suspects=suspects,
            suspect_scores=planted[suspects],
            suspect_evidence=suspicion,
            edge_scores=planted,
            probabilistic=True,
        )

    def _own_budget(self, observed: Observed, planted: FloatArray) -> tuple[int, str]:
        """Return how many edges to remove from a poisoned graph, and the rule in words."""
        least = SURE if self.purpose == "evidence" else self.threshold
        likely = int((planted >= least).sum())
        rule = f"every edge with a probability of at least {least:g} of being planted was removed"
        if self.purpose == "evidence":
            return likely, rule
        alike = np.exp(observed.features["agreement"]).mean()
        floor = int(MODEL_SHARE * len(planted)) if alike >= HOMOPHILOUS else 0
        if floor > likely:
            spare = "most edges here join nodes of one class, and a model does better without those that don't"
            return floor, f"the most suspicious tenth of the edges was removed, genuine ones among them: {spare}"
        harm = "a planted edge harms a model more than a genuine one helps it"
        return likely, f"{rule}, genuine ones among them: {harm}"


def _evidence(observed: Observed, planted: FloatArray, edges: IntArray, *, labelled: bool) -> Columns:
    """What speaks against these edges; without labels, classes are clusters."""
    features = observed.features
    pairs = observed.graph.edges[edges]
    u, v = pairs.T
    around_u, around_v = other_neighbours(observed.graph, features.classes, pairs)
    around = {"neighbours_u": around_u, "neighbours_v": around_v}
    agreement = np.exp(features["agreement"][edges])
    if not labelled:
        ends = {"clusters_u": features.classes[u], "clusters_v": features.classes[v]}
        return {"planted": planted[edges], "cluster_agreement": agreement, **ends, **around}
    return {
        "planted": planted[edges],
        "class_agreement": agreement,
        "training_ends": features["training_ends"][edges].astype(np.int64),
        "classes_u": features.classes[u],
        "classes_v": features.classes[v],
        **around,
    }


@dataclass(frozen=True)
class _Tell:
    """Reports the progress before a round, and at the end."""

    progress: Progress | None
    total: int

    def __call__(self, done: int, doing: str = "") -> None:
        if self.progress is not None:
            self.progress(done, self.total, f"round {done + 1} of {self.total}, {doing}" if doing else "")


@dataclass(frozen=True)
class PlantedEdges(Detector):
    """Victims are the endpoints of remaining edges whose posterior probability q of being planted exceeds a threshold:

        score(i) = max over edges (i, j) of q(i, j).

    If no remaining edge exceeds it, the threshold is lowered to the top tenth of the edges. q is that of the search at
    the training nodes of `focusedcleaner.sanitizers.SelfAttack`, computed once, before the first round.

    Args:
        rounds: EM rounds; q is the mean of the last two.
        trees: boosting iterations of the classifier.
        attackers: names of the simulated attackers, separated by commas.
        threshold: on q.
    """

    name: ClassVar[str] = "self-attack"

    rounds: int = bounded(4, "[1, 1000]")
    trees: int = bounded(60, "[1, 10000]")
    attackers: str = DEFAULT_ATTACKERS
    threshold: float = bounded(0.5, "[0, 1]")

    def begin(self, graph: Graph, seed: int) -> Memory:
        attackers, observed = attackers_by_name(self.attackers), Observed.of(graph)
        posteriors, _ = PlantedEdgeEM(observed, attackers, rounds=self.rounds, trees=self.trees, seed=seed).run()
        return {"planted": torch.from_numpy(mean_posterior(posteriors))}

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
