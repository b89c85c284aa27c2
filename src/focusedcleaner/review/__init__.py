"""The review of a run: a web page where people judge the flagged edges, and what becomes of their decisions.

The page itself (`server`, `guard`) needs the extra ``focusedcleaner[review]``.
"""

from __future__ import annotations

from focusedcleaner.review.store import Store, open_store

__all__ = ["Store", "open_store"]
