"""The examples of docs/examples, without running them: the site runs them. Titles, links, the gallery, public names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

import focusedcleaner as fc
from focusedcleaner.cli.app import app

DOCS = Path(__file__).parents[1] / "docs"
FOLDER = DOCS / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
LINK = re.compile(r"\[[^]]+\]\(([^)#]*)(?:#([^)]+))?\)")


class Cell(NamedTuple):
    """A cell of the percent format."""

    kind: str
    text: str


def cells(path: Path) -> list[Cell]:
    """The cells of an example: `# %%` begins code, `# %% [markdown]` text, whose every line is a comment."""
    head, *parts = re.split(r"^# %%(.*)\n", path.read_text(), flags=re.MULTILINE)
    assert head == "", "nothing comes before the first cell"
    found = []
    for mark, text in zip(parts[::2], parts[1::2], strict=True):
        assert mark in ("", " [markdown]")
        if mark:
            lines = text.rstrip("\n").split("\n")
            assert all(line == "#" or line.startswith("# ") for line in lines)
            text = "\n".join(line[2:] for line in lines)
        else:
            ast.parse(text)
        found.append(Cell("markdown" if mark else "code", text.strip()))
    return found


def code(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def slugs(page: Path) -> Iterator[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    lines = (
        [cell.text for cell in cells(page) if cell.kind == "markdown"] if page.suffix == ".py" else [page.read_text()]
    )
    for title in re.findall(r"^#+ (.+)$", "\n".join(lines), flags=re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_there_are_seven() -> None:
    assert len(EXAMPLES) == 7


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_explains_each_step(path: Path) -> None:
    found = cells(path)
    assert re.match(r"# \S.*\n\n\S", found[0].text), "a title, then what the example is about"
    assert sum(cell.text.startswith("# ") for cell in found if cell.kind == "markdown") == 1
    assert all(cell.text for cell in found)
    assert [pair for pair in pairwise(cell.kind for cell in found) if pair == ("markdown", "markdown")] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_ends_with_links(path: Path) -> None:
    last = cells(path)[-1]
    assert last.kind == "markdown"
    _, found, end = last.text.rpartition("## Where to go next\n")
    assert found
    assert 2 <= len(LINK.findall(end)) <= 4


@pytest.mark.parametrize("path", [*EXAMPLES, FOLDER / "index.md"], ids=lambda path: path.stem)
def test_links_lead_somewhere(path: Path) -> None:
    text = (
        path.read_text()
        if path.suffix == ".md"
        else "\n".join(cell.text for cell in cells(path) if cell.kind != "code")
    )
    links = [(target, heading) for target, heading in LINK.findall(text) if "://" not in target]
    assert links
    for target, heading in links:
        page = (FOLDER / target).resolve() if target else path
        assert page.is_file(), target
        assert page.is_relative_to(DOCS)
        assert not heading or heading in set(slugs(page)), f"{target}#{heading}"


def test_the_gallery_lists_every_example_by_its_title() -> None:
    listed = dict(re.findall(r"^- \[([^]]+)\]\((\w+\.py)\)", (FOLDER / "index.md").read_text(), flags=re.MULTILINE))
    titles = {cells(path)[0].text.split("\n")[0].removeprefix("# "): path.name for path in EXAMPLES}
    assert listed == titles


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_uses_the_public_api(path: Path) -> None:
    """`fc.NAME` with a public name; another module of the package only where a page of the documentation names it."""
    tree = code(path)
    names = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "fc"
    }
    assert names
    assert names <= set(fc.__all__)
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    pages = "".join(page.read_text() for page in DOCS.glob("*.md"))
    ours = {module for module in modules if module.startswith("focusedcleaner.")}
    assert [module for module in ours if f"`{module}`" not in pages] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_commands_are_those_of_the_command_line(path: Path) -> None:
    known = {command.name for command in app.registered_commands}
    assert set(re.findall(r'["`]focusedcleaner (\w+)', path.read_text())) <= known


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_nothing_absolute_and_no_window(path: Path) -> None:
    """Pages show no path of the machine that built them, and a script waits for nobody to close a picture."""
    strings = [
        node.value for node in ast.walk(code(path)) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert [text for text in strings if re.match(r"(/|~)\w", text)] == []
    assert "plt.show" not in path.read_text()
