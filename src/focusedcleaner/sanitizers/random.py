"""Random edges: what every sanitizer must be better than."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.filters import Filter, Suspicion


@dataclass(frozen=True)
class RandomEdges(Filter):
    """Removes edges at random, all alike:

        score(u, v) ~ uniform in [0, 1), the highest first.

    The control of every comparison; random edges as such are studied e.g. in Jin, Ma, Liu, Tang, Wang, Tang: "Graph
    Structure Learning for Robust Graph Neural Networks", KDD 2020.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, seed=0)
    >>> one, other = (RandomEdges().sanitize(graph, 20, seed=seed).removed for seed in (0, 1))
    >>> len(one), (one == other).all()
    (20, np.False_)
    """

    name: ClassVar[str] = "random"

    def suspicion(self, graph: Graph, seed: int) -> Suspicion:
        return Suspicion(np.random.default_rng(seed).random(graph.num_edges))
