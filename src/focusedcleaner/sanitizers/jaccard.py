"""Jaccard: edges between nodes that have few attributes in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from focusedcleaner.engine.sparse import row_products
from focusedcleaner.graph import FloatArray, Graph
from focusedcleaner.sanitizers.base import Columns
from focusedcleaner.sanitizers.similarity import SimilarityFilter


@dataclass(frozen=True)
class Jaccard(SimilarityFilter):
    """Removes the edges whose ends have the smallest share of their attributes in common:

        J(u, v) = |x_u ∧ x_v| / |x_u ∨ x_v|,  x binary: whether an attribute is there; 0 where neither end has one.

    Wu, Wang, Tyshetskiy, Docherty, Lu, Zhu: "Adversarial Examples on Graph Data: Deep Insights into Attack and
    Defense", IJCAI 2019 (https://arxiv.org/abs/1903.01610). A graph without attributes is refused.

    Args:
        threshold: every edge with J ≤ threshold goes, as far as the budget allows; without a budget, all of them. None
            removes as many as the budget says.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, seed=0)
    >>> len(Jaccard().sanitize(graph, budget=20).removed)
    20
    >>> chosen = Jaccard(threshold=0.05).sanitize(graph)
    >>> chosen.auto, chosen.evidence["jaccard"].max() <= 0.05
    (True, np.True_)
    """

    name: ClassVar[str] = "jaccard"

    def similarities(self, graph: Graph) -> FloatArray:
        assert graph.attributes is not None
        binary = (graph.attributes != 0).astype(float)
        common = row_products(binary, binary, graph.edges)
        sizes = np.diff(graph.attributes.indptr)[graph.edges].sum(axis=1)
        shares: FloatArray = common / np.maximum(sizes - common, 1)
        return shares

    def evidence(self, similarities: FloatArray) -> Columns:
        return {"jaccard": similarities}
