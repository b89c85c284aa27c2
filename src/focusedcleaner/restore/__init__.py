"""Proposes edges that an attacker may have removed from a graph."""

from __future__ import annotations

from focusedcleaner.restore.missing import Missing, missing_edges

__all__ = ["Missing", "missing_edges"]
