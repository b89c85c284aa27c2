"""The verdict of a run: whether edges were planted, as far as a method can tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from focusedcleaner.formatting import count

Status = Literal["no sign", "poisoned", "uncertain", "not suitable"]
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True)
class Estimate:
    """The estimated number of planted edges, with an interval that is meant to hold it nine times in ten.

    >>> str(Estimate(512.3, 461.0, 563.6))
    'about 512 edges (461–564, nine times in ten)'
    """

    number: float
    """The expected number of planted edges."""
    low: float
    """The interval's lower end."""
    high: float
    """The interval's upper end."""

    def __str__(self) -> str:
        return f"about {count(round(self.number), 'edge')} {self.interval}"

    @property
    def interval(self) -> str:
        """The interval, in brackets."""
        return f"({round(self.low):,}–{round(self.high):,}, nine times in ten)"


@dataclass(frozen=True)
class Verdict:
    """What a run says about its graph.

    Only "poisoned" is a finding that edges were planted. "no sign" is none that they weren't: the graph got no more
    flags than a clean one would. With "uncertain" and "not suitable" nothing is removed unless a budget is given.
    """

    status: Status
    """The finding in two words at most: "no sign", "poisoned", "uncertain" or "not suitable"."""
    reason: str
    """Why, in one sentence without a full stop."""
    expected_precision: float | None = None
    """The expected share of planted edges among the removed ones."""
    expected_false_alarms: float | None = None
    """The number of edges that would be flagged in a clean graph like this one."""
    caveat: str = ""
    """What the removal rests on where that is not the finding, such as a budget given by hand; empty if it is."""
    rule: str = ""
    """How the method decided which edges to remove, in one sentence without a full stop; empty if a budget did."""

    def headline(self, estimate: Estimate | None = None) -> str:
        """The verdict in one line; ``estimate`` is the number of planted edges.

        >>> Verdict("poisoned", "", expected_precision=0.84).headline(Estimate(512.3, 480, 560))
        'Poisoned: about 512 edges planted (480–560, nine times in ten), expected precision 0.84'
        >>> Verdict("not suitable", "the graph is bipartite").headline()
        'Not suitable: the graph is bipartite'
        """
        if self.status == "no sign":
            return "No sign of poison"
        if self.status == "uncertain":
            return "Uncertain: a ranking only"
        if self.status == "not suitable":
            return f"Not suitable: {self.reason}"
        parts = []
        if estimate is not None:
            parts.append(f"about {count(round(estimate.number), 'edge')} planted {estimate.interval}")
        if self.expected_precision is not None:
            parts.append(f"expected precision {self.expected_precision:.2f}")
        return f"Poisoned: {', '.join(parts)}" if parts else "Poisoned"

    @property
    def explanation(self) -> str:
        """What the headline leaves out: the reason, the rule of the removal and the caveat, as sentences.

        >>> Verdict("uncertain", "the method cld ranks edges", caveat="3 edges were removed").explanation
        'The method cld ranks edges. 3 edges were removed.'
        """
        reason = "" if self.status == "not suitable" else self.reason
        return " ".join(f"{text[:1].upper()}{text[1:]}." for text in (reason, self.rule, self.caveat) if text)

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON values, rounded."""
        precision, alarms = self.expected_precision, self.expected_false_alarms
        return {
            "status": self.status,
            "reason": self.reason,
            "expected_precision": None if precision is None else round(precision, 3),
            "expected_false_alarms": None if alarms is None else round(alarms, 1),
            "caveat": self.caveat,
            "rule": self.rule,
        }

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """Restore a verdict from `to_dict`."""
        return cls(**{name: fields[name] for name in cls.__dataclass_fields__ if name in fields})


def removal_caveat(verdict: Verdict, estimate: Estimate | None, removed: int, rule: str) -> str:
    """Say that edges were removed by a rule that is not the finding; empty if none was removed.

    Args:
        verdict: the verdict.
        estimate: the number of planted edges, if it was estimated.
        removed: the number of removed edges.
        rule: what decided their number: "the budget".

    >>> removal_caveat(Verdict("uncertain", ""), None, 501, "the budget")
    '501 edges were removed because the budget says so; that is not a finding'
    >>> removal_caveat(Verdict("poisoned", ""), Estimate(300, 250, 350), 501, "the budget")
    'about 300 edges were planted; 501 were removed because the budget says so'
    """
    if not removed:
        return ""
    were = "was" if removed == 1 else "were"
    if verdict.status == "poisoned" and estimate is not None:
        planted = round(estimate.number)
        found = f"about {count(planted, 'edge')} {'was' if planted == 1 else 'were'} planted"
        return f"{found}; {removed:,} {were} removed because {rule} says so"
    return f"{count(removed, 'edge')} {were} removed because {rule} says so; that is not a finding"
