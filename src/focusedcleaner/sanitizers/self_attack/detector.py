"""Self-attack as a victim detector: victims are the endpoints of edges that were probably planted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from focusedcleaner.detectors import DETECTORS
from focusedcleaner.detectors.base import Detector, Memory, Victims, View
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.self_attack.attackers import DEFAULT_ATTACKERS, attackers_by_name
from focusedcleaner.sanitizers.self_attack.em import PlantedEdgeEM

FALLBACK_SHARE = 0.1
"""Share of the edges whose endpoints are victims if no edge is above the threshold."""


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

    rounds: int = 7
    trees: int = 60
    attackers: str = DEFAULT_ATTACKERS
    threshold: float = 0.5

    def __post_init__(self) -> None:
        if min(self.rounds, self.trees) < 1 or not 0 <= self.threshold <= 1:
            raise InputError("rounds and trees must be 1 or above, and threshold must lie between 0 and 1")

    def begin(self, graph: Graph, seed: int) -> Memory:
        em = PlantedEdgeEM(graph, attackers_by_name(self.attackers), rounds=self.rounds, trees=self.trees, seed=seed)
        return {"planted": torch.from_numpy(em.run())}

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
