"""The table of equations in docs/method.md against the code that it names."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "method.md"
LAST = 17
"""Numbered equations of the paper."""


def rows() -> dict[str, list[str]]:
    """The names that implement each equation, by its number."""
    text = PAGE.read_text().partition("## Every equation of the paper")[2].partition("\n## ")[0]
    cells = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")][2:]
    return {number.strip(): re.findall(r"`([^`]+)`", names) for number, _, names, _ in cells}


def resolved(name: str) -> object:
    """Look up a dotted name below ``focusedcleaner``, importing the modules on the way."""
    found: object = importlib.import_module("focusedcleaner")
    for part in name.split("."):
        if isinstance(found, ModuleType) and not hasattr(found, part):
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


def test_every_equation_has_a_row() -> None:
    numbers = [match.group() for key in rows() if (match := re.match(r"\d+", key))]
    assert list(dict.fromkeys(numbers)) == [str(number) for number in range(1, LAST + 1)]
    assert "Alg. 1" in rows()


@pytest.mark.parametrize(("number", "names"), rows().items(), ids=list(rows()))
def test_what_implements_an_equation_exists(number: str, names: list[str]) -> None:
    assert names, f"Eq. {number} names no function"
    for name in names:
        assert callable(resolved(name)) or isinstance(resolved(name), property), name


def test_equation_numbers_in_docstrings_exist() -> None:
    for file in (PAGE.parents[1] / "src").rglob("*.py"):
        for number in re.findall(r"\bEq\. (\d+)", file.read_text()):
            assert 1 <= int(number) <= LAST, f"{file} cites Eq. {number}"
