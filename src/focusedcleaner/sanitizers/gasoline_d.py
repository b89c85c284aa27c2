"""GASOLINE-D: bi-level structure learning that only deletes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from focusedcleaner.sanitizers.gasoline import Gasoline


@dataclass(frozen=True)
class GasolineD(Gasoline):
    """Removes, step by step, the edge whose weight has the largest meta-gradient of the validation loss:

        argmax_(u,v) ∂L/∂A_uv,  L = Σ_k CE(fold k, labels) of softmax(Â²XW_k),
        W_k trained on the labelled nodes of all other folds.

    `Gasoline` without insertions; with folds = 1 it is `FocusedCleaner` without detector, test loss and smoother. An
    edge whose removal would isolate a node stays.

    Xu, Du, Tong: "Graph Sanitation with Application to Node Classification", WWW 2022
    (https://arxiv.org/abs/2105.09384), restricted to deletions as the FocusedCleaner paper does.

    Args:
        folds: as in `Gasoline`.
        edges_per_round: edges removed between two trainings; None removes the budget in 80 rounds.
        inner: the inner training: `Implicit` or `Unrolled`.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = GasolineD().sanitize(synthetic(num_nodes=200, seed=0), budget=20)
    >>> sanitation.method, len(sanitation.removed), len(sanitation.added)
    ('gasoline-d', 20, 0)
    """

    name: ClassVar[str] = "gasoline-d"
    inserts: ClassVar[bool] = False
