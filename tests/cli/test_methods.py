"""``focusedcleaner methods``."""

from __future__ import annotations

import json
import re

import pytest

from focusedcleaner.registry import ATTACKS, CLASSIFIERS, SANITIZERS
from tests.conftest import Command


def test_methods(cli: Command) -> None:
    shown = cli("methods").stdout
    assert "`" not in shown
    words = " ".join(shown.split())
    for text in (
        "svd Removes the edges with little weight in a low-rank approximation of the graph. Needs edges only. "
        "rank=30 (1 to 10,000), normalized=true (true or false)",
        "in common. Needs attributes. threshold=none (a number, or none)",
        "purpose=model (model or evidence)",
        "rule=both (both or either)",
        "inner=implicit (implicit or unrolled)",
        "counts them. Needs edges only.",
        "block_size=250000 (1 to 10,000,000)",
    ):
        assert text in words


@pytest.mark.parametrize("width", ["60", "200"])
def test_nothing_is_cut(cli: Command, monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    words = " ".join(cli("methods").stdout.split())
    assert "…" not in words
    for method in (*SANITIZERS, *ATTACKS, *CLASSIFIERS):
        assert f"{method.name} " in words
        for name in method.names():
            assert f"{name}=" in words


def test_every_summary_is_a_sentence(cli: Command) -> None:
    listed = json.loads(cli("methods", "--json").stdout)
    assert [method["name"] for method in listed["sanitizers"]][:3] == ["cld", "lp", "focused-none"]
    for method in [method for methods in listed.values() for method in methods]:
        assert re.fullmatch(r"[A-Z][^`\n]+[^\W.]\)?\.", method["summary"]), method["summary"]
    needs = {method["name"]: (method["needs_labels"], method["needs_attributes"]) for method in listed["sanitizers"]}
    assert needs["cld"] == (True, False)
    assert needs["jaccard"] == needs["cosine"] == (False, True)
    assert needs["svd"] == (False, False)
    [cld] = [method for method in listed["sanitizers"] if method["name"] == "cld"]
    assert cld["settings"]["tau"] == {"default": 0.6, "allowed": "0 to 1"}
