"""The detector interface: split the nodes into victims and normal nodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self, TypeVar

import numpy as np
import torch
from sklearn.decomposition import PCA
from torch import Tensor

from focusedcleaner.engine import Attributes, Structure
from focusedcleaner.graph import Graph
from focusedcleaner.settings import Configurable

MOST_COVARIANCES = 512
"""Attributes up to which their covariances are computed, in graphs of several blocks."""

T = TypeVar("T")

Memory = Mapping[str, Tensor]
"""State that a detector passes from step to step: trained weights, threshold. Never changed in place."""


@dataclass(frozen=True)
class View:
    """The input of a detector in one sanitation step."""

    structure: Structure
    logits: Tensor
    """Z = Â²XW*, N × C."""
    reduced: Tensor | None
    """PCA of the attributes, N × C, or None if there are none."""
    seed: int
    """For the random numbers of this step."""
    removed: int = 1
    """Number of edges removed since the previous step."""


@dataclass(frozen=True)
class Victims:
    """The output of a detector."""

    mask: Tensor
    """N booleans: True for victims."""
    normal: Tensor
    """N booleans: True for nodes that the outer loss uses."""
    score: Tensor
    """N values, higher for likelier victims."""
    threshold: float
    memory: Memory = field(default_factory=dict)

    @classmethod
    def above(cls, score: Tensor, threshold: Tensor, memory: Memory) -> Self:
        """Call nodes with a score above the threshold victims and all others normal (Eq. 14)."""
        mask = score > threshold
        return cls(mask, ~mask, score, float(threshold), memory)


class Detector(Configurable, ABC):
    """Splits the nodes of a poisoned graph into victims and normal nodes.

    A detector object holds settings only; trained state is passed from step to step as `Memory`, so that a run can stop
    after any step and resume with the same result.
    """

    name: ClassVar[str]

    def begin(self, graph: Graph, seed: int) -> Memory:
        """Return the memory of the first step: empty, unless a detector needs the whole graph beforehand."""
        del graph, seed
        return {}

    @abstractmethod
    def victims(self, view: View, memory: Memory) -> Victims:
        """Detect victims, given the memory of the previous step (that of `begin` in the first step)."""


def with_prefix(named: Mapping[str, T], prefix: str) -> dict[str, T]:
    """Return the values whose names have the prefix, under their names without it."""
    return {name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)}


def reduced_attributes(graph: Graph, attributes: Attributes) -> Tensor | None:
    """Return PCA(X, C), N × min(C, N, F), of Eq. 11a, or None for a graph without attributes.

    Where the attributes are in several blocks and few enough for an F × F matrix, that of their covariances is
    decomposed.
    """
    x, dtype = graph.features, attributes.dtype
    if x is None:
        return None
    columns = min(graph.num_classes, *x.shape)
    if len(attributes.blocks) > 1 and x.shape[1] <= MOST_COVARIANCES:
        return _by_covariances(attributes, columns)
    if columns < min(x.shape):
        scores = PCA(columns, svd_solver="arpack", random_state=0).fit_transform(x)
    else:
        scores = PCA(columns, svd_solver="full").fit_transform(x.toarray())
    return torch.from_numpy(np.ascontiguousarray(scores)).to(dtype)


def _by_covariances(attributes: Attributes, count: int) -> Tensor:
    """Return the scores of the first principal components; the largest weight of each is positive."""
    num_nodes = attributes.blocks[-1].stop
    mean = attributes.transposed_times(torch.ones(num_nodes, 1, dtype=attributes.dtype)).double() / num_nodes
    squares = [attributes.transposed_times(columns) for columns in attributes.columns()]
    covariances = torch.cat(squares, 1).double() / num_nodes - mean @ mean.T
    weights = torch.linalg.eigh(covariances).eigenvectors.flip(1)[:, :count]
    weights = weights * weights.gather(0, weights.abs().argmax(0, keepdim=True)).sign()
    return attributes.times(weights.to(attributes.dtype).contiguous()) - (mean.T @ weights).to(attributes.dtype)


@dataclass(frozen=True)
class NoDetector(Detector):
    """No focus: every edge is a candidate, and every node counts in the loss."""

    name: ClassVar[str] = "none"

    def victims(self, view: View, memory: Memory) -> Victims:
        every = torch.ones(view.structure.num_nodes, dtype=torch.bool)
        return Victims(every, every, every.to(view.structure.dtype), float("nan"))
