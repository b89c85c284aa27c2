"""Sanitizers by name: the default method and registration."""

from __future__ import annotations

from dataclasses import replace

from focusedcleaner.datasets import synthetic
from focusedcleaner.sanitizers import default_method


def test_the_default_where_it_wins() -> None:
    large = synthetic(num_nodes=1000, mean_degree=5.0, seed=0)
    assert default_method(large) == "self-attack"
    assert default_method(replace(large, attributes=None)) == "cld"
    assert default_method(large.without_edges(large.edges[1500:])) == "cld"
