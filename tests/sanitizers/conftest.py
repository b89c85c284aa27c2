"""A poisoned graph for several test files."""

from __future__ import annotations

import pytest

from focusedcleaner.attacks import Dice
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph


@pytest.fixture(scope="package")
def clean() -> Graph:
    return synthetic(num_nodes=300, num_classes=3, homophily=0.9, attribute_signal=0.4, seed=5).largest_component()


@pytest.fixture(scope="package")
def poisoned(clean: Graph) -> Graph:
    return Dice(share_removed=0.0).poison(clean, 0.15, seed=1).graph
