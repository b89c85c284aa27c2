"""From ∂loss/∂Â to the gradient of every edge, through the normalization."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from focusedcleaner.engine.structure import Structure


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
        u, v = self.structure.ends
        weighted = self.structure.at_edges(self.left, self.right) * scale[u] * scale[v]
        degrees = self.structure.degrees + 1
        loops = (self.left * self.right).sum(1)
        node = -(self.structure.at_nodes(weighted) + 2 * loops / degrees) / (2 * degrees)
        return weighted + node[u] + node[v]

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


def two_hop_gradient(structure: Structure, factors: list[tuple[Tensor, Tensor]]) -> PairGradient:
    """Return ∂loss/∂Â of Σ ⟨G, Â²P⟩ over factors (G, P), N × r each: entry (i, j) is Σ G_i·(ÂP)_j + (ÂG)_i·P_j."""
    signals = torch.cat([signal for signal, _ in factors], 1)
    xw = torch.cat([p for _, p in factors], 1)
    return PairGradient(
        structure,
        torch.cat([signals, structure.propagate(signals)], 1),
        torch.cat([structure.propagate(xw), xw], 1),
    )
