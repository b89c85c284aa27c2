"""GraD: METTACK with a loss that wastes no budget on nodes that are wrong already."""

from __future__ import annotations

from dataclasses import dataclass

from focusedcleaner.attacks.mettack import Mettack


@dataclass(frozen=True)
class GraD(Mettack):
    """Flips, one at a time, the pair with the largest meta-gradient of a debiased loss:

        argmax_(u,v) (1 − 2·A_uv)·∂L/∂A_uv,  L = −λ·mean p_y(training) − (1−λ)·mean p_ŷ(the others),

    with p = softmax(Â²XW*). The gradient of METTACK's cross-entropy, p − onehot(y), is largest at nodes that are wrong
    already. That of the probability, p_y·(p − onehot(y)), vanishes there: the budget goes to nodes that can still be
    turned.

    Liu, Luo, Wu, Liu, Li: "Towards Reasonable Budget Allocation in Untargeted Graph Structure Attacks via Gradient
    Debias", NeurIPS 2022. The settings are those of `Mettack`; published are ``inner=unrolled`` and ``max_removed=1``.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = GraD().poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> len(poisoning.added) + len(poisoning.removed)
    20
    """

    name = "grad"
    loss = "probability"
