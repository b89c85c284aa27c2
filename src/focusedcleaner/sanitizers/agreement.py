"""Class agreement: edges whose ends, as a classifier sees them, are of different classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from focusedcleaner.edge_features.class_agreement import class_agreement
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.filters import Filter, Suspicion


@dataclass(frozen=True)
class Agreement(Filter):
    """Removes the edges whose ends agree least in class and attributes:

        score(u, v) = −log(p_u·p_v) − w·cos(x_u, x_v),  p = softmax([x | P²x]·W + b),  P = D⁻¹(A + I).

    W is a logistic regression on the labelled nodes (training and validation), whose own p is their label. The edges of
    highest score are then left out of P, and all is done again. Without attributes, X is the identity and w is 0.

    Not from a paper: a plain filter that FocusedCleaner has to be better than. Attributes and averaged attributes side
    by side are from Hamilton, Ying, Leskovec: "Inductive Representation Learning on Large Graphs", NeurIPS 2017.

    Args:
        cosine_weight: w.
        left_out: the share of the edges that P leaves out from the second time on.
        repeats: how often all is done again.
        inverse_decay: the regression's C; attributes have length 1.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = Agreement().sanitize(synthetic(num_nodes=200, seed=0), budget=20)
    >>> sanitation.evidence["class_agreement"].max() < 0.5
    np.True_
    """

    name: ClassVar[str] = "agreement"

    cosine_weight: float = 8.0
    left_out: float = 0.15
    repeats: int = 3
    inverse_decay: float = 10.0

    def __post_init__(self) -> None:
        if not 0 <= self.left_out <= 1 or self.repeats < 0:
            raise InputError("left_out lies between 0 and 1, and repeats is 0 or above")
        if not (self.cosine_weight >= 0 and self.inverse_decay > 0):
            raise InputError("cosine_weight is 0 or above, and inverse_decay above 0")

    def suspicion(self, graph: Graph, seed: int) -> Suspicion:
        found = class_agreement(
            graph,
            cosine_weight=self.cosine_weight,
            left_out=self.left_out,
            repeats=self.repeats,
            inverse_decay=self.inverse_decay,
            seed=seed,
        )
        u, v = graph.edges.T
        classes = {"classes_u": found.classes[u], "classes_v": found.classes[v]}
        return Suspicion(found.scores, {"class_agreement": found.same_class, **classes})
