"""What the attacker took away: a bounded list of edges that are likely missing from a cleaned graph."""

from __future__ import annotations

from focusedcleaner.restore.missing import Missing, missing_edges

__all__ = ["Missing", "missing_edges"]
