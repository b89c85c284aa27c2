"""Examples in README.md and docs/ run as printed, and the API page lists everything public."""

from __future__ import annotations

import doctest
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import focusedcleaner as fc
from benchmarks import choose, reliability, scale_page
from benchmarks.common import Results
from focusedcleaner.errors import recorded_warnings
from focusedcleaner.registry import ATTACKS, CLASSIFIERS, SANITIZERS, Registry

ROOT = Path(__file__).parents[1]
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if ">>>" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run_as_printed(page: Path, folder: Path, registries: None) -> None:
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


def test_the_page_of_choices_shows_the_stored_results() -> None:
    text = (ROOT / "docs" / "choose.md").read_text()
    for section, table in choose.tables():
        assert f"<!-- {section.name} -->\n{table}<!-- {section.end} -->" in text


@pytest.mark.parametrize(
    ("registry", "page"), [(SANITIZERS, "choose.md"), (ATTACKS, "attacks.md"), (CLASSIFIERS, "classifiers.md")]
)
def test_every_method_has_a_heading(registry: Registry[Any], page: str) -> None:
    headings = re.findall(r"^#{2,3} (\S+)$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    assert [name for name in registry.names() if headings.count(name) != 1] == []


def headings(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_links_between_pages_lead_somewhere() -> None:
    wrong = []
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for link, anchor in re.findall(r"\]\(([^()#:\s]*)(?:#([^()\s]+))?\)", page.read_text()):
            target = page.parent / link if link else page
            if not target.exists() or (anchor and anchor not in headings(target)):
                wrong.append(f"{page.name}: {link}#{anchor}")
    assert wrong == []


def block(page: str, start: str) -> str:
    """The fenced block of a page that begins so."""
    fence = "```"
    text = (ROOT / "docs" / page).read_text()
    return start + text.partition(f"{fence}\n{start}")[2].partition(fence)[0]


@pytest.mark.parametrize(
    ("page", "start", "name", "nodes", "note"),
    [
        ("start.md", "account,friend,since", "edges.csv", 4, "edges from columns account, friend; time from since"),
        ("data.md", "user_id,friend_id,since", "edges.csv", 3, "edges from columns user_id, friend_id; time from"),
        ("data.md", "payer;payee;amount;date", "edges.csv", 3, "payer, payee; weight from amount; time from date"),
        ("data.md", "user,item,rating,date", "reviews.csv", 3, "user, item, two kinds of nodes; weight from rating"),
        ("data.md", "# Directed graph", "edges.txt", 3, ""),
        ("data.md", "source,target\n", "edges.csv", 3, ""),
    ],
)
def test_example_tables_are_read(page: str, start: str, name: str, nodes: int, note: str, folder: Path) -> None:
    (folder / name).write_text(block(page, start))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fc.InputWarning)
        with recorded_warnings() as notes:
            graph = fc.load_graph(name)
    assert graph.num_nodes == nodes
    assert note in "".join(notes)


@pytest.mark.parametrize("start", ["account_id,country,age", "account_id,country,is_fraud"])
def test_example_node_tables_are_read(start: str, folder: Path) -> None:
    (folder / "edges.csv").write_text("A07,B12\nB12,C99\n")
    (folder / "nodes.csv").write_text(block("data.md", start))
    with pytest.warns(fc.InputWarning):
        graph = fc.load_graph("edges.csv", nodes="nodes.csv")
    assert len(graph.known_labels) == 1
