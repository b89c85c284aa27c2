"""Filters by how alike the attributes of an edge's ends are."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph
from focusedcleaner.sanitizers.base import Columns
from focusedcleaner.sanitizers.filters import Filter, Suspicion


@dataclass(frozen=True)
class SimilarityFilter(Filter):
    """Removes the edges between the least similar nodes.

    Args:
        threshold: every edge whose similarity is not above it goes, as far as the budget allows; None removes as many
            as the budget says.
    """

    threshold: float | None = None

    @property
    def least_score(self) -> float | None:
        return None if self.threshold is None else 0.0 - self.threshold

    @abstractmethod
    def similarities(self, graph: Graph) -> FloatArray:
        """How alike the ends of each edge are, E values."""

    def evidence(self, similarities: FloatArray) -> Columns:
        """What is to be told beside what is told of every edge."""
        del similarities
        return {}

    def suspicion(self, graph: Graph, seed: int) -> Suspicion:
        if graph.attributes is None:
            raise InputError(
                f"the graph has no attributes, and {self.name} compares nothing else: use a method that does without "
                "them, such as cld, lp, agreement or svd"
            )
        similarities = self.similarities(graph)
        return Suspicion(0.0 - similarities, self.evidence(similarities))
