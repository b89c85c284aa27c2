"""The record of a run: every field has its type and its range."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.run_record import read_record

RECORD: dict[str, Any] = {
    "status": "complete",
    "method": "a method of another version",
    "settings": {"kind": "Mine", "detector": {"tau": [0.6, None, True]}},
    "budget": 12,
    "removed": 12,
    "seed": 4,
    "estimate": {"number": 5.0, "low": 4.1, "high": 6},
    "seconds": 3,
    "input": {"graph": "mine.npz", "largest_component": False, "fingerprint": "ab"},
}


def read(folder: Path, **changes: object) -> dict[str, Any]:
    (folder / "run.json").write_text(json.dumps({**RECORD, **changes}))
    return read_record(folder)


def test_a_record_is_read_with_what_it_lacks(tmp_path: Path) -> None:
    lacking: dict[str, Any] = {
        "added": 0,
        "suspects": 0,
        "verdict": None,
        "warnings": [],
        "auto_budget": False,
        "versions": {},
    }
    assert read(tmp_path) == {**RECORD, **lacking}
    assert read(tmp_path, estimate=None, added=3, auto_budget=True, seconds=0.5)["added"] == 3


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("status", "done", "status must be complete or interrupted"),
        ("status", ["complete"], "status must be complete or interrupted"),
        ("method", 3, "method must be text"),
        ("method", "\ud800", "method must be text"),
        ("settings", [], "settings must be an object"),
        ("settings", {"a": "\udfff"}, "settings must be an object"),
        ("budget", True, "budget must be a whole number from 0"),
        ("budget", 2**63, "budget must be a whole number from 0"),
        ("removed", 1.0, "removed must be a whole number from 0"),
        ("seed", -1, "seed must be a whole number from 0"),
        ("auto_budget", 1, "auto_budget must be true or false"),
        ("seconds", float("nan"), "seconds must be a number from 0"),
        ("seconds", float("inf"), "seconds must be a number from 0"),
        ("seconds", "1", "seconds must be a number from 0"),
        ("estimate", {"number": 1, "low": 2, "high": 1}, "estimate must be null or three numbers"),
        ("estimate", {"number": 1}, "estimate must be null or three numbers"),
        ("estimate", 5, "estimate must be null or three numbers"),
        ("suspects", -1, "suspects must be a whole number from 0"),
        ("verdict", "poisoned", "verdict must be null or an object: status"),
        ("verdict", {"status": "clean", "reason": "x"}, "verdict must be null or an object"),
        ("verdict", {"status": ["poisoned"], "reason": "x"}, "verdict must be null or an object"),
        ("verdict", {"status": "poisoned"}, "verdict must be null or an object"),
        ("verdict", {"status": "poisoned", "reason": "\ud800"}, "verdict must be null or an object"),
        ("verdict", {"status": "poisoned", "reason": "x", "expected_precision": 1.1}, "verdict must be null or an obj"),
        ("verdict", {"status": "poisoned", "reason": "x", "expected_false_alarms": -1}, "verdict must be null or an"),
        ("verdict", {"status": "poisoned", "reason": "x", "caveat": 3}, "verdict must be null or an object"),
        ("verdict", {"status": "poisoned", "reason": "x", "rule": 3}, "verdict must be null or an object"),
        ("warnings", ["a", 3], "warnings must be a list of texts"),
        ("warnings", "a", "warnings must be a list of texts"),
        ("input", {"graph": 5}, "input must be an object, with text"),
        ("input", {"fingerprint": None}, "input must be an object, with text"),
        ("versions", "new", "versions must be an object"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, field: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=f"run.json: {message}"):
        read(tmp_path, **{field: value})


def test_settings_have_a_limited_depth(tmp_path: Path) -> None:
    nested: Any = 1
    for _ in range(19):
        nested = [nested]
    assert read(tmp_path, settings={"deep": nested})
    for deeper in ([nested], {"deeper": nested}):
        with pytest.raises(InputError, match="settings must be an object"):
            read(tmp_path, settings={"deep": deeper})


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, f'{{"seed": 1{"0" * 5000}}}'])
def test_what_is_no_json_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(InputError, match=r"run\.json: is not JSON"):
        read_record(tmp_path)
