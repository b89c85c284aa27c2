"""ClassDiv's divergences: how much a node's class distribution differs from its neighbours'."""

from __future__ import annotations

import torch
from torch import Tensor

from focusedcleaner.engine import Structure
from focusedcleaner.engine.blocks import EdgeWeights, RowBlock
from focusedcleaner.engine.parallel import by_rows, map_rows


def divergences(structure: Structure, distributions: Tensor) -> Tensor:
    """Return how much class distributions S (N × C) differ in each node's neighbourhood: prox₁, prox₂ (Eq. 9–10) and
    Div_JS, N × 3, in linear time.

    With h_i = Σ_c S_ic log S_ic the sums over pairs of neighbours factorize, so that the N × N matrix of pairwise
    divergences (Eq. 8) is never formed:

    - prox₁(i) = mean over neighbours j of KL(S_i ‖ S_j) = h_i − S_i·(A log S)_i/d_i,
    - prox₂(i) = mean over ordered pairs of neighbours of KL(S_j ‖ S_k)
      = (d_i (A h)_i − (A S)_i·(A log S)_i)/(d_i (d_i − 1)), and 0 for d_i < 2,
    - Div_JS(i) = H(mean of the neighbours' S) − mean of the neighbours' H.

    The row of an isolated node is 0.
    """
    joint = by_rows(_with_logarithms, distributions)
    return map_rows(_divergences, structure.blocks, structure.starts, joint, structure.degrees, structure.present)


def _with_logarithms(distributions: Tensor) -> Tensor:
    """Return [S | log S | h]."""
    logs = distributions.clamp_min(torch.finfo(distributions.dtype).tiny).log()
    return torch.cat([distributions, logs, (distributions * logs).sum(1, keepdim=True)], 1)


def _divergences(block: RowBlock, joint: Tensor, degrees: Tensor, present: EdgeWeights) -> Tensor:
    """The rows of one block; ``joint`` is [S | log S | h]."""
    own = slice(block.start, block.stop)
    columns = joint.shape[1] // 2
    distributions, negentropy, degrees = joint[own, :columns], joint[own, -1], degrees[own]
    sums = block.times(joint, present)
    s_sum, log_sum, h_sum = sums[:, :columns], sums[:, columns:-1], sums[:, -1]
    d = degrees.clamp_min(1)
    prox1 = negentropy - (distributions * log_sum).sum(1) / d
    prox2 = (degrees * h_sum - (s_sum * log_sum).sum(1)) / (d * (degrees - 1).clamp_min(1))
    mean = s_sum / d.unsqueeze(1)
    js = torch.special.entr(mean).sum(1) + h_sum / d
    result = torch.stack([prox1, torch.where(degrees > 1, prox2, 0.0), js], 1)
    return torch.where(degrees.unsqueeze(1) > 0, result, 0.0).clamp_min(0.0)
