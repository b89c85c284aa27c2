"""Pro-GNN: learns the graph's structure together with the network that reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import dropout

from focusedcleaner.classifiers.layers import Affine, attributes_for, num_columns
from focusedcleaner.classifiers.training import Network, NetworkClassifier
from focusedcleaner.engine.operators import EdgeMatrix, Operator
from focusedcleaner.engine.sparse import leading_eigenpairs, unit_profiles
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray

_BLOCK = 512
"""Rows that are dense at a time."""


@dataclass
class ProGNN(NetworkClassifier):
    """GCN on a structure S that is low-rank, sparse and smooth over the attributes, learnt beside the weights:

        S₀ = [ω·A + U·diag(sign(σ)·max(|σ| − τ, 0))·Uᵀ]₀¹ at pairs with cos(xᵤ, xᵥ) ≥ c and a value above α, else 0,
        S ← [S − r·(γ·∂CE/∂S + S − S₀)]₀¹ before every second step of the weights,  Â = D^-½ (S + I) D^-½,

    where A = U·diag(σ)·Uᵀ, τ is the modulus of the first eigenvalue left out, and [·]₀¹ clips to 0 … 1.
    Jin, Ma, Liu, Tang, Wang, Tang: "Graph Structure Learning for Robust Graph Neural Networks", KDD 2020
    (https://arxiv.org/abs/2005.10203) minimize ‖A − S‖² + α‖S‖₁ + β‖S‖_* + λ·tr(XᵀL̂X) + γ·CE over all N² entries, with
    a whole SVD at every step. Here the proximal step of the nuclear norm is taken once, so far that a truncated SVD is
    enough; the smoothness is a bound c instead of a weight λ, which leaves few enough pairs to keep S sparse; and CE is
    the sum over the training nodes. S belongs to the graph that was fitted: the model predicts on no other.

    Args:
        rank: eigenvalues that are kept, at most a tenth of all; the next one's modulus is τ.
        edge_weight: ω, what an edge weighs beside the low-rank part.
        similarity: c, the least cosine of attributes (of the rows of A + I where there are none) of a pair in S.
        sparsity: α, values not above it are dropped.
        structure_rate: r.
        supervision: γ.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> ProGNN().fit(graph, seed=0).accuracy(graph) > 0.6
    True
    """

    name: ClassVar[str] = "prognn"

    rank: int = 200
    edge_weight: float = 0.3
    similarity: float = 0.1
    sparsity: float = 1e-3
    structure_rate: float = 0.1
    supervision: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rank < 1 or not min(self.edge_weight, self.sparsity, self.structure_rate, self.supervision) >= 0:
            raise InputError("Pro-GNN's rank must be 1 or above, its weights 0 or above")

    def network(self, graph: Graph) -> Network:
        rank = min(self.rank, graph.num_nodes // 10)
        pairs, values = similar_low_rank(graph, rank, self.edge_weight, self.similarity, self.sparsity)
        return _ProNetwork(self, graph, pairs, values)


class _ProNetwork(Network):
    start: Tensor
    structure: Tensor

    def __init__(self, how: ProGNN, graph: Graph, pairs: np.ndarray, values: np.ndarray) -> None:
        super().__init__()
        self.how, self.fitted, self.pairs = how, graph, pairs
        self.first, self.second = Affine(num_columns(graph), how.hidden), Affine(how.hidden, graph.num_classes)
        self.register_buffer("start", torch.tensor(values, dtype=torch.float32))
        self.register_buffer("structure", self.start.clone())
        self._odd = False

    def prepare(self, graph: Graph) -> tuple[EdgeMatrix, Operator]:
        if graph.num_nodes != self.fitted.num_nodes or not np.array_equal(graph.edge_keys, self.fitted.edge_keys):
            raise InputError("Pro-GNN learns the structure of one graph and predicts on no other: fit it on this one")
        return EdgeMatrix(Graph(graph.num_nodes, self.pairs)), attributes_for(graph, self.first)

    def forward(self, inputs: tuple[EdgeMatrix, Operator]) -> Tensor:
        return self._scores(inputs, self.structure)

    def _scores(self, inputs: tuple[EdgeMatrix, Operator], structure: Tensor) -> Tensor:
        pattern, features = inputs
        loops = structure.new_ones(pattern.num_nodes)
        weights = pattern.normalized(torch.cat([structure, loops]).index_select(0, pattern.edge))
        hidden = torch.relu(pattern.times(weights, features(self.first.weight)) + self.first.bias)
        hidden = dropout(hidden, self.how.dropout, self.training)
        return pattern.times(weights, hidden @ self.second.weight) + self.second.bias

    def learn_structure(self, inputs: tuple[EdgeMatrix, Operator], loss: Callable[[Tensor], Tensor]) -> None:
        self._odd = not self._odd
        if not self._odd or not self.how.structure_rate:
            return
        structure = self.structure.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(self._scores(inputs, structure)), structure)
        pull = self.how.supervision * gradient + self.structure - self.start
        self.structure = (self.structure - self.how.structure_rate * pull).clamp(0, 1)


def similar_low_rank(
    graph: Graph, rank: int, edge_weight: float, similarity: float, sparsity: float
) -> tuple[IntArray, FloatArray]:
    """S₀ of `ProGNN`: its pairs u < v (n × 2, sorted) and their values, without ever forming an N × N matrix."""
    adjacency = graph.adjacency()
    values, vectors = leading_eigenpairs(adjacency, min(rank + 1, graph.num_nodes))
    cut = np.abs(values[rank]) if len(values) > rank else 0.0
    weighted = vectors * (np.sign(values) * np.maximum(np.abs(values) - cut, 0.0))
    units = unit_profiles(graph)
    columns = sp.csr_array(units.T)
    pairs, found = [], []
    for start in range(0, graph.num_nodes, _BLOCK):
        rows = slice(start, min(start + _BLOCK, graph.num_nodes))
        block = weighted[rows] @ vectors.T + edge_weight * adjacency[rows].toarray()
        alike = (units[rows] @ columns).toarray() >= similarity
        u, v = np.nonzero(np.triu(alike & (block > sparsity), k=start + 1))
        pairs.append(np.stack([u + start, v], axis=1))
        found.append(np.clip(block[u, v], 0.0, 1.0))
    return np.concatenate(pairs), np.concatenate(found)
