"""Every registered method, detector and trace column is described."""

from __future__ import annotations

import numpy as np
import pytest

from focusedcleaner.attacks import Dice
from focusedcleaner.datasets import synthetic
from focusedcleaner.detectors import DETECTORS
from focusedcleaner.graph import Graph
from focusedcleaner.registry import SANITIZERS
from focusedcleaner.report.method_descriptions import POSITIONS, SEARCH, TRACE_TITLES, VICTIMS, describe_method
from focusedcleaner.sanitizers import sanitizer
from tests.report.helpers import summarized

NAMES = SANITIZERS.names()
SIMULATED: dict[str, object] = {
    "rounds": 1,
    "trees": 2,
    "attackers": "mettack,unrolled,minmax,targeted,dice,random,stealthy",
}
QUICK: dict[str, dict[str, object]] = {
    "self-attack": SIMULATED,
    "focused-self-attack": SIMULATED,
    "focused-ensemble": {"rule": "either"},
}


def described(name: str, **settings: object) -> str:
    method = sanitizer(name, **settings)
    return describe_method({"method": method.name, "settings": method.settings()})


def test_every_method_has_its_own_description() -> None:
    descriptions = {name: described(name) for name in NAMES}
    assert len(set(descriptions.values())) == len(NAMES)
    for description in descriptions.values():
        assert description.endswith(".")
        assert not description.startswith("Method:")


def test_a_plug_in_is_described_by_its_summary() -> None:
    assert describe_method({"method": "unknown", "settings": {"kind": "Mine"}}) == ""


@pytest.mark.parametrize("kind", [kind.__name__ for kind in DETECTORS.values()])
def test_every_detector_is_described(kind: str) -> None:
    record = {"method": "focused", "settings": {"kind": "FocusedCleaner", "detector": {"kind": kind, "rule": "both"}}}
    description = describe_method(record)
    assert VICTIMS[kind].format(rule="and") in description
    assert ("victim" in description) == (kind != "NoDetector")


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("cld", {}, "the classes around them disagree in an unusual way (ClassDiv)."),
        ("lp", {"victim_ends": 2}, "edges of two victims could be removed; nodes are victims if a link predictor"),
        ("focused-none", {}, "(largest meta-gradient)."),
        ("focused-ensemble", {}, "(ClassDiv) and a link predictor finds"),
        ("focused-ensemble", {"rule": "either"}, "(ClassDiv) or a link predictor finds"),
        ("focused-self-attack", {}, "probably planted according to self-attack."),
    ],
)
def test_focused_methods_name_their_victims(name: str, settings: dict[str, object], words: str) -> None:
    assert words in described(name, **settings)


@pytest.fixture(scope="module")
def poisoned() -> Graph:
    return Dice().poison(synthetic(num_nodes=150, seed=1), "20%", seed=0).graph


@pytest.mark.parametrize("name", NAMES)
def test_every_column_of_a_trace_has_a_title(name: str, poisoned: Graph) -> None:
    done = sanitizer(name, **QUICK.get(name, {})).sanitize(poisoned, 2)
    assert done.trace
    measured = {column for column, values in done.trace.items() if np.isfinite(values).any()} - {*POSITIONS, SEARCH}
    assert measured <= set(TRACE_TITLES)
    shown = {column["name"]: column["title"] for column in summarized(done)["trace"]["columns"]}
    without_victims = {"victims"} if name == "focused-none" else set()
    assert shown == {column: TRACE_TITLES[column] for column in measured - without_victims}
