"""The page where an analyst judges the flagged edges, and what becomes of the judgements.

schema, store   decisions in SQLite beside the run, an append-only log of events
view            which edges are looked at, in which order, a page at a time
agreement       what the decisions say about the ranking
rerank          the order that the decisions teach
portrait        one edge, as it is shown to a person
export, verdicts   the decisions as a table, and as a graph
app, guard, server   the page; these need the extra ``focusedcleaner[review]``
"""

from __future__ import annotations

from focusedcleaner.review.store import Store, opened

__all__ = ["Store", "opened"]
