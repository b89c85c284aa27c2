"""Who cleans: FocusedCleaner and, in time, its rivals; each under its name."""

from __future__ import annotations

from focusedcleaner.detectors import ClassDiv, LinkPred, NoDetector
from focusedcleaner.registry import Method, Registry
from focusedcleaner.sanitizers.base import Interrupted, Progress, Sanitation, Sanitizer
from focusedcleaner.sanitizers.focused import FocusedCleaner
from focusedcleaner.surrogate import Implicit, Unrolled

__all__ = ["SANITIZERS", "FocusedCleaner", "Interrupted", "Progress", "Sanitation", "Sanitizer", "sanitizer"]

_INNER: dict[str, type] = {"implicit": Implicit, "unrolled": Unrolled}

SANITIZERS: Registry[Sanitizer] = Registry(
    "method",
    Method(
        "cld",
        FocusedCleaner,
        {"detector": {"classdiv": ClassDiv}, "inner": _INNER},
        "FocusedCleaner around nodes whose neighbours' classes disagree in an unusual way (ClassDiv)",
    ),
    Method(
        "lp",
        FocusedCleaner,
        {"detector": {"linkpred": LinkPred}, "inner": _INNER},
        "FocusedCleaner around nodes at an edge that a link predictor finds unlikely (LinkPred)",
    ),
    Method(
        "focused-none",
        FocusedCleaner,
        {"detector": {"none": NoDetector}, "inner": _INNER},
        "FocusedCleaner without a focus: every edge is a candidate, every node is trusted",
    ),
)
"""Every sanitizer that the command line knows."""


def sanitizer(name: str, **settings: object) -> Sanitizer:
    """Make a sanitizer by its name: cld, lp, …; its own settings and those of its parts go by their names.

    >>> sanitizer("cld", tau=0.7, eta=0, inner="unrolled", steps=50).name
    'cld'
    >>> sanitizer("clean")
    Traceback (most recent call last):
    focusedcleaner.errors.InputError: there is no method 'clean'; there are cld, lp, focused-none
    """
    return SANITIZERS.make(name, **settings)
