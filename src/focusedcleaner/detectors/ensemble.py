"""Ensemble of ClassDiv and LinkPred: their intersection or union."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import torch
from torch import Tensor

from focusedcleaner.detectors.base import Detector, Memory, Victims, View, with_prefix
from focusedcleaner.detectors.classdiv import ClassDiv
from focusedcleaner.detectors.linkpred import LinkPred
from focusedcleaner.errors import InputError

_RULES = {"both": torch.minimum, "either": torch.maximum}


@dataclass(frozen=True)
class Ensemble(Detector):
    """A = A_ClassDiv ∩ A_LinkPred ("both") or A_ClassDiv ∪ A_LinkPred ("either").

    The score is the smaller or the larger of the two margins above the threshold, each in standard deviations of its
    detector's scores; victims have a score above 0. From "FocusedCleaner", supplement, Section H.

    Args:
        rule: "both" or "either".
        classdiv: settings of ClassDiv.
        linkpred: settings of LinkPred.
    """

    name: ClassVar[str] = "ensemble"

    rule: Literal["both", "either"] = "both"
    classdiv: ClassDiv = field(default_factory=ClassDiv)
    linkpred: LinkPred = field(default_factory=LinkPred)

    def __post_init__(self) -> None:
        if self.rule not in _RULES:
            raise InputError(f"rule must be both or either, not {self.rule!r}")

    def victims(self, view: View, memory: Memory) -> Victims:
        detectors = self.classdiv, self.linkpred
        parts = {part.name: part.victims(view, with_prefix(memory, f"{part.name}.")) for part in detectors}
        margin = _RULES[self.rule](*(_margin(victims, view.logits.dtype) for victims in parts.values()))
        joined = {f"{name}.{key}": value for name, victims in parts.items() for key, value in victims.memory.items()}
        return Victims.above(margin, torch.zeros_like(margin[0]), joined)


def _margin(victims: Victims, dtype: torch.dtype) -> Tensor:
    """Return how far above the threshold each node is; positive exactly for victims."""
    spread = victims.score.std().clamp_min(1e-12)
    distance = (victims.score - victims.threshold).abs().clamp_min(1e-12) / spread
    return torch.where(victims.mask, distance, -distance).to(dtype)
