"""Data sets: published graphs by name, downloaded once and checked, those of a user, and synthetic graphs."""

from __future__ import annotations

from focusedcleaner.datasets.download import Progress
from focusedcleaner.datasets.published import DatasetInfo, Found, get, info
from focusedcleaner.datasets.registered import load, names, register_dataset, registered_names
from focusedcleaner.datasets.synthetic import synthetic

__all__ = [
    "DatasetInfo",
    "Found",
    "Progress",
    "get",
    "info",
    "load",
    "names",
    "register_dataset",
    "registered_names",
    "synthetic",
]
