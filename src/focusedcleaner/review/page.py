"""What stands on the page: everything that the template needs, in one value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from focusedcleaner.errors import InputError
from focusedcleaner.formatting import class_name
from focusedcleaner.graph import FloatArray
from focusedcleaner.review import rerank, view
from focusedcleaner.review.agreement import Agreement, agreement
from focusedcleaner.review.portrait import EdgeDetails, Portrait
from focusedcleaner.review.rerank import Change
from focusedcleaner.review.store import Decision, Status, Store
from focusedcleaner.review.view import Line, View

AT_ONCE = 12
"""Edges on a page of the list."""
_MOST_PAIRS = 60


@dataclass(frozen=True)
class Listing:
    """A page of the list."""

    lines: tuple[tuple[Line, str], ...]
    """Each edge with its evidence in a sentence."""
    total: int
    number: int
    """Which page, from 1."""
    pages: int


@dataclass(frozen=True)
class Sheet:
    """The edge that is being judged."""

    portrait: Portrait
    position: int | None
    """Where it stands in the view, from 1; None where it is not in it, as after a verdict that the view leaves out."""
    status: Status
    mine: Decision
    others: tuple[Decision, ...]
    previous: int | None
    next: int | None


@dataclass(frozen=True)
class Page:
    """All of it."""

    view: View
    reviewer: str
    reviewers: Mapping[str, int]
    counts: Mapping[Status, int]
    total: int
    agreement: Agreement
    change: Change | None
    pairs: tuple[tuple[str, str, int], ...]
    """The pairs of classes to choose from: value, words, edges."""
    listing: Listing
    sheet: Sheet | None
    told: str
    """What was just done, as the store has it."""
    alert: str = ""

    @property
    def judged(self) -> int:
        return self.total - self.counts["open"]

    @property
    def order_agreement(self) -> str:
        return "–" if math.isnan(self.agreement.order) else f"{self.agreement.order:.2f}"

    @staticmethod
    def at_node(name: str) -> str:
        """The address of all edges at a node."""
        quoted = f'"{name}"'
        return f"/?{View(text=quoted).query()}"


class Review:
    """A run under review: its edges, its decisions, and the page made of both.

    Args:
        store: the decisions.
        gallery: the portraits of the run's edges.
    """

    def __init__(self, store: Store, gallery: EdgeDetails) -> None:
        self.store = store
        self.gallery = gallery
        self._agreement: tuple[int, Agreement] | None = None

    @cached_property
    def total(self) -> int:
        return self.store.size()

    @cached_property
    def pairs(self) -> tuple[tuple[str, str, int], ...]:
        graph = self.gallery.graph
        return tuple(
            (f"{low}-{high}", f"{class_name(graph, low)} – {class_name(graph, high)}", count)
            for low, high, count in view.class_pairs(self.store)[:_MOST_PAIRS]
        )

    @cached_property
    def evidence(self) -> tuple[list[str], FloatArray]:
        return rerank.evidence_table(self.gallery.run)

    def agreement(self) -> Agreement:
        """Computed anew only where something was judged since."""
        last = self.store.last_event()
        if self._agreement is None or self._agreement[0] != last:
            self._agreement = last, agreement(self.store.judged(), self.total)
        return self._agreement[1]

    def rerank(self) -> Change:
        """Put the undecided edges in the order that the decisions teach."""
        return rerank.rerank(self.store, *self.evidence)

    def page(
        self,
        asked: View,
        reviewer: str,
        *,
        edge: int | None = None,
        number: int | None = None,
        after: int | None = None,
        alert: str = "",
    ) -> Page:
        """The page.

        Args:
            asked: the filter and the order.
            reviewer: who looks at it.
            edge: the rank of the edge to show; the first of the page, or where the reviewer left off, where None.
            number: the page of the list, where no edge is given.
            after: the rank of the edge that something was just done to.
            alert: what went wrong.
        """
        if edge is not None and not 1 <= edge <= self.total:
            raise InputError(f"there is no edge {edge}: the run has {self.total:,}")
        total = view.size(self.store, asked)
        edge = self._first(asked, reviewer, total, number) if edge is None else edge
        position = 0 if edge is None else view.before(self.store, asked, edge)
        start = position // AT_ONCE * AT_ONCE if position < total else max(0, (total - 1) // AT_ONCE * AT_ONCE)
        found = view.lines(self.store, asked, reviewer, start=start, most=AT_ONCE)
        shown = {line.rank for line in found}
        change = self.store.reranking()
        return Page(
            view=asked,
            reviewer=reviewer,
            reviewers=self.store.reviewers(),
            counts=self.store.counts(),
            total=self.total,
            agreement=self.agreement(),
            change=None if change is None else Change.of(change),
            pairs=self.pairs,
            listing=Listing(
                tuple((line, self.gallery.why(line.rank)) for line in found),
                total,
                start // AT_ONCE + 1,
                max(1, math.ceil(total / AT_ONCE)),
            ),
            sheet=None if edge is None else self._sheet(asked, reviewer, edge, position if edge in shown else None),
            told="" if after is None else self.told(after, reviewer),
            alert=alert,
        )

    def _first(self, asked: View, reviewer: str, total: int, number: int | None) -> int | None:
        """The edge to show where none is asked for."""
        if not total:
            return None
        if number is None and asked.state == "all":
            waiting = view.lines(self.store, replace(asked, state="open", by=reviewer), reviewer, start=0, most=1)
            if waiting:
                return waiting[0].rank
        start = min(max((number or 1) - 1, 0) * AT_ONCE, total - 1)
        return view.lines(self.store, asked, reviewer, start=start, most=1)[0].rank

    def _sheet(self, asked: View, reviewer: str, edge: int, position: int | None) -> Sheet:
        decisions = self.store.decisions(edge)
        mine = [decision for decision in decisions if decision.reviewer == reviewer]
        return Sheet(
            portrait=self.gallery.portrait(edge),
            position=None if position is None else position + 1,
            status=self.store.rows("SELECT status FROM edges WHERE rank = ?", (edge,))[0][0],
            mine=mine[0] if mine else Decision(reviewer, "open", "", ""),
            others=tuple(decision for decision in decisions if decision.reviewer != reviewer),
            previous=view.preceding(self.store, asked, edge),
            next=view.following(self.store, asked, edge),
        )

    def told(self, rank: int, reviewer: str) -> str:
        """What the store says of an edge, for whoever just judged it."""
        mine = next((one for one in self.store.decisions(rank) if one.reviewer == reviewer), None)
        verdict = "open" if mine is None else mine.verdict
        words = {"open": "no verdict", "unsure": "unsure"}.get(verdict, f"judged {verdict}")
        return f"Edge {rank:,}: {words}{', with a note' if mine is not None and mine.note else ''}"
