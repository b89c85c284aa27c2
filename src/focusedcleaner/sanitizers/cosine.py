"""Cosine: edges between nodes whose attributes point in different directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.graph import FloatArray, Graph
from focusedcleaner.sanitizers.similarity import SimilarityFilter


@dataclass(frozen=True)
class Cosine(SimilarityFilter):
    """Removes the edges whose ends have the least similar attributes, which may be any real numbers:

        cos(u, v) = x_u·x_v / (‖x_u‖·‖x_v‖), 0 where an end has no attribute.

    `Jaccard` with the cosine instead, as Zhang, Zitnik: "GNNGuard: Defending Graph Neural Networks against Adversarial
    Attacks", NeurIPS 2020 (https://arxiv.org/abs/2006.08149) compare nodes. A graph without attributes is refused.

    Args:
        threshold: every edge with cos ≤ threshold goes, as far as the budget allows; without a budget, all of them.
            None removes as many as the budget says.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = Cosine().sanitize(synthetic(num_nodes=200, seed=0), budget=20)
    >>> (sanitation.scores == -sanitation.evidence["attribute_similarity"]).all()
    np.True_
    """

    name: ClassVar[str] = "cosine"

    def similarities(self, graph: Graph) -> FloatArray:
        return attribute_cosines(graph, graph.edges)
