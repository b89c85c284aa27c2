"""Named benchmark graphs, fetched once and checked, and a generator of synthetic ones."""

from __future__ import annotations

from focusedcleaner.datasets.catalogue import DatasetInfo, Found, names
from focusedcleaner.datasets.download import Progress
from focusedcleaner.datasets.sources import get, info, load
from focusedcleaner.datasets.synthetic import synthetic

__all__ = ["DatasetInfo", "Found", "Progress", "get", "info", "load", "names", "synthetic"]
