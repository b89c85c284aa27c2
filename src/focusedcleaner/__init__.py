"""Finds and removes the edges that an attacker planted in a graph.

>>> import focusedcleaner as fc
>>> result = fc.sanitize(fc.datasets.synthetic(200), "cld", budget="5%")
>>> result.data
Graph(200 nodes, 380 edges, 5 classes, 200 attributes)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from focusedcleaner import datasets
    from focusedcleaner.accuracy import Accuracy, classify
    from focusedcleaner.api import register_attack, register_classifier, register_sanitizer, sanitize
    from focusedcleaner.attacks import Attack, Poisoning, attack
    from focusedcleaner.checking import Check, check
    from focusedcleaner.classifiers import Classifier, classifier
    from focusedcleaner.datasets import register_dataset
    from focusedcleaner.errors import InputError, InputWarning
    from focusedcleaner.graph import Graph, Split
    from focusedcleaner.io import load_graph, save_graph
    from focusedcleaner.pyg import Sanitize
    from focusedcleaner.sanitizers import (
        EdgeScores,
        Filter,
        FocusedCleaner,
        Sanitation,
        Sanitizer,
        Selection,
        sanitizer,
    )
    from focusedcleaner.scoring import Score, score
    from focusedcleaner.verdict import Estimate, Verdict

    __version__: str

__all__ = [
    "Accuracy",
    "Attack",
    "Check",
    "Classifier",
    "EdgeScores",
    "Estimate",
    "Filter",
    "FocusedCleaner",
    "Graph",
    "InputError",
    "InputWarning",
    "Poisoning",
    "Sanitation",
    "Sanitize",
    "Sanitizer",
    "Score",
    "Selection",
    "Split",
    "Verdict",
    "__version__",
    "attack",
    "check",
    "classifier",
    "classify",
    "datasets",
    "load_graph",
    "register_attack",
    "register_classifier",
    "register_dataset",
    "register_sanitizer",
    "sanitize",
    "sanitizer",
    "save_graph",
    "score",
]

_HOMES = {
    "accuracy": ("Accuracy", "classify"),
    "api": ("register_attack", "register_classifier", "register_sanitizer", "sanitize"),
    "attacks": ("Attack", "Poisoning", "attack"),
    "checking": ("Check", "check"),
    "classifiers": ("Classifier", "classifier"),
    "datasets": ("register_dataset",),
    "errors": ("InputError", "InputWarning"),
    "graph": ("Graph", "Split"),
    "io": ("load_graph", "save_graph"),
    "pyg": ("Sanitize",),
    "sanitizers": ("Filter", "Selection", "FocusedCleaner", "Sanitation", "Sanitizer", "EdgeScores", "sanitizer"),
    "scoring": ("Score", "score"),
    "verdict": ("Estimate", "Verdict"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name on first use: torch takes seconds to import, and help and errors can do without it."""
    if name == "__version__":
        from importlib.metadata import version

        return version("focusedcleaner")
    if name == "datasets":
        return import_module("focusedcleaner.datasets")
    if name in _HOME:
        return getattr(import_module(f"focusedcleaner.{_HOME[name]}"), name)
    raise AttributeError(f"module 'focusedcleaner' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
