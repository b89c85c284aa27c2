"""A low-rank structure between similar nodes, learnt together with a GCN on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from focusedcleaner.classifiers.base import NetworkClassifier, TwoLayers
from focusedcleaner.engine.operators import EdgeMatrix, Operator
from focusedcleaner.engine.sparse import leading_eigenpairs, unit_profiles
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.settings import bounded

_BLOCK = 512
"""Rows that are dense at the same time."""


class _LowRankNetwork(TwoLayers):
    start: Tensor
    structure: Tensor

    def __init__(self, model: LowRank, graph: Graph) -> None:
        super().__init__(model, graph)
        self.fitted = graph
        rank = min(model.rank, graph.num_nodes // 10)
        self.pairs, values = similar_low_rank(graph, rank, model.edge_weight, model.similarity, model.sparsity)
        self.register_buffer("start", torch.tensor(values, dtype=torch.float32))
        self.register_buffer("structure", self.start.clone())
        self._odd = False

    def operators(self, graph: Graph) -> EdgeMatrix:
        if graph.num_nodes != self.fitted.num_nodes or not np.array_equal(graph.edge_keys, self.fitted.edge_keys):
            raise InputError("low-rank learns the structure of one graph and predicts on no other: fit it on this one")
        return EdgeMatrix(Graph(graph.num_nodes, self.pairs))

    def forward(self, x: Operator, pattern: EdgeMatrix) -> Tensor:
        return self._scores(x, pattern, self.structure)

    def _scores(self, x: Operator, pattern: EdgeMatrix, structure: Tensor) -> Tensor:
        loops = structure.new_ones(pattern.num_nodes)
        weights = pattern.normalized(torch.cat([structure, loops]).index_select(0, pattern.edge))
        return super().forward(x, partial(pattern.times, weights))

    def learn_structure(self, x: Operator, pattern: EdgeMatrix, loss: Callable[[Tensor], Tensor]) -> None:
        self._odd = not self._odd
        if not self._odd or not self.model.structure_rate:
            return
        structure = self.structure.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(self._scores(x, pattern, structure)), structure)
        step = self.model.supervision * gradient + self.structure - self.start
        self.structure = (self.structure - self.model.structure_rate * step).clamp(0, 1)


@dataclass
class LowRank(NetworkClassifier):
    """GCN on a structure S that is low-rank, sparse and smooth over the attributes, learnt with the weights:

        S₀ = [ω·A + U·diag(sign(σ)·max(|σ| − τ, 0))·Uᵀ]₀¹ at pairs with cos(xᵤ, xᵥ) ≥ c and a value above α, else 0,
        S ← [S − r·(γ·∂CE/∂S + S − S₀)]₀¹ before every second step of the weights,  Â = D^-½ (S + I) D^-½,

    where A = U·diag(σ)·Uᵀ, τ is the modulus of the first dropped eigenvalue, and [·]₀¹ clips to 0 … 1.
    The idea is that of `ProGNN`: Jin, Ma, Liu, Tang, Wang, Tang: "Graph Structure Learning for Robust Graph Neural
    Networks", KDD 2020 (https://arxiv.org/abs/2005.10203). Here the proximal step of the nuclear norm is taken once, so
    large that a truncated SVD is enough; the smoothness is a bound c instead of a weight λ, which keeps S sparse; and
    CE is the sum over the training nodes. S belongs to the fitted graph: the model predicts on no other.

    Args:
        rank: number of eigenvalues that are kept, at most N/10; the modulus of the next one is τ.
        edge_weight: ω, the weight of an edge beside the low-rank part.
        similarity: c, the smallest cosine of attributes (of the rows of A + I if there are none) of a pair in S.
        sparsity: α, values up to it are dropped.
        structure_rate: r.
        supervision: γ.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> LowRank().fit(graph, seed=0).accuracy(graph) > 0.6
    True
    """

    name = "low-rank"
    network = _LowRankNetwork
    compares_pairs = True

    rank: int = bounded(200, "[1, 10000]")
    edge_weight: float = bounded(0.3, "[0, inf)")
    similarity: float = 0.1
    sparsity: float = bounded(1e-3, "[0, inf)")
    structure_rate: float = bounded(0.1, "[0, inf)")
    supervision: float = bounded(1.0, "[0, inf)")

    def bytes_held(self, graph: Graph) -> float:
        return 40.0 * graph.num_nodes**2  # if most pairs are similar, as with few attributes


def similar_low_rank(
    graph: Graph, rank: int, edge_weight: float, similarity: float, sparsity: float
) -> tuple[IntArray, FloatArray]:
    """Return S₀ of `LowRank`: its pairs u < v (n × 2, sorted) and their values; no N × N matrix is formed."""
    adjacency = graph.adjacency()
    values, vectors = leading_eigenpairs(adjacency, min(rank + 1, graph.num_nodes))
    cut = np.abs(values[rank]) if len(values) > rank else 0.0
    weighted = vectors * (np.sign(values) * np.maximum(np.abs(values) - cut, 0.0))
    units = unit_profiles(graph)
    columns = sp.csr_array(units.T)
    pairs, entries = [], []
    for start in range(0, graph.num_nodes, _BLOCK):
        rows = slice(start, min(start + _BLOCK, graph.num_nodes))
        block = weighted[rows] @ vectors.T + edge_weight * adjacency[rows].toarray()
        alike = (units[rows] @ columns).toarray() >= similarity
        u, v = np.nonzero(np.triu(alike & (block > sparsity), k=start + 1))
        pairs.append(np.stack([u + start, v], axis=1))
        entries.append(np.clip(block[u, v], 0.0, 1.0))
    return np.concatenate(pairs), np.concatenate(entries)
