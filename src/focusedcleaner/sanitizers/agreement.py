"""Class agreement: edges whose endpoints a classifier assigns to different classes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from focusedcleaner.edge_features.class_agreement import class_agreement, edge_cosines
from focusedcleaner.edge_features.class_regression import ClassRegression
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.filters import EdgeScores, Filter
from focusedcleaner.settings import bounded


@dataclass(frozen=True)
class Agreement(Filter):
    """Removes the edges whose endpoints agree least in class and attributes:

        score(u, v) = −log(p_u·p_v) − w·cos(x_u, x_v),  p = softmax([x | P²x]·W + b),  P = D⁻¹(A + I).

    W is a logistic regression on the labelled nodes (training and validation); for these, p is the one-hot label. The
    edges with the highest scores are then left out of P, and the scores are computed again. Without attributes, X is
    the identity and w is 0.

    Not from a paper: a simple filter that FocusedCleaner has to beat. The concatenation of own and averaged attributes
    is from Hamilton, Ying, Leskovec: "Inductive Representation Learning on Large Graphs", NeurIPS 2017.

    Args:
        cosine_weight: w.
        left_out: share of the edges left out of P after the first pass.
        repeats: number of further passes.
        inverse_decay: the regression's C; attributes are scaled to length 1.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = Agreement().sanitize(synthetic(num_nodes=200, seed=0), budget=20)
    >>> sanitation.evidence["class_agreement"].max() < 0.5
    np.True_
    """

    name: ClassVar[str] = "agreement"

    cosine_weight: float = bounded(8.0, "[0, inf)")
    left_out: float = bounded(0.15, "[0, 1]")
    repeats: int = bounded(3, "[0, 1000]")
    inverse_decay: float = bounded(10.0, "(0, inf)")

    def score_edges(self, graph: Graph, seed: int) -> EdgeScores:
        settings = asdict(self)
        regression = ClassRegression(graph, settings.pop("inverse_decay"))
        cosines = edge_cosines(regression)
        scores, same_class, classes = class_agreement(regression, cosines, **settings, seed=seed)
        return EdgeScores(scores, {"class_agreement": same_class}, {"classes": classes})
