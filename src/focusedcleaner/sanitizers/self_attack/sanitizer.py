"""Self-attack: learns what planted edges look like by planting some. As a sanitizer, and as a victim detector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit

from focusedcleaner.detectors import DETECTORS
from focusedcleaner.detectors.base import Detector, Memory, Victims, View
from focusedcleaner.edge_features.edge_selection import without_isolating
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
    Posterior,
    WideSearch,
    mean_log_odds,
    mean_posterior,
)
from focusedcleaner.sanitizers.self_attack.harm import Harm, measure_harm
from focusedcleaner.sanitizers.self_attack.judgement import Judgement, judge
from focusedcleaner.settings import bounded
from focusedcleaner.verdict import Verdict

FALLBACK_SHARE = 0.1
"""Share of the edges whose endpoints are victims if no edge is above the threshold."""
SUSPECTS_SHARE = 0.1
"""Share of the edges in the list of suspects, where none are removed by a budget."""
WIDE_ROUNDS = 3
"""Most rounds of the wide search, which settles sooner."""
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
    of their log odds. How it works and where it fails: docs/self-attack.md.

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

    >>> from focusedcleaner.attacks import attack
    >>> from focusedcleaner.datasets import synthetic
    >>> poisoned = attack("dice").poison(synthetic(num_nodes=300, homophily=0.9, seed=0), budget=60).graph
    >>> quick = SelfAttack(rounds=2, trees=20, attackers="dice,random", attackers_elsewhere="random")
    >>> sanitation = quick.sanitize(poisoned, budget=20)
    >>> len(sanitation.removed), sanitation.estimate.number > 5
    (20, True)
    """

    name: ClassVar[str] = "self-attack"

    rounds: int = bounded(4, "[1, 1000]")
    attackers: str = DEFAULT_ATTACKERS
    attackers_elsewhere: str = ATTACKERS_ELSEWHERE
    trees: int = bounded(60, "[1, 10000]")
    purpose: Literal["model", "evidence"] = "model"
    threshold: float = bounded(0.05, "[0, 1]")

    def __post_init__(self) -> None:
        super().__post_init__()
        attackers_by_name(self.attackers)
        attackers_by_name(self.attackers_elsewhere)

    @property
    def chooses_budget(self) -> bool:
        return True

    @property
    def _wide_rounds(self) -> int:
        return min(self.rounds, WIDE_ROUNDS)

    def select_edges(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Selection:
        obstacle = unsuitable(graph)
        if obstacle and budget is None:
            return Selection(np.empty(0, dtype=np.int64), no_scores(), verdict=Verdict("not suitable", obstacle))
        saved = Checkpoint(checkpoint, graph=graph.fingerprint(), budget=budget, seed=seed, settings=self.settings())
        run = _Rounds.restored(saved.load(), self.rounds)
        observed: Observed | None = None
        judgement, interrupted = None, False
        try:
            observed = Observed.of(graph)
            for search, posteriors in zip(self._searches(observed, seed), (run.focused, run.wide), strict=True):
                while len(posteriors) < search.rounds:
                    self._tell(progress, run.done, f"attackers: {', '.join(search.attackers_of(len(posteriors)))}")
                    posteriors.append(search.round(len(posteriors), posteriors))
                    saved.save(run.arrays())
            self._tell(progress, run.done, "do the suspicious edges do harm?")
            judgement = judge(observed, run.focused, run.wide, measure_harm(graph, seed))
            self._tell(progress, run.done + 1)
        except KeyboardInterrupt:
            interrupted = True
        if observed is None or not run.focused:
            return Selection(np.empty(0, dtype=np.int64), no_scores(), interrupted=True)
        verdict = None if judgement is None else judgement.verdict
        if obstacle and verdict is not None:
            verdict = replace(verdict, status="not suitable", reason=obstacle)
        judgement = judgement or judge(observed, run.focused, run.wide, Harm(0, 0))
        found = self._selection(observed, run, judgement, verdict, budget)
        return replace(found, interrupted=interrupted)

    def _tell(self, progress: Progress | None, done: int, doing: str = "") -> None:
        """Report the progress before a round, and at the end; the last round measures the harm."""
        total = self.rounds + self._wide_rounds + 1
        if progress is not None:
            progress(done, total, f"round {done + 1} of {total}, {doing}" if doing else "")

    def edge_scorer(self, graph: Graph, *, seed: int = 0) -> EdgeScorer:
        """Return the last classifiers of both searches, trained on ``graph``, as a scorer of graphs over its nodes."""
        observed = Observed.of(graph)
        classifiers = [search.run()[1] for search in self._searches(observed, seed)]

        def score(trial: Graph) -> FloatArray:
            table = observed.extractor.extract(trial).table
            return expit(mean_log_odds([1 - classifier.posterior(table)[0][:, 0] for classifier in classifiers]))

        return score

    def _searches(self, observed: Observed, seed: int) -> tuple[PlantedEdgeEM, WideSearch]:
        here, elsewhere = attackers_by_name(self.attackers), attackers_by_name(self.attackers_elsewhere)
        return (
            PlantedEdgeEM(observed, here, rounds=self.rounds, trees=self.trees, seed=seed),
            WideSearch(observed, elsewhere, rounds=self._wide_rounds, trees=self.trees, seed=seed),
        )

    def _selection(
        self, observed: Observed, run: _Rounds, judgement: Judgement, verdict: Verdict | None, budget: int | None
    ) -> Selection:
        graph, planted = observed.graph, judgement.planted
        order = np.lexsort((-observed.initial_scores, -planted))
        listed = max(1, int(SUSPECTS_SHARE * graph.num_edges))
        chosen = order[:0]
        if budget is not None:
            chosen, listed = order, 0
        elif verdict is not None and verdict.status == "poisoned":
            chosen = order[: self._own_budget(observed, planted)]
        size = len(chosen) if budget is None else budget
        removed = np.array(without_isolating(chosen, graph.edges, graph.degrees, size), dtype=np.int64)
        if verdict is not None and len(removed):
            verdict = replace(verdict, expected_precision=float(planted[removed].mean()))
        suspects = order[:listed]
        suspicion = dict(_evidence(observed, planted, suspects))
        if verdict is None or verdict.status != "poisoned":
            del suspicion["planted"]  # a probability only if anything was planted; it stays the score
        return Selection(
            removed,
            planted[removed],
            _evidence(observed, planted, removed),
            run.trace(),
            estimate=judgement.estimate,
            verdict=verdict,
            suspects=suspects,
            suspect_scores=planted[suspects],
            suspect_evidence=suspicion,
        )

    def _own_budget(self, observed: Observed, planted: FloatArray) -> int:
        """Return how many edges to remove from a poisoned graph."""
        if self.purpose == "evidence":
            return int((planted >= SURE).sum())
        alike = np.exp(observed.features["agreement"]).mean()
        floor = int(MODEL_SHARE * len(planted)) if alike >= HOMOPHILOUS else 0
        return max(int((planted >= self.threshold).sum()), floor)


def _evidence(observed: Observed, planted: FloatArray, edges: IntArray) -> Columns:
    features = observed.features
    u, v = observed.graph.edges[edges].T
    return {
        "planted": planted[edges],
        "class_agreement": np.exp(features["agreement"][edges]),
        "training_ends": features["training_ends"][edges].astype(np.int64),
        "classes_u": features.classes[u],
        "classes_v": features.classes[v],
    }


@dataclass(frozen=True)
class _Rounds:
    """The posteriors of both searches, as far as they are computed."""

    focused: list[Posterior]
    wide: list[Posterior]

    @property
    def done(self) -> int:
        return len(self.focused) + len(self.wide)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All posteriors as arrays, for a checkpoint."""
        parts = [*self.focused, *self.wide]
        most = max(len(posterior.priors) for posterior in parts)
        return {
            "planted": np.array([posterior.planted for posterior in parts]),
            "priors": np.array([np.pad(posterior.priors, (0, most - len(posterior.priors))) for posterior in parts]),
            "flags": np.array([(posterior.purposeful, posterior.false_alarms) for posterior in parts]),
        }

    @classmethod
    def restored(cls, arrays: Mapping[str, NDArray[Any]] | None, rounds: int) -> _Rounds:
        """The inverse of `arrays`; ``rounds`` are those of the first search."""
        if not arrays:
            return cls([], [])
        rows = zip(arrays["planted"], arrays["priors"], arrays["flags"], strict=True)
        parts = [Posterior(planted, priors, *map(float, flags)) for planted, priors, flags in rows]
        return cls(parts[:rounds], parts[rounds:])

    def trace(self) -> Columns:
        """A row per round: its search, the estimated number of planted edges, and how many attackers chose."""
        parts = [*self.focused, *self.wide]
        return {
            "round": np.arange(1, len(parts) + 1),
            "wide_search": np.repeat([0, 1], [len(self.focused), len(self.wide)]),
            "estimated_planted": np.array([posterior.expected for posterior in parts]),
            "purposeful": np.array([posterior.purposeful for posterior in parts]),
            "false_alarms": np.array([posterior.false_alarms for posterior in parts]),
        }


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
