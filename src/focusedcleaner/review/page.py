"""The content of the review page."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from focusedcleaner.errors import InputError
from focusedcleaner.formatting import class_name
from focusedcleaner.review import ranking, view
from focusedcleaner.review.edge_details import EdgeDetails
from focusedcleaner.review.ranking import ReviewerAgreement
from focusedcleaner.review.store import Status, Store
from focusedcleaner.review.view import View

PAGE_SIZE = 12
"""Edges on a page of the list."""
_MOST_PAIRS = 60


class Review:
    """A run under review: the decisions, and the details of its edges."""

    def __init__(self, store: Store, edges: EdgeDetails) -> None:
        self.store = store
        self.edges = edges
        self.total = store.size()
        # The pairs of classes to filter by: value, text and number of edges.
        self._pairs = [
            (f"{low}-{high}", f"{class_name(edges.graph, low)} – {class_name(edges.graph, high)}", count)
            for low, high, count in view.class_pairs(store)[:_MOST_PAIRS]
        ]
        self._progress: tuple[int, tuple[ReviewerAgreement, dict[Status, int], dict[str, int]]] | None = None
        ranking.last_change(store)  # a damaged one is refused before the page is served

    def progress(self) -> tuple[ReviewerAgreement, dict[Status, int], dict[str, int]]:
        """Return the reviewers' agreement with the ranking, the number of edges of each status and that of each
        reviewer's verdicts; they are recomputed only after a new event."""
        last = self.store.last_event()
        if self._progress is None or self._progress[0] != last:
            judged = self.store.judged()
            counts: dict[Status, int] = {status: len(ranks) for status, ranks in judged.items()}
            counts["open"] = self.total - sum(counts.values())
            agreement = ranking.reviewer_agreement(judged, self.total)
            self._progress = last, (agreement, counts, self.store.reviewers())
        return self._progress[1]

    def page(
        self,
        asked: View,
        reviewer: str,
        *,
        edge: int | None = None,
        number: int | None = None,
        after: int | None = None,
        alert: str = "",
    ) -> dict[str, Any]:
        """Return what the template shows; ``listing`` is a page of the list and ``sheet`` the edge to judge, or None.

        The sheet's ``position`` is None if the list leaves the edge out, for example after a verdict.

        Args:
            asked: the filter and the order.
            reviewer: who looks at the page.
            edge: the rank of the edge to show; None shows the reviewer's next edge, or the first of the page.
            number: the page of the list, if no edge is given.
            after: the rank of the edge that has just been changed.
            alert: an error message.
        """
        if edge is not None and not 1 <= edge <= self.total:
            raise InputError(f"there is no edge {edge}: the run has {self.total:,}")
        matches = view.size(self.store, asked)
        edge = self._first(asked, reviewer, matches, number) if edge is None else edge
        position = 0 if edge is None else view.before(self.store, asked, edge)
        start = min(position, max(matches - 1, 0)) // PAGE_SIZE * PAGE_SIZE
        lines = view.lines(self.store, asked, reviewer, start=start, most=PAGE_SIZE)
        sheet = None
        if edge is not None:
            sheet = {
                "edge": self.edges.details(edge),
                "position": position + 1 if any(line.rank == edge for line in lines) else None,
                "status": self.store.rows("SELECT status FROM edges WHERE rank = ?", (edge,))[0][0],
                "mine": self.store.decision(edge, reviewer),
                "others": [decision for decision in self.store.decisions(edge) if decision.reviewer != reviewer],
                "previous": view.preceding(self.store, asked, edge),
                "next": view.following(self.store, asked, edge),
            }
        agreement, counts, reviewers = self.progress()
        return {
            "view": asked,
            "reviewer": reviewer,
            "reviewers": reviewers,
            "counts": counts,
            "total": self.total,
            "judged": self.total - counts["open"],
            "agreement": agreement,
            "auc": "–" if math.isnan(agreement.auc) else f"{agreement.auc:.2f}",
            "change": ranking.last_change(self.store),
            "pairs": self._pairs,
            "clusters": self.edges.clusters,
            "listing": {
                "lines": [(line, self.edges.why(line.rank)) for line in lines],
                "total": matches,
                "number": start // PAGE_SIZE + 1,
                "pages": max(1, math.ceil(matches / PAGE_SIZE)),
            },
            "sheet": sheet,
            "message": "" if after is None else self._message(after, reviewer),
            "alert": alert,
        }

    def _first(self, asked: View, reviewer: str, matches: int, number: int | None) -> int | None:
        """The edge to show if none is given."""
        if not matches:
            return None
        if number is None and asked.state == "all":
            waiting = view.lines(self.store, replace(asked, state="open", by=reviewer), reviewer, start=0, most=1)
            if waiting:
                return waiting[0].rank
        start = min(max((number or 1) - 1, 0) * PAGE_SIZE, matches - 1)
        return view.lines(self.store, asked, reviewer, start=start, most=1)[0].rank

    def _message(self, rank: int, reviewer: str) -> str:
        decision = self.store.decision(rank, reviewer)
        verdict = {"open": "no verdict", "unsure": "unsure"}.get(decision.verdict, f"judged {decision.verdict}")
        return f"Edge {rank:,}: {verdict}{', with a note' if decision.note else ''}"
