"""A graph poisoned by METTACK, for all tests of self-attack."""

from __future__ import annotations

import pytest

from focusedcleaner.attacks import attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph


@pytest.fixture(scope="package")
def clean() -> Graph:
    return synthetic(num_nodes=300, mean_degree=5.0, num_classes=3, homophily=0.9, attribute_signal=0.5, seed=2)


@pytest.fixture(scope="package")
def poisoned(clean: Graph) -> Graph:
    return attack("mettack").poison(clean, "10%").graph
