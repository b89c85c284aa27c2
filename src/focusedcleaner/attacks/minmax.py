"""MinMax: the attacker raises the loss that the defender's training lowers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from focusedcleaner.attacks.relaxed import RelaxedAttack


@dataclass(frozen=True)
class MinMax(RelaxedAttack):
    """Projected gradient ascent on a relaxed structure against a surrogate that is trained again at every step:

        max_S L(S, W*(S)),  S ← Π(S + η_t·dL/dS),  A' = A + (1 − 2A)∘S,  S ∈ [0, 1], ΣS ≤ B,

    with the linear surrogate softmax(Â'²XW) and W* trained on A'. L = λ·loss(training nodes, labels) + (1−λ)·loss(the
    others, ŷ), ŷ being what the surrogate predicts on the clean graph. The derivative goes through the training of W*:
    in the published game, λ = 1, that adds nothing, as attacker and defender share one loss; with any other λ it is
    what makes the attack strong. The flips are a Bernoulli sample of S.

    Xu, Chen, Liu, Chen, Weng, Hong, Lin: "Topology Attack and Defense for Graph Neural Networks: An Optimization
    Perspective", IJCAI 2019 (https://arxiv.org/abs/1906.04214).

    Args: see `RelaxedAttack`.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = MinMax(iterations=20).poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> 0 < len(poisoning.added) + len(poisoning.removed) <= 20
    True
    """

    name: ClassVar[str] = "minmax"

    @property
    def retrains(self) -> bool:
        return True
