"""Whether the suspicious edges do harm: how well hidden labels are predicted with them and without."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from focusedcleaner.edge_features.class_agreement import attribute_cosines, class_agreement
from focusedcleaner.edge_features.class_regression import ClassRegression
from focusedcleaner.edge_features.edge_selection import rank_by_score, without_isolating
from focusedcleaner.edge_features.global_structure import embed, predicted_classes
from focusedcleaner.graph import FloatArray, Graph, IntArray, Split
from focusedcleaner.surrogate import Implicit, Surrogate

FOLDS = 5
INNER = Implicit(tolerance=1e-2)
REMOVED_SHARE = 0.1
"""Share of the edges that are left out for the comparison."""


@dataclass(frozen=True)
class Harm:
    """Hidden labels that are predicted rightly only without the suspicious edges, and only with them."""

    gained: int
    lost: int

    @property
    def z(self) -> float:
        """McNemar's statistic (gained − lost)/√(gained + lost): normal if the edges do neither good nor harm."""
        return (self.gained - self.lost) / max(self.gained + self.lost, 1) ** 0.5


def measure_harm(graph: Graph, seed: int) -> Harm:
    """Hide each fifth of the known labels in turn; predict it with all edges, and robustly.

    The hidden labels take no part in finding these edges. In a clean graph they do no harm worth speaking of; edges
    that an attacker chose do.
    """
    assert graph.labels is not None
    known = np.flatnonzero(graph.labels >= 0)
    fold = np.random.default_rng(seed).permutation(len(known)) % FOLDS
    cosines = attribute_cosines(graph, graph.edges)
    gained = lost = 0
    for number in range(FOLDS):
        hidden, visible = known[fold == number], known[fold != number]
        if not len(hidden) or len(np.unique(graph.labels[visible])) < 2:
            continue
        labels = graph.labels.copy()
        labels[hidden] = -1
        split = Split(visible, hidden[:0], np.setdiff1d(np.arange(graph.num_nodes), visible))
        trial = replace(graph, labels=labels, split=split)
        predictions = _predict(trial), _predict_robustly(trial, cosines, seed)
        right = [predicted[hidden] == graph.labels[hidden] for predicted in predictions]
        gained += int((right[1] & ~right[0]).sum())
        lost += int((right[0] & ~right[1]).sum())
    return Harm(gained, lost)


def _predict(graph: Graph) -> IntArray:
    predicted: IntArray = Surrogate(graph, inner=INNER, form="sparse").fit().logits.argmax(1).numpy()
    return predicted


def _predict_robustly(graph: Graph, cosines: FloatArray, seed: int) -> IntArray:
    """Predict without the edges whose ends disagree most in class and attributes or, where there are no attributes,
    from the leading eigenvectors, which poison hardly moves."""
    if graph.features is None:
        leading = predicted_classes(graph, embed(graph, np.ones(graph.num_edges), graph.num_classes))
        return leading.argmax(axis=1)
    regression = ClassRegression(graph, inverse_decay=10.0)
    scores, _, _ = class_agreement(regression, cosines, cosine_weight=8.0, left_out=0.15, repeats=2, seed=seed)
    size = int(REMOVED_SHARE * graph.num_edges)
    chosen = without_isolating(rank_by_score(scores, seed), graph.edges, graph.degrees, size)
    return _predict(graph.without_edges(graph.edges[chosen]))
