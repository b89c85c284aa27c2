"""Data sets: published graphs by name, downloaded once and checked, and synthetic graphs."""

from __future__ import annotations

from focusedcleaner.datasets.download import Progress
from focusedcleaner.datasets.published import DatasetInfo, Found, get, info, load, names
from focusedcleaner.datasets.synthetic import synthetic

__all__ = ["DatasetInfo", "Found", "Progress", "get", "info", "load", "names", "synthetic"]
