"""PGD: projected gradient ascent on the structure against a model that is trained once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from focusedcleaner.attacks.relaxed import RelaxedAttack


@dataclass(frozen=True)
class PGD(RelaxedAttack):
    """Projected gradient ascent on a relaxed structure against a surrogate that was trained on the clean graph:

        max_S L(S, W),  S ← Π(S + η_t·∂L/∂S),  A' = A + (1 − 2A)∘S,  S ∈ [0, 1], ΣS ≤ B,

    with the linear surrogate softmax(Â'²XW) and L as in `MinMax`. The flips are a Bernoulli sample of S.

    Xu, Chen, Liu, Chen, Weng, Hong, Lin: "Topology Attack and Defense for Graph Neural Networks: An Optimization
    Perspective", IJCAI 2019 (https://arxiv.org/abs/1906.04214).

    Args: see `RelaxedAttack`.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = PGD(iterations=20, loss="cw").poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> 0 < len(poisoning.added) + len(poisoning.removed) <= 20
    True
    """

    name: ClassVar[str] = "pgd"

    @property
    def retrains(self) -> bool:
        return False
