"""From ∂loss/∂Â to ∂loss/∂edge, through the normalization."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from focusedcleaner.engine.structure import Structure


@dataclass(frozen=True)
class PairGradient:
    """∂loss/∂Â in factors: the entry (i, j) is left_i·right_j, r columns instead of N.

    An undirected pair (u, v) has g = left_u·right_v + left_v·right_u; the gradient with respect to its weight in A is

        g/√(d_u d_v) + c_u + c_v,  c_i = −(Σ_{edges f at i} w_f + 2 g_ii/d_i)/(2 d_i),  w_f = g_f/√(d d),

    where c_i is what a change of node i's degree does to all the entries it normalizes.
    """

    structure: Structure
    left: Tensor
    right: Tensor

    def edges(self) -> Tensor:
        """The gradient of every edge, E values (removed edges included, as if one were put back)."""
        scale = self.structure.scale.squeeze(1)
        u, v = self.structure.ends
        weighted = self.structure.at_edges(self.left, self.right) * scale[u] * scale[v]
        degrees = self.structure.degrees + 1
        loops = (self.left * self.right).sum(1)
        node = -(self.structure.at_nodes(weighted) + 2 * loops / degrees) / (2 * degrees)
        return weighted + node[u] + node[v]

    def factors(self) -> tuple[Tensor, Tensor]:
        """Two matrices, N × (2r + 2), whose rows' products front_u·back_v are the gradients of all pairs u ≠ v.

        The sums in c are c_i = −(left_i·(Â·right)_i + right_i·(Â·left)_i)/(2 d_i).
        """
        structure = self.structure
        sums = self.left * structure.propagate(self.right) + self.right * structure.propagate(self.left)
        node = -sums.sum(1, keepdim=True) / (2 * (structure.degrees.unsqueeze(1) + 1))
        one = torch.ones_like(node)
        left, right = structure.scale * self.left, structure.scale * self.right
        return torch.cat([left, right, node, one], 1), torch.cat([right, left, one, node], 1)


def chained(structure: Structure, pairs: list[tuple[Tensor, Tensor]]) -> PairGradient:
    """∂loss/∂Â of losses Σ ⟨G, Â²P⟩: for each pair (G, P), both N × r, the entry (i, j) is G_i·(ÂP)_j + (ÂG)_i·P_j."""
    signals = torch.cat([signal for signal, _ in pairs], 1)
    xw = torch.cat([image for _, image in pairs], 1)
    return PairGradient(
        structure,
        torch.cat([signals, structure.propagate(signals)], 1),
        torch.cat([structure.propagate(xw), xw], 1),
    )
