"""The attribute smoother Tr(X^T L X): neighbours should have alike attributes."""

from __future__ import annotations

import torch
from torch import Tensor

from focusedcleaner.engine.structure import Attributes, Structure
from focusedcleaner.graph import Graph


class Smoother:
    """Tr(X^T L X) = Σ_{i: d_i > 0} ‖x_i‖² − 2 Σ_{edges} x_u·x_v/√(d_u d_v), degrees without self-loop (Eq. 5d).

    The products x_u·x_v are the same from the first step to the last and computed once.
    """

    def __init__(self, graph: Graph, attributes: Attributes) -> None:
        products = attributes.products(graph.edges)
        self.products = torch.from_numpy(products).to(attributes.device, attributes.dtype)
        squares = torch.zeros(graph.num_nodes)
        if graph.attributes is not None:
            squares = torch.from_numpy(graph.attributes.multiply(graph.attributes).sum(axis=1))
        self.squares = squares.to(attributes.device, attributes.dtype)

    def _weighted(self, structure: Structure) -> Tensor:
        u, v = structure.ends
        return self.products * (structure.degrees[u] * structure.degrees[v]).clamp_min(1).rsqrt()

    def value(self, structure: Structure) -> Tensor:
        """Tr(X^T L X) of the graph as it stands."""
        connected = self.squares[structure.degrees > 0].sum()
        return connected - 2 * self._weighted(structure)[structure.alive].sum()

    def edges(self, structure: Structure) -> Tensor:
        """Its gradient with respect to every edge, E values."""
        weighted = self._weighted(structure)
        node = structure.at_nodes(weighted) / structure.degrees.clamp_min(1)
        u, v = structure.ends
        return node[u] + node[v] - 2 * weighted
