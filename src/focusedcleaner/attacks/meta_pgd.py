"""Meta-PGD: projected gradient ascent on a relaxed structure by meta-gradients."""

from __future__ import annotations

from dataclasses import dataclass, field

from focusedcleaner.attacks.loss import LossKind
from focusedcleaner.attacks.mettack import Regularized
from focusedcleaner.attacks.pgd import RelaxedAttack
from focusedcleaner.settings import bounded
from focusedcleaner.surrogate import InnerTraining


@dataclass(frozen=True)
class MetaPGD(RelaxedAttack):
    """Ascends the meta-gradient of the tanh margin on relaxed edges:

        max_S −mean tanh(Z_ŷ − max_{c ≠ ŷ} Z_c),  Z = Â'²XW*(S),  S ← Π(S + η_t·dL/dS),  A' = A + (1 − 2A)∘S,  ΣS ≤ B,

    where the mean is over the nodes outside the training set (λ = 0), ŷ are the surrogate's predictions on the clean
    graph, and the derivative goes through the training of W*. METTACK flips one pair for good at each step; this attack
    revises all of them. The flips are a Bernoulli sample of S.

    Mujkanovic, Geisler, Günnemann, Bojchevski: "Are Defenses for Graph Neural Networks Robust?", NeurIPS 2022
    (https://arxiv.org/abs/2301.13694). The settings are those of `RelaxedAttack`, and

    Args:
        inner: the training of the surrogate: `Regularized`, or `Unrolled` as published.

    >>> from focusedcleaner.datasets import synthetic
    >>> poisoning = MetaPGD(iterations=20).poison(synthetic(num_nodes=100, seed=0), budget="10%")
    >>> 0 < len(poisoning.added) + len(poisoning.removed) <= 20
    True
    """

    name = "meta-pgd"

    iterations: int = bounded(100, "[1, 10000]")
    inner: InnerTraining = field(default_factory=Regularized)

    @property
    def training(self) -> InnerTraining:
        return self.inner

    @property
    def loss_kind(self) -> LossKind:
        return "tanh"
