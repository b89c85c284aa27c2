"""Self-attack as a focus: victims are the nodes at an edge that was probably planted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from focusedcleaner.detectors import DETECTORS
from focusedcleaner.detectors.base import Detector, Memory, Victims, View
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.self_attack.attackers import SIMULATED, attackers
from focusedcleaner.sanitizers.self_attack.em import PlantedEdgeEM

SUSPECTS = 0.1
"""Share of the edges whose ends are victims where none is above the threshold."""


@dataclass(frozen=True)
class PlantedEdges(Detector):
    """Victims have an edge that is still there and planted with a probability q above a threshold:

        score(i) = max over edges (i, j) of q(i, j).

    Where no edge is above it, or none is left, it is lowered to the likeliest tenth of the edges. q is that of
    `focusedcleaner.sanitizers.SelfAttack`, computed once, before the first step.

    Args:
        rounds: how often the graph is attacked; q is the mean of the last three rounds.
        trees: of the classifier.
        attackers: who is simulated, by commas.
        threshold: the probability above which an edge makes victims of its ends.
    """

    name: ClassVar[str] = "self-attack"

    rounds: int = 7
    trees: int = 60
    attackers: str = SIMULATED
    threshold: float = 0.5

    def __post_init__(self) -> None:
        if min(self.rounds, self.trees) < 1 or not 0 <= self.threshold <= 1:
            raise InputError("rounds and trees must be 1 or above, and threshold lies between 0 and 1")

    def begin(self, graph: Graph, seed: int) -> Memory:
        inquiry = PlantedEdgeEM.of(graph, attackers(self.attackers), rounds=self.rounds, trees=self.trees, seed=seed)
        return {"planted": torch.from_numpy(inquiry.concluded())}

    def victims(self, view: View, memory: Memory) -> Victims:
        structure = view.structure
        planted = torch.where(structure.alive, memory["planted"].to(structure.dtype), 0.0)
        score = torch.zeros(structure.num_nodes, dtype=structure.dtype)
        for ends in structure.ends:
            score.scatter_reduce_(0, ends, planted, "amax")
        threshold = score.new_tensor(self.threshold)
        if not (score > threshold).any():
            threshold = torch.quantile(planted[structure.alive], 1 - SUSPECTS)
        return Victims.above(score, threshold, memory)


DETECTORS[PlantedEdges.name] = PlantedEdges
