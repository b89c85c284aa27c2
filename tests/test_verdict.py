"""The verdict in words, and as JSON."""

from __future__ import annotations

import json

import pytest

from focusedcleaner.verdict import STATUSES, Estimate, Verdict, removal_caveat

ABOUT_510 = Estimate(509.6, 480.2, 560.4)


@pytest.mark.parametrize(
    ("verdict", "estimate", "line"),
    [
        (Verdict("no sign", "x"), ABOUT_510, "No sign of poison"),
        (Verdict("uncertain", "x"), None, "Uncertain: a ranking only"),
        (Verdict("not suitable", "the graph is bipartite"), None, "Not suitable: the graph is bipartite"),
        (Verdict("poisoned", "x"), None, "Poisoned"),
        (Verdict("poisoned", "x", 0.837), None, "Poisoned: expected precision 0.84"),
        (
            Verdict("poisoned", "x", 0.837),
            ABOUT_510,
            "Poisoned: about 510 edges planted (480–560, nine times in ten), expected precision 0.84",
        ),
    ],
)
def test_the_first_line(verdict: Verdict, estimate: Estimate | None, line: str) -> None:
    assert verdict.headline(estimate) == line


def test_the_explanation_repeats_nothing() -> None:
    assert Verdict("not suitable", "the graph is bipartite").explanation == ""
    assert Verdict("no sign", "31 flags", caveat="2 edges went").explanation == "31 flags. 2 edges went."
    assert Verdict("poisoned", "31 flags", rule="a tenth went").explanation == "31 flags. A tenth went."


@pytest.mark.parametrize("status", STATUSES)
def test_a_verdict_as_json_and_back(status: str) -> None:
    verdict = Verdict(status, "why", 0.75, 31.0, "a budget", "a rule")  # type: ignore[arg-type]
    assert Verdict.of(json.loads(json.dumps(verdict.to_dict()))) == verdict
    assert Verdict.of({"status": status, "reason": "why", "colour": "red"}) == Verdict(status, "why")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "removed", "caveat"),
    [
        ("poisoned", 501, "about 510 edges were planted; 501 were removed because the budget says so"),
        ("poisoned", 1, "about 510 edges were planted; 1 was removed because the budget says so"),
        ("no sign", 1, "1 edge was removed because the budget says so; that is not a finding"),
        ("uncertain", 0, ""),
    ],
)
def test_a_budget_is_no_finding(status: str, removed: int, caveat: str) -> None:
    assert removal_caveat(Verdict(status, ""), ABOUT_510, removed, "the budget") == caveat  # type: ignore[arg-type]
