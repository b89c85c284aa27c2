"""Gradients of every edge: from ∂loss/∂Â through the normalization, and of the attribute smoother."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.engine.parallel import beside, by_rows
from focusedcleaner.engine.sparse import row_squares
from focusedcleaner.engine.structure import Attributes, Structure


@dataclass(frozen=True)
class PairGradient:
    """∂loss/∂Â of rank r: the entry (i, j) is left_i·right_j.

    An undirected pair (u, v) has g = left_u·right_v + left_v·right_u; the gradient with respect to its weight in A is

        g/√(d_u d_v) + c_u + c_v,  c_i = −(Σ_{edges f at i} w_f + 2 g_ii/d_i)/(2 d_i),  w_f = g_f/√(d d),

    where c_i is the gradient through node i's degree, which normalizes all entries of row and column i.
    """

    structure: Structure
    left: Tensor
    right: Tensor

    def edges(self) -> Tensor:
        """Return the gradient of every edge, E values; for a removed edge, that of putting it back."""
        scale = self.structure.scale.squeeze(1)
        weighted = self.structure.times_ends(self.structure.at_edges(self.left, self.right), scale)
        degrees = self.structure.degrees + 1
        loops = by_rows(_row_products, self.left, self.right)
        node = -(self.structure.at_nodes(weighted) + 2 * loops / degrees) / (2 * degrees)
        return self.structure.plus_ends(weighted, node)

    def factors(self) -> tuple[Tensor, Tensor]:
        """Return two N × (2r + 2) matrices with front_u·back_v the gradient of any pair u ≠ v.

        The sums in c_i are c_i = −(left_i·(Â·right)_i + right_i·(Â·left)_i)/(2 d_i).
        """
        structure = self.structure
        sums = self.left * structure.propagate(self.right) + self.right * structure.propagate(self.left)
        node = -sums.sum(1, keepdim=True) / (2 * (structure.degrees.unsqueeze(1) + 1))
        one = torch.ones_like(node)
        left, right = structure.scale * self.left, structure.scale * self.right
        return torch.cat([left, right, node, one], 1), torch.cat([right, left, one, node], 1)


def _row_products(left: Tensor, right: Tensor) -> Tensor:
    return (left * right).sum(1)


def two_hop_gradient(structure: Structure, factors: list[tuple[Tensor, Tensor]]) -> PairGradient:
    """Return ∂loss/∂Â of Σ ⟨G, Â²P⟩ over factors (G, P), N × r each: entry (i, j) is Σ G_i·(ÂP)_j + (ÂG)_i·P_j."""
    signals = beside(*(signal for signal, _ in factors))
    xw = beside(*(p for _, p in factors))
    return PairGradient(structure, beside(signals, structure.propagate(signals)), beside(structure.propagate(xw), xw))


class Smoother:
    """The attribute smoother, small if neighbours have similar attributes:

        Tr(X^T L X) = Σ_{i: d_i > 0} ‖x_i‖² − 2 Σ_{edges} x_u·x_v/√(d_u d_v), degrees without self-loop (Eq. 6a, 6d).

    The products x_u·x_v are constant and computed once.
    """

    def __init__(self, structure: Structure, attributes: Attributes) -> None:
        self.products = attributes.at_edges(structure)
        x = attributes.matrix
        squares = np.zeros(structure.num_nodes) if x is None else row_squares(x)
        self.squares = torch.from_numpy(squares).to(attributes.dtype)

    def _weighted(self, structure: Structure) -> Tensor:
        return structure.times_ends(self.products, structure.degrees.clamp_min(1).rsqrt())

    def value(self, structure: Structure) -> Tensor:
        """Return Tr(X^T L X) of the current structure."""
        connected = self.squares[structure.degrees > 0].sum()
        return connected - 2 * structure.total(self._weighted(structure))

    def edges(self, structure: Structure) -> Tensor:
        """Return the gradient with respect to every edge, E values."""
        weighted = self._weighted(structure)
        node = structure.at_nodes(weighted) / structure.degrees.clamp_min(1)
        return structure.plus_ends(-2 * weighted, node)
