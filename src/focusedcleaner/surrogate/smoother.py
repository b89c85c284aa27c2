"""The attribute smoother Tr(X^T L X), small if neighbours have similar attributes."""

from __future__ import annotations

import scipy.sparse as sp
import torch
from torch import Tensor

from focusedcleaner.engine.sparse import row_products
from focusedcleaner.engine.structure import Attributes, Structure
from focusedcleaner.graph import Graph


class Smoother:
    """Tr(X^T L X) = Σ_{i: d_i > 0} ‖x_i‖² − 2 Σ_{edges} x_u·x_v/√(d_u d_v), degrees without self-loop (Eq. 6a, 6d).

    The products x_u·x_v are constant and computed once.
    """

    def __init__(self, graph: Graph, attributes: Attributes) -> None:
        x = sp.csr_array((graph.num_nodes, 1)) if attributes.matrix is None else attributes.matrix
        self.products = torch.from_numpy(row_products(x, x, graph.edges)).to(attributes.dtype)
        self.squares = torch.from_numpy(x.multiply(x).sum(axis=1)).to(attributes.dtype)

    def _weighted(self, structure: Structure) -> Tensor:
        u, v = structure.ends
        return self.products * (structure.degrees[u] * structure.degrees[v]).clamp_min(1).rsqrt()

    def value(self, structure: Structure) -> Tensor:
        """Return Tr(X^T L X) of the current structure."""
        connected = self.squares[structure.degrees > 0].sum()
        return connected - 2 * self._weighted(structure)[structure.alive].sum()

    def edges(self, structure: Structure) -> Tensor:
        """Return the gradient with respect to every edge, E values."""
        weighted = self._weighted(structure)
        node = structure.at_nodes(weighted) / structure.degrees.clamp_min(1)
        u, v = structure.ends
        return node[u] + node[v] - 2 * weighted
