"""The report's page: whole, closed to the outside, readable by everyone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
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
from focusedcleaner.report import charts, page, summary
from focusedcleaner.report.axes import ticks, top
from focusedcleaner.report.palette import mark
from focusedcleaner.runs import run_record
from focusedcleaner.sanitizers import FocusedCleaner, Sanitation
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
    "x" * 5000,
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


def sanitation(graph: Graph | None = None, budget: int = 12) -> Sanitation:
    given = clean() if graph is None else graph
    return FocusedCleaner().sanitize(Dice().poison(given, "20%", seed=0).graph, budget)


def hostile() -> Sanitation:
    graph = clean()
    names = tuple(f"{HOSTILE[number % len(HOSTILE)]}{number}" for number in range(graph.num_nodes))
    classes = tuple(HOSTILE[:5])
    return sanitation(replace(graph, names=names, class_names=classes))


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
    return sanitation(graph.with_split(split))


def nothing_removed() -> Sanitation:
    empty = np.empty((0, 2), np.int64)
    return replace(sanitation(), removed=empty, scores=np.empty(0), evidence={}, trace={})


def two_classes() -> Sanitation:
    return sanitation(synthetic(num_nodes=80, num_classes=2, seed=4))


CASES: dict[str, Callable[[], Sanitation]] = {
    "plain": sanitation,
    "hostile": hostile,
    "no attributes": lambda: sanitation(replace(clean(), attributes=None)),
    "mostly unlabelled": mostly_unlabelled,
    "no validation": without_validation,
    "budget 1": lambda: sanitation(budget=1),
    "nothing removed": nothing_removed,
    "two classes": two_classes,
}


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> Page:
    found = CASES[request.param]()
    truth = replace(clean(found.poisoned.num_nodes), names=found.poisoned.names)
    about = run_record(found, {"graph": f"data/{HOSTILE[0]}.npz", HOSTILE[1]: HOSTILE[2]}, "complete")
    return Page(page(summary(found, truth=truth, about=about)))


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
    assert len(case.all("caption")) == len(case.all("table")) == 2
    assert len(case.all("figcaption")) == len(case.all("figure"))
    assert all(cell.get("scope") in ("row", "col") for cell in case.all("th"))
    named = [attributes["id"] for _, attributes in case.tags if "id" in attributes]
    assert len(set(named)) == len(named)
    targets = [(link.get("href") or "")[1:] for link in case.all("a")]
    assert targets
    assert set(targets) <= set(named)
    assert {section.get("aria-labelledby") for section in case.all("section")} <= set(named)


def test_it_has_its_parts(case: Page) -> None:
    for words in ("Against the truth", "Before and after", "Who looks attacked", "How it was done", "removed from"):
        assert words in case.text


def test_no_number_is_missing_or_broken(case: Page) -> None:
    figures = [str(value) for _, attributes in case.tags for value in attributes.values()]
    assert not re.search(r"\b(nan|None|inf)\b", " ".join([case.text, *figures]))


def told(**changes: Any) -> Page:
    found = sanitation()
    return Page(page(summary(found, about={**run_record(found, {}, "complete"), **changes})))


def test_hostile_words_are_words() -> None:
    found = hostile()
    text = page(summary(found, about=run_record(found, {"graph": HOSTILE[0]}, "complete")))
    read = Page(text)
    assert "<script" not in text
    assert "\u202e" not in text
    assert "<script>alert(1)</script>" in read.text
    assert "7 * 7" in read.text or all("{{" not in edge["u"] + edge["v"] for edge in summary(found)["edges"])
    assert "x" * 300 not in text


def test_an_interrupted_run_says_so() -> None:
    assert "The run was interrupted: 12 of the 40 edges" in told(status="interrupted", budget=40).text
    assert "interrupted" not in told().text


def test_without_the_truth_nobody_is_called_planted() -> None:
    text = told().text
    assert "Against the truth" not in text
    assert "planted ✓" not in text
    assert "ESR" not in text


def test_nothing_removed_is_said() -> None:
    read = Page(page(summary(nothing_removed())))
    assert "removed no edge." in read.text
    assert "No edge was removed." in read.text
    assert "Step by step" not in read.text


def test_a_large_run_stays_small() -> None:
    """10,000 removed edges and as many rounds; what is shown is capped."""
    graph = synthetic(num_nodes=7000, num_attributes=20, seed=0)
    rng = np.random.default_rng(0)
    removed = graph.edges[rng.permutation(graph.num_edges)[:10_000]]
    steps = np.arange(1, 10_001)
    trace = {"round": steps, "removed": steps, **{f"column_{number}": rng.random(10_000) for number in range(8)}}
    found = Sanitation(graph, removed, rng.random(10_000), {}, trace, "cld", {}, budget=10_000, seed=0, seconds=1.0)
    text = page(summary(found, truth=graph))
    assert len(text.encode()) < 1_500_000
    assert "The first 20 of 10,000 removed edges" in Page(text).text


@settings(max_examples=25, deadline=None)
@given(labelled_graphs(), st.integers(0, 99), st.sampled_from([None, 0.0, 2.0]))
def test_any_graph_has_a_report(graph: Graph, pick: int, constant: float | None) -> None:
    """Whatever method removed the edge: isolated nodes, lone edges, and attributes that say nothing included."""
    if constant is not None and graph.attributes is not None:
        graph = replace(graph, attributes=np.full(graph.attributes.shape, constant))
    removed = graph.edges[[pick % graph.num_edges]]
    found = Sanitation(graph, removed, np.ones(1), {}, {}, "jaccard", {}, budget=1, seed=0, seconds=0.1)
    assert "1 of " in Page(page(summary(found, truth=found.graph))).text


def test_ticks_are_round_and_inside() -> None:
    for low, high in ((0, 1), (0, 553), (-12.7, 4.9), (0.0004, 0.021), (38_600, 39_100), (0, 3e6)):
        marks = ticks(low, high)
        assert 2 <= len(marks) <= 9
        assert low - 1e-9 <= marks[0] < marks[-1] <= high + 1e-9
        assert np.allclose(np.diff(marks), marks[1] - marks[0])
    assert [top(value) for value in (1, 7, 99, 100)] == [1, 8, 100, 100]


def test_a_flat_and_a_gappy_trace_can_be_drawn() -> None:
    flat = charts.trace("flat", [1, 2, 3], [0.5, 0.5, 0.5])
    gappy = charts.trace("gappy", [1, 2, 3, 4], [1.0, None, 2.0, None])
    assert "nan" not in flat + gappy
    assert gappy.count("M") - gappy.count("MM") >= 2


def test_labels_of_lines_keep_apart() -> None:
    heights = charts._apart([100.0, 104.0, 30.0], 16)
    assert sorted(heights) == [30.0, 88.0, 104.0]


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2."""

    def light(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_letters_can_be_read_on_their_colours() -> None:
    graph = Graph(2, [[0, 1]])
    for number in range(-1, 7):
        sign = mark(graph, number)
        assert contrast(sign.colour, sign.ink) >= 4.5, sign


def test_words_can_be_read_in_the_light_and_in_the_dark() -> None:
    style = page(summary(sanitation(budget=1))).partition("<style>")[2].partition("</style>")[0]
    themes = [
        dict(re.findall(r"--fc-(\w+): (#\w{6});", block)) for block in re.findall(r":root \{(.*?)\}", style, re.S)
    ]
    assert len(themes) == 2
    for theme in themes:
        for ground in ("paper", "card"):
            for words in ("ink", "quiet", "after", "flagged", "before"):
                assert contrast(theme[words], theme[ground]) >= 4.5, (words, ground)
