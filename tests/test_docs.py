"""Examples in README.md and docs/ run as printed, and the API page lists everything public."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import focusedcleaner as fc
from benchmarks import reliability, scale_page
from benchmarks.common import Results
from focusedcleaner.registry import SANITIZERS

ROOT = Path(__file__).parents[1]
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if ">>>" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run_as_printed(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SANITIZERS.names()
    monkeypatch.setattr(SANITIZERS, "_methods", dict(SANITIZERS._methods))
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert tried
    assert not failed


def test_the_readme_shows_python() -> None:
    assert ROOT / "README.md" in PAGES


def test_the_api_page_lists_every_public_name() -> None:
    text = (ROOT / "docs" / "api.md").read_text()
    assert [name for name in fc.__all__ if f"`fc.{name}" not in text] == []


def test_the_reliability_page_shows_the_last_campaign() -> None:
    text = (ROOT / "docs" / "reliability.md").read_text()
    for tried, seen in reliability.rows():
        assert f"| {tried} | {seen} |" in text


def test_the_scale_page_shows_the_stored_results() -> None:
    text = (ROOT / "docs" / "scale.md").read_text()
    for section, table in scale_page.tables(Results("scale").cells):
        assert f"<!-- {section.name} -->\n{table}<!-- {section.end} -->" in text
