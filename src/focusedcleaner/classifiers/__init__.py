"""Who profits: each classifier under its name."""

from __future__ import annotations

from focusedcleaner.classifiers.base import Classifier
from focusedcleaner.classifiers.gcn import GCN
from focusedcleaner.registry import Method, Registry

__all__ = ["CLASSIFIERS", "GCN", "Classifier", "classifier"]

CLASSIFIERS: Registry[Classifier] = Registry("classifier", Method("gcn", GCN))
"""Every classifier that is known by name."""


def classifier(name: str, **settings: object) -> Classifier:
    """Make a classifier by its name, with its settings.

    >>> classifier("gcn").name
    'gcn'
    """
    return CLASSIFIERS.make(name, **settings)
