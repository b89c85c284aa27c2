"""SVD: edges with little weight in a low-rank approximation of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from focusedcleaner.engine.operators import scaled_adjacency
from focusedcleaner.engine.sparse import leading_eigenpairs
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.filters import EdgeScores, Filter
from focusedcleaner.settings import bounded


@dataclass(frozen=True)
class SVD(Filter):
    """Removes the edges with the smallest weight in the best rank-r approximation of the adjacency matrix:

        M ≈ U_r Σ_r V_rᵀ = M_r,  score(u, v) = −(M_r)_uv / √((|M|_r)_uu·(|M|_r)_vv),  M = D^-½(A + I)D^-½.

    M is symmetric, so its singular vectors are eigenvectors: (M_r)_uv = Σ_k λ_k·q_uk·q_vk over the r eigenvalues of
    largest modulus, computed at the edges only; |M|_r is the same with |λ_k|. The paper has M = A without denominator,
    and replaces A by M_r; here M_r only decides which edges are removed.

    Entezari, Al-Sayouri, Darvishzadeh, Papalexakis: "All You Need Is Low (Rank): Defending Against Adversarial Attacks
    on Graphs", WSDM 2020 (https://doi.org/10.1145/3336191.3371789).

    Args:
        rank: r; at most N.
        normalized: whether M is the normalized matrix, with the denominator; False is the paper's M = A.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = SVD(rank=5).sanitize(synthetic(num_nodes=200, seed=0), budget=20)
    >>> (sanitation.scores == -sanitation.evidence["low_rank_weight"]).all()
    np.True_
    """

    name: ClassVar[str] = "svd"
    needs_labels: ClassVar[bool] = False

    rank: int = bounded(30, "[1, 10000]")
    normalized: bool = True

    def score_edges(self, graph: Graph, seed: int) -> EdgeScores:
        matrix = scaled_adjacency(graph) if self.normalized else graph.adjacency()
        values, vectors = leading_eigenpairs(matrix, min(self.rank, graph.num_nodes))
        u, v = graph.edges.T
        weights = (vectors[u] * values * vectors[v]).sum(axis=1)
        if self.normalized:
            lengths = np.sqrt((np.square(vectors) * np.abs(values)).sum(axis=1))
            weights = weights / np.maximum(lengths[u] * lengths[v], 1e-12)
        return EdgeScores(-weights, {"low_rank_weight": weights})
