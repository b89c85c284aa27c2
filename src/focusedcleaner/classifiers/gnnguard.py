"""GNNGuard: messages pass between nodes that are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import dropout, normalize

from focusedcleaner.classifiers.layers import Affine, attributes_for, num_columns
from focusedcleaner.classifiers.training import Network, NetworkClassifier
from focusedcleaner.engine.operators import EdgeMatrix, Operator
from focusedcleaner.engine.sparse import row_products, unit_profiles
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph

Inputs = tuple[EdgeMatrix, Tensor, Operator]


@dataclass
class GNNGuard(NetworkClassifier):
    """GCN whose edges are weighted, in each layer, by the similarity of the layer's inputs:

        s_uv = cos(h_u, h_v), 0 where it is below P₀,  α_uv = s_uv / Σ_w s_uw · n_u / (n_u + 1),  α_uu = 1 / (n_u + 1),
        ω₁ = α₁,  ω₂ = m·ω₁ + (1 − m)·α₂,  S = G(ω₂)·dropout(ReLU(G(ω₁)·X·W₁ + b₁))·W₂ + b₂,

    where n_u counts the neighbours with s > 0, m is the layers' memory, and G(ω) = D^-½ ω D^-½ as in GCN. No gradient
    flows through α. Where a graph has no attributes, the first layer compares the rows of A + I. Zhang, Zitnik:
    "GNNGuard: Defending Graph Neural Networks against Adversarial Attacks", NeurIPS 2020
    (https://arxiv.org/abs/2006.08149); its second pruning, by a threshold on a projection of (α_uv, α_vu) that has no
    gradient, is left out.

    Args:
        threshold: P₀.
        memory: m, between 0 and 1.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> GNNGuard().fit(graph, seed=0).accuracy(graph) > 0.6
    True
    """

    name: ClassVar[str] = "gnnguard"

    threshold: float = 0.1
    memory: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.memory <= 1:
            raise InputError(f"GNNGuard's memory lies between 0 and 1, not {self.memory:g}")

    def network(self, graph: Graph) -> Network:
        return _GuardNetwork(self, num_columns(graph), graph.num_classes)


class _GuardNetwork(Network):
    def __init__(self, how: GNNGuard, columns: int, classes: int) -> None:
        super().__init__()
        self.how = how
        self.first, self.second = Affine(columns, how.hidden), Affine(how.hidden, classes)

    def prepare(self, graph: Graph) -> Inputs:
        pattern = EdgeMatrix(graph)
        units = unit_profiles(graph)
        alike = torch.tensor(row_products(units, units, graph.edges), dtype=torch.float32)
        loops = torch.zeros(graph.num_nodes)
        first = importance(pattern, torch.cat([alike, loops])[pattern.edge], self.how.threshold)
        return pattern, first, attributes_for(graph, self.first)

    def forward(self, inputs: Inputs) -> Tensor:
        pattern, first, features = inputs
        hidden = pattern.times(pattern.normalized(first), features(self.first.weight))
        hidden = torch.relu(hidden + self.first.bias)
        with torch.no_grad():
            directions = normalize(hidden, dim=1)
            alike = (directions[pattern.rows] * directions[pattern.columns]).sum(dim=1)
            second = importance(pattern, alike, self.how.threshold)
            weights = self.how.memory * first + (1 - self.how.memory) * second
        hidden = dropout(hidden, self.how.dropout, self.training)
        return pattern.times(pattern.normalized(weights), hidden @ self.second.weight) + self.second.bias


def importance(pattern: EdgeMatrix, alike: Tensor, threshold: float) -> Tensor:
    """α at every place of A + I, from the similarities there; those on the diagonal are not read."""
    kept = torch.where(pattern.is_loop | (alike < threshold), 0.0, alike)
    sums = pattern.row_sums(kept)[pattern.rows]
    neighbours = pattern.row_sums((kept > 0).to(kept))[pattern.rows]
    shares = kept / torch.where(sums > 0, sums, 1.0) * neighbours / (neighbours + 1)
    return torch.where(pattern.is_loop, 1 / (neighbours + 1), shares)
