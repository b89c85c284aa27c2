"""The HTML page of a report: complete, self-contained, safe and accessible."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.attacks import Dice
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import UNKNOWN, Graph, Split
from focusedcleaner.sanitizers import FocusedCleaner, Sanitation, sanitizer
from tests.report.helpers import reported, summarized
from tests.report.test_rendering import contrast
from tests.strategies import labelled_graphs

VOID = {"meta", "br", "hr", "img", "input", "link"}
HOSTILE = (
    "<script>alert(1)</script>",
    '" onload="alert(1)',
    "' onclick='x",
    "]]>",
    "<!--",
    "\u202eevil",
    "{{ 7 * 7 }}",
    "x" * 990,
)


class Page(HTMLParser):
    """Reads a page, refusing tags that don't fit together."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).replace("\N{NO-BREAK SPACE}", " ").split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def clean(nodes: int = 120) -> Graph:
    return synthetic(num_nodes=nodes, seed=2)


def poisoned_and_cleaned(graph: Graph, budget: int = 12) -> Sanitation:
    return FocusedCleaner().sanitize(Dice().poison(graph, "20%", seed=0).graph, budget)


@cache
def sanitation() -> Sanitation:
    return poisoned_and_cleaned(clean())


@cache
def hostile() -> Sanitation:
    graph = clean()
    names = tuple(f"{HOSTILE[number % len(HOSTILE)]}{number}" for number in range(graph.num_nodes))
    return poisoned_and_cleaned(replace(graph, names=names, class_names=tuple(HOSTILE[:5])))


def mostly_unlabelled() -> Sanitation:
    graph = clean()
    assert graph.labels is not None
    assert graph.split is not None
    labels = np.full(graph.num_nodes, UNKNOWN)
    seen = np.concatenate([graph.split.train, graph.split.val])
    labels[seen] = graph.labels[seen]
    return FocusedCleaner().sanitize(replace(graph, labels=labels), 5)


def without_validation() -> Sanitation:
    graph = clean()
    assert graph.split is not None
    split = Split(graph.split.train, [], np.concatenate([graph.split.val, graph.split.test]))
    return poisoned_and_cleaned(graph.with_split(split))


def nothing_removed() -> Sanitation:
    empty = np.empty((0, 2), np.int64)
    return replace(sanitation(), removed=empty, scores=np.empty(0), evidence={}, trace={})


CASES: dict[str, Callable[[], Sanitation]] = {
    "plain": sanitation,
    "hostile": hostile,
    "no attributes": lambda: poisoned_and_cleaned(replace(clean(), attributes=None)),
    "mostly unlabelled": mostly_unlabelled,
    "no validation": without_validation,
    "no victims": lambda: sanitizer("jaccard").sanitize(clean(), 12),
    "inserts edges": lambda: sanitizer("gasoline").sanitize(clean(), 6),
    "budget 1": lambda: poisoned_and_cleaned(clean(), budget=1),
    "nothing removed": nothing_removed,
    "two classes": lambda: poisoned_and_cleaned(synthetic(num_nodes=80, num_classes=2, seed=4)),
}


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> Page:
    done = CASES[request.param]()
    truth = replace(clean(done.poisoned.num_nodes), names=done.poisoned.names)
    source = {"graph": f"data/{HOSTILE[0]}.npz", HOSTILE[1]: HOSTILE[2]}
    return Page(reported(done, truth=truth, source=source))


def test_nothing_is_loaded_and_nothing_runs(case: Page) -> None:
    assert not case.all("script") + case.all("link") + case.all("img") + case.all("iframe") + case.all("object")
    for _, attributes in case.tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "srcset", "style")]
        assert (attributes.get("href") or "#").startswith("#")
    policy = [meta for meta in case.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert (policy[0]["content"] or "").startswith("default-src 'none'")


def test_it_can_be_read_without_seeing_it(case: Page) -> None:
    assert case.all("html") == [{"lang": "en"}]
    for svg in case.all("svg"):
        assert svg.get("aria-hidden") == "true" or (svg.get("role") == "img" and svg.get("aria-label"))
    headings = [int(tag[1]) for tag, _ in case.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == headings.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    assert len(case.all("caption")) == len(case.all("table")) >= 2
    assert len(case.all("figcaption")) == len(case.all("figure"))
    assert all(cell.get("scope") in ("row", "col") for cell in case.all("th"))
    named = [attributes["id"] for _, attributes in case.tags if "id" in attributes]
    assert len(set(named)) == len(named)
    targets = [(link.get("href") or "")[1:] for link in case.all("a")]
    assert targets
    assert set(targets) <= set(named)
    assert {section.get("aria-labelledby") for section in case.all("section")} <= set(named)


def test_it_has_its_parts(case: Page) -> None:
    for words in ("Against the truth", "Before and after", "The most suspicious edges", "Run details", "Removed"):
        assert words in case.text


def test_no_number_is_missing_or_broken(case: Page) -> None:
    figures = [str(value) for _, attributes in case.tags for value in attributes.values()]
    assert not re.search(r"\b(nan|None|inf)\b", " ".join([case.text, *figures]))


def words_of(**record: Any) -> str:
    return Page(reported(sanitation(), **record)).text


def test_hostile_names_are_shown_as_text() -> None:
    html = reported(hostile(), source={"graph": HOSTILE[0]})
    words = Page(html).text
    assert "<script" not in html
    assert "\u202e" not in html
    assert "x" * 300 not in html
    assert "<script>alert(1)</script>" in words
    shown = {name for edge in summarized(hostile())["edges"] for name in (edge["u"], edge["v"])}
    assert len(shown) >= 12
    for name in shown:
        assert " ".join(name.split()) in words


def test_templates_in_names_are_not_rendered() -> None:
    graph = replace(clean(), names=tuple(f"{{{{ 7 * 7 }}}}{number}" for number in range(120)))
    words = Page(reported(FocusedCleaner().sanitize(graph, 2))).text
    assert "{{ 7 * 7 }}" in words
    assert "49" not in re.findall(r"<bdi>(\d+)", reported(FocusedCleaner().sanitize(graph, 2)))


def test_an_interrupted_run_says_so() -> None:
    assert "The run was interrupted: 12 of the 40 edges" in words_of(status="interrupted", budget=40)
    assert "interrupted" not in words_of()


def test_without_the_truth_no_edge_is_called_planted() -> None:
    words = words_of()
    assert "Against the truth" not in words
    assert "planted ✓" not in words
    assert "ESR" not in words


def test_a_run_that_removed_nothing() -> None:
    words = Page(reported(nothing_removed())).text
    assert "removed no edge." in words
    assert "No edge was removed." in words
    assert "Round by round" not in words


def test_victims_are_reported_for_methods_that_have_them() -> None:
    victims = sanitation().trace["victims"]
    assert f"The method classified {victims[0]} nodes as victims in the first round and {victims[-1]} in the last" in (
        words_of()
    )
    for name in ("jaccard", "focused-none"):
        told = Page(reported(sanitizer(name).sanitize(clean(), 5))).text.partition("All settings")[0]
        assert "victim" not in told.lower()


def test_a_large_run_has_a_small_report() -> None:
    """10,000 removed edges and as many rounds; what is shown is capped."""
    graph = synthetic(num_nodes=7000, num_attributes=20, seed=0)
    rng = np.random.default_rng(0)
    removed = graph.edges[rng.permutation(graph.num_edges)[:10_000]]
    steps = np.arange(1, 10_001)
    trace = {"round": steps, "removed": steps, **{f"column_{number}": rng.random(10_000) for number in range(8)}}
    done = Sanitation(graph, removed, rng.random(10_000), {}, trace, "cld", {}, budget=10_000, seed=0, seconds=1.0)
    html = reported(done, truth=graph)
    assert len(html.encode()) < 1_500_000
    assert "The first 20 of 10,000 removed edges" in Page(html).text


@settings(max_examples=25, deadline=None)
@given(labelled_graphs(), st.integers(0, 99), st.sampled_from([None, 0.0, 2.0]))
def test_any_graph_has_a_report(graph: Graph, pick: int, constant: float | None) -> None:
    """Isolated nodes, lone edges and constant attributes included."""
    if constant is not None and graph.attributes is not None:
        graph = replace(graph, attributes=np.full(graph.attributes.shape, constant))
    removed = graph.edges[[pick % graph.num_edges]]
    done = Sanitation(graph, removed, np.ones(1), {}, {}, "jaccard", {}, budget=1, seed=0, seconds=0.1)
    assert f"1 of {graph.num_edges:,} edge" in Page(reported(done, truth=done.graph)).text


def test_a_graph_without_labels_has_a_report() -> None:
    bare = Graph(5, [[0, 1], [1, 2], [2, 3], [3, 4]])
    done = Sanitation(bare, bare.edges[:1], np.ones(1), {}, {}, "svd", {}, budget=1, seed=0, seconds=0.1)
    text = Page(reported(done)).text
    assert "1 of 4 edges (25.0" in text
    assert "class" not in text.replace("focusedcleaner classify", "").partition("Run details")[0].replace(
        "classifiers", ""
    )


def test_text_is_legible_in_both_themes() -> None:
    style = reported(nothing_removed()).partition("<style>")[2].partition("</style>")[0]
    themes = [
        dict(re.findall(r"--fc-(\w+): (#\w{6});", block)) for block in re.findall(r":root \{(.*?)\}", style, re.S)
    ]
    assert len(themes) == 2
    for theme in themes:
        for ground in ("paper", "card"):
            for colour in ("ink", "quiet", "after", "flagged", "before", "good"):
                assert contrast(theme[colour], theme[ground]) >= 4.5, (colour, ground)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_verdict_with_hostile_text(hostile: str) -> None:
    verdict = {"status": "not suitable", "reason": hostile, "caveat": hostile}
    html = reported(nothing_removed(), verdict=verdict, warnings=[hostile])
    page = Page(html)
    assert not any(tag == "script" for tag, _ in page.tags)
    assert "\u202e" not in html
    assert page.text.count("Not suitable") == 1


def test_the_verdict_is_the_first_tile() -> None:
    page = reported(nothing_removed())
    first = page.partition('<dl class="tiles">')[2].partition("</div>")[0]
    assert 'class="verdict uncertain"' in first
    assert "Uncertain: a ranking only" in first
