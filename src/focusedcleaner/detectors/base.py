"""The contract of a detector: who was attacked?"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.decomposition import PCA
from torch import Tensor

from focusedcleaner.engine import Structure
from focusedcleaner.graph import Graph

Memory = Mapping[str, Tensor]
"""What a detector hands from one step to the next: its trained weights, its threshold. Never changed in place."""


@dataclass(frozen=True)
class View:
    """What a detector sees in one sanitation step."""

    structure: Structure
    logits: Tensor
    """Z = Â²XW*, N × C."""
    reduced: Tensor | None
    """The attributes' PCA to C columns, N × C, or None where there are no attributes."""
    seed: int
    """For whatever is random in this step."""


@dataclass(frozen=True)
class Victims:
    """A detector's answer."""

    mask: Tensor
    """N booleans: True for a victim."""
    normal: Tensor
    """N booleans: True for a node that the outer loss may trust."""
    score: Tensor
    """N numbers: the higher, the more likely a victim."""
    threshold: float
    memory: Memory = field(default_factory=dict)

    @classmethod
    def above(cls, score: Tensor, threshold: Tensor, memory: Memory) -> Self:
        """The nodes whose score is above the threshold; all others are normal."""
        mask = score > threshold
        return cls(mask, ~mask, score, float(threshold), memory)


class Detector(ABC):
    """Splits the nodes of a poisoned graph into victims and normal nodes.

    The constructor stores settings and nothing else: what is learnt goes from step to step as `Memory`, so that a run
    can stop after any step and go on later to the same result.
    """

    name: ClassVar[str]

    def begin(self, graph: Graph, seed: int) -> Memory:
        """What the first step remembers: nothing, unless a detector has to see the whole graph before it begins."""
        del graph, seed
        return {}

    @abstractmethod
    def victims(self, view: View, memory: Memory) -> Victims:
        """Judge the nodes, from the memory of the previous step (what `begin` returned, in the first)."""


def reduced_attributes(graph: Graph, *, dtype: torch.dtype, device: torch.device | str = "cpu") -> Tensor | None:
    """PCA(X, C): N × min(C, N, F), or None for a graph without attributes."""
    if graph.attributes is None:
        return None
    smallest = min(graph.attributes.shape)
    columns = min(graph.num_classes, smallest)
    if not _vary(graph.attributes):
        scores = np.zeros((graph.num_nodes, columns))
    elif columns < smallest:
        scores = PCA(columns, svd_solver="arpack", random_state=0).fit_transform(graph.attributes)
    else:
        scores = PCA(columns, svd_solver="full").fit_transform(graph.attributes.toarray())
    return torch.from_numpy(np.ascontiguousarray(scores)).to(device, dtype)


def _vary(attributes: sp.csr_array) -> bool:
    """Whether some attribute differs between two nodes; PCA has nothing to say where none does."""
    return bool((attributes.max(axis=0) - attributes.min(axis=0)).nnz)


@dataclass(frozen=True)
class NoDetector(Detector):
    """Every node is a victim as far as candidates go, and normal as far as the loss goes: no focus at all."""

    name: ClassVar[str] = "none"

    def victims(self, view: View, memory: Memory) -> Victims:
        everyone = torch.ones(view.structure.num_nodes, dtype=torch.bool, device=view.structure.device)
        return Victims(everyone, everyone, everyone.to(view.structure.dtype), float("nan"))
