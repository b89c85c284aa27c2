"""`run.json`, the record of a run: made, read with every field checked, and compared with the run that resumes it."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, get_args

from focusedcleaner.budget import AUTO
from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.io.disk import read_text
from focusedcleaner.sanitizers.sanitation import Sanitation
from focusedcleaner.verdict import STATUSES

RECORD = "run.json"
Status = Literal["complete", "interrupted"]

_CONFIGURATION = ("method", "settings", "budget", "seed")
"""What a run must share with the run that resumes it, beside the graph."""
_DEFAULTS: Mapping[str, Any] = {
    "auto_budget": False,
    "added": 0,
    "suspects": 0,
    "verdict": None,
    "estimate": None,
    "warnings": [],
    "seconds": 0.0,
    "versions": {},
}
"""Fields that a record may lack."""
_DEEPEST = 20
"""Levels of nested settings at most."""


def make_record(sanitation: Sanitation, source: Mapping[str, Any], status: Status) -> dict[str, Any]:
    """The record of a sanitation; ``source`` says what the graph was read from."""
    graph, estimate = sanitation.poisoned, sanitation.estimate
    return {
        "status": status,
        "method": sanitation.method,
        "settings": dict(sanitation.settings),
        "budget": sanitation.budget,
        "auto_budget": sanitation.auto,
        "removed": len(sanitation.removed),
        "added": len(sanitation.added),
        "suspects": len(sanitation.suspects),
        "verdict": sanitation.verdict.to_dict(),
        "estimate": None if estimate is None else {name: round(value, 1) for name, value in vars(estimate).items()},
        "warnings": list(sanitation.warnings),
        "seed": sanitation.seed,
        "seconds": round(sanitation.seconds, 3),
        "input": {**source, "nodes": graph.num_nodes, "edges": graph.num_edges, "fingerprint": graph.fingerprint()},
        "versions": {
            "focusedcleaner": version("focusedcleaner"),
            "python": platform.python_version(),
            **{package: version(package) for package in ("torch", "numpy", "scipy")},
        },
    }


def read_record(folder: Path) -> dict[str, Any]:
    """Read `run.json` of a run folder; every field that anything uses has its type and its range."""
    with prefix_errors(folder / RECORD):
        try:
            record = json.loads(read_text(folder / RECORD))
        except (ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError("is not JSON") from None
        required = _CHECKS.keys() - _DEFAULTS.keys()
        if not isinstance(record, dict) or not required <= record.keys():
            raise InputError("is not the record of a run")
        record = {**_DEFAULTS, **record}
        for field, (is_right, meaning) in _CHECKS.items():
            if not is_right(record[field]):
                raise InputError(f"{field} must be {meaning}")
        return record


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_estimate(value: object) -> bool:
    if not isinstance(value, dict):
        return value is None
    numbers: list[Any] = [value.get(key) for key in ("number", "low", "high")]
    return all(map(_is_amount, numbers)) and bool(numbers[1] <= numbers[2])


def _is_verdict(value: object) -> bool:
    if not isinstance(value, dict):
        return value is None
    precision, alarms = value.get("expected_precision"), value.get("expected_false_alarms")
    return (
        value.get("status") in STATUSES
        and _is_text(value.get("reason"))
        and all(_is_text(value.get(name, "")) for name in ("caveat", "rule"))
        and (precision is None or (_is_amount(precision) and precision <= 1))
        and (alarms is None or _is_amount(alarms))
    )


def _is_text(value: object) -> bool:
    """Whether it is text that can be printed: JSON can spell half a character."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _is_object(value: object, depth: int = 0) -> bool:
    """Whether it is an object of plain values and, to a limited depth, of lists and objects."""
    if not isinstance(value, dict) or depth == _DEEPEST:
        return False
    return all(_is_text(key) and _is_value(one, depth + 1) for key, one in value.items())


def _is_value(value: object, depth: int) -> bool:
    if isinstance(value, list):
        return depth < _DEEPEST and all(_is_value(one, depth + 1) for one in value)
    if isinstance(value, str):
        return _is_text(value)
    return _is_object(value, depth) if isinstance(value, dict) else True


def _is_input(value: object) -> bool:
    if not isinstance(value, dict) or not _is_object(value):
        return False
    return _is_text(value.get("graph", "")) and _is_text(value.get("fingerprint", ""))


_CHECKS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "status": (lambda value: value in get_args(Status), " or ".join(get_args(Status))),
    "method": (_is_text, "text"),
    "settings": (_is_object, "an object"),
    "budget": (_is_count, "a whole number from 0"),
    "seed": (_is_count, "a whole number from 0"),
    "removed": (_is_count, "a whole number from 0"),
    "added": (_is_count, "a whole number from 0"),
    "suspects": (_is_count, "a whole number from 0"),
    "auto_budget": (lambda value: isinstance(value, bool), "true or false"),
    "estimate": (_is_estimate, "null or three numbers from 0: number, low and high, low not above high"),
    "verdict": (
        _is_verdict,
        f"null or an object: status ({', '.join(STATUSES)}), reason, expected_precision (0 to 1 or null), "
        "expected_false_alarms (from 0 or null), caveat and rule",
    ),
    "warnings": (lambda value: isinstance(value, list) and all(map(_is_text, value)), "a list of texts"),
    "seconds": (_is_amount, "a number from 0"),
    "input": (_is_input, "an object, with text as its graph and its fingerprint"),
    "versions": (_is_object, "an object"),
}


def check_same_configuration(path: Path, record: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
    """Raise an `InputError` that names the first difference between a run and the run that is to continue it.

    Args:
        path: the run folder.
        record: its record.
        configuration: method, settings, budget ("auto" if the method chooses), seed and the graph's fingerprint.
    """
    before = {**record, "budget": AUTO if record.get("auto_budget") else record["budget"]}
    for key in _CONFIGURATION:
        if before[key] != configuration[key]:
            old, new = _difference(before[key], configuration[key])
            raise InputError(f"{path} was made with {key} {old}, not {new}: resume with the same")
    if before["input"].get("fingerprint") != configuration["fingerprint"]:
        raise InputError(f"{path} was made from another graph or another split: resume with the same")


def _difference(old: Any, new: Any) -> tuple[str, str]:
    """Two values as text; of two dicts, the first entry that differs."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {**old, **new}:
            if old.get(key) != new.get(key):
                was, now = _difference(old.get(key), new.get(key))
                return f"{key} {was}", now
    return str(old), str(new)
