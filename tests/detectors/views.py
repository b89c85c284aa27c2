"""Inputs for detectors."""

from __future__ import annotations

from focusedcleaner.detectors import View, reduced_attributes
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate import Surrogate


def view_of(graph: Graph, seed: int = 0) -> View:
    surrogate = Surrogate(graph)
    return View(surrogate.structure, surrogate.fit().logits, reduced_attributes(graph, surrogate.attributes), seed)
