"""The link predictor alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from focusedcleaner.datasets import synthetic
from focusedcleaner.detectors import LinkPred, View, reduced_attributes
from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.sanitizers import UnlikelyLinks
from focusedcleaner.sanitizers.iterative import round_seed
from focusedcleaner.surrogate import Surrogate


def test_removed_edges_have_the_lowest_probabilities_of_the_detector() -> None:
    graph = replace(synthetic(num_nodes=120, num_classes=3, num_attributes=30, seed=7), names=tuple(range(120)))
    detector = LinkPred(first_epochs=20)
    found = UnlikelyLinks(edges_per_round=30, detector=detector).sanitize(graph, 30, seed=2)
    seen = graph.without_test_labels()
    surrogate = Surrogate(seen)
    reduced = reduced_attributes(seen, surrogate.attributes)
    view = View(surrogate.structure, surrogate.fit().logits, reduced, round_seed(2, 0))
    likely, _, _ = detector.probabilities(view, {})
    order = np.argsort(likely.numpy(), kind="stable")
    expected = without_isolating(order, graph.edges, graph.degrees, 30)
    assert found.removed.tolist() == graph.edges[expected].tolist()
    assert found.scores == pytest.approx(1 - found.evidence["link_probability"])
