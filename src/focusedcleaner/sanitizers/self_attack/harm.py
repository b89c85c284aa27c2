"""Whether the suspicious edges do harm: how well hidden labels are predicted with them and without."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from focusedcleaner.edge_features.class_agreement import attribute_cosines, class_agreement
from focusedcleaner.edge_features.class_regression import SINGLE_PRECISION_FROM, ClassRegression, surrogate_form
from focusedcleaner.edge_features.edge_selection import rank_by_score, without_isolating
from focusedcleaner.edge_features.global_structure import embed, predicted_classes
from focusedcleaner.engine import Attributes, Structure
from focusedcleaner.graph import UNKNOWN, FloatArray, Graph, IntArray, Split
from focusedcleaner.surrogate import Implicit, Surrogate

FOLDS = 5
INNER = Implicit(tolerance=1e-2)
REMOVED_SHARE = 0.1
"""Share of the edges that are left out for the comparison."""
MOST_HIDDEN = 2000
"""Labels hidden at a time: with more, the little that a clean graph gains by losing its oddest edges would count."""


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
    """Predict hidden labels from all edges, and robustly; return the comparison that shows more harm.

    Hidden are the validation nodes, while the training nodes teach, which shows poison at the training nodes; or each
    fifth of the known labels in turn, which shows poison anywhere. Hidden labels take no part in finding suspicious
    edges. In a clean graph these do no harm worth speaking of; edges that an attacker chose do. Of many labels, some
    are hidden once.
    """
    assert graph.labels is not None
    assert graph.split is not None
    known = np.flatnonzero(graph.labels >= 0)
    drawn = np.random.default_rng(seed).permutation(len(known))
    fold = drawn % FOLDS if len(known) <= FOLDS * MOST_HIDDEN else np.minimum(drawn // MOST_HIDDEN, 1)
    cosines = attribute_cosines(graph, graph.edges)
    hidden = range(FOLDS if len(known) <= FOLDS * MOST_HIDDEN else 1)
    in_turn = [_compare(graph, known[fold == number], known[fold != number], cosines, seed) for number in hidden]
    everywhere = Harm(sum(harm.gained for harm in in_turn), sum(harm.lost for harm in in_turn))
    validation = graph.split.val
    if len(validation) > MOST_HIDDEN:
        validation = np.sort(np.random.default_rng(seed).choice(validation, MOST_HIDDEN, replace=False))
    at_training = _compare(graph, validation, graph.split.train, cosines, seed)
    return max(at_training, everywhere, key=lambda harm: harm.z)


def _compare(graph: Graph, hidden: IntArray, visible: IntArray, cosines: FloatArray, seed: int) -> Harm:
    """Predict the hidden nodes' classes from those of the visible nodes, with all edges and robustly."""
    assert graph.labels is not None
    if not len(hidden) or len(np.unique(graph.labels[visible])) < 2:
        return Harm(0, 0)
    labels = np.full(graph.num_nodes, UNKNOWN)
    labels[visible] = graph.labels[visible]
    split = Split(visible, hidden[:0], np.setdiff1d(np.arange(graph.num_nodes), visible))
    trial = replace(graph, labels=labels, split=split)
    predictions = _predict(trial), _predict_robustly(trial, cosines, seed)
    trusting, robust = (predicted[hidden] == graph.labels[hidden] for predicted in predictions)
    return Harm(int((robust & ~trusting).sum()), int((trusting & ~robust).sum()))


def _predict(graph: Graph) -> IntArray:
    dtype = torch.float64 if graph.num_edges < SINGLE_PRECISION_FROM else torch.float32
    structure, attributes = Structure(graph, dtype=dtype), Attributes(graph, dtype=dtype)
    form = surrogate_form(structure, attributes, graph.num_classes)
    surrogate = Surrogate(graph, inner=INNER, form=form, structure=structure, attributes=attributes, dtype=dtype)
    predicted: IntArray = surrogate.fit().logits.argmax(1).numpy()
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
