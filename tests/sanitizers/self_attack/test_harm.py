"""The harm that suspicious edges do."""

from __future__ import annotations

import numpy as np
import pytest

from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.self_attack.harm import Harm, measure_harm


def test_poison_harms_and_a_clean_graph_does_not(clean: Graph, poisoned: Graph) -> None:
    assert measure_harm(poisoned.without_test_labels(), 0).z > 1.0
    assert measure_harm(clean.without_test_labels(), 0).z < 1.0


def test_the_statistic_is_that_of_mcnemar() -> None:
    assert Harm(13, 3).z == pytest.approx(10 / 16**0.5)
    assert Harm(0, 0).z == 0.0


def test_hidden_labels_are_counted_once(clean: Graph) -> None:
    seen = clean.without_test_labels()
    harm = measure_harm(seen, 1)
    assert 0 <= harm.gained + harm.lost <= np.count_nonzero(seen.labels >= 0)  # type: ignore[operator]
