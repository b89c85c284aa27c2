"""GNNGuard: GCN whose edges are weighted by the similarity of their ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import normalize

from focusedcleaner.classifiers.base import SINGLE, NetworkClassifier, TwoLayers
from focusedcleaner.engine.operators import EdgeMatrix, Operator
from focusedcleaner.engine.sparse import row_products, unit_profiles
from focusedcleaner.graph import Graph
from focusedcleaner.settings import bounded


class _GuardNetwork(TwoLayers):
    def operators(self, graph: Graph) -> tuple[EdgeMatrix, Tensor]:
        pattern = EdgeMatrix(graph)
        profiles = unit_profiles(graph)
        alike = torch.tensor(row_products(profiles, profiles, graph.edges), dtype=torch.float32)
        loops = torch.zeros(graph.num_nodes)
        return pattern, importance(pattern, torch.cat([alike, loops])[pattern.edge], self.model.threshold)

    def forward(self, x: Operator, operators: tuple[EdgeMatrix, Tensor]) -> Tensor:
        pattern, first = operators
        hidden = self.hidden(x, partial(pattern.times, pattern.normalized(first)))
        with torch.no_grad():
            units = normalize(hidden, dim=1)
            alike = (units[pattern.rows] * units[pattern.columns]).sum(dim=1)
            memory = self.model.memory
            second = memory * first + (1 - memory) * importance(pattern, alike, self.model.threshold)
        return self.output(hidden, partial(pattern.times, pattern.normalized(second)))


@dataclass
class GNNGuard(NetworkClassifier):
    """GCN whose edges are weighted, in each layer, by the similarity of the layer's inputs:

        s_uv = cos(h_u, h_v), 0 where it is below P₀,  α_uv = s_uv / Σ_w s_uw · n_u / (n_u + 1),  α_uu = 1 / (n_u + 1),
        ω₁ = α₁,  ω₂ = m·ω₁ + (1 − m)·α₂,  S = G(ω₂)·dropout(ReLU(G(ω₁)·X·W₁ + b₁))·W₂ + b₂,

    where n_u is the number of neighbours with s > 0, m the layers' memory, and G(ω) = D^-½ ω D^-½ as in GCN. No
    gradient flows through α. If a graph has no attributes, the first layer compares the rows of A + I. Zhang, Zitnik:
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

    name = "gnnguard"
    network = _GuardNetwork

    threshold: float = 0.1
    memory: float = bounded(0.5, "[0, 1]")

    def bytes_held(self, graph: Graph) -> float:
        entries = 2 * graph.num_edges + graph.num_nodes
        return entries * (150.0 + 2 * SINGLE * self.hidden)  # both ends' hidden values, and places of entries


def importance(pattern: EdgeMatrix, alike: Tensor, threshold: float) -> Tensor:
    """Return α at every entry of A + I, from the similarities there; the diagonal is ignored."""
    kept = torch.where(pattern.is_loop | (alike < threshold), 0.0, alike)
    sums = pattern.row_sums(kept)[pattern.rows]
    neighbours = pattern.row_sums((kept > 0).to(kept))[pattern.rows]
    shares = kept / torch.where(sums > 0, sums, 1.0) * neighbours / (neighbours + 1)
    return torch.where(pattern.is_loop, 1 / (neighbours + 1), shares)
