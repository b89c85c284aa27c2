"""The routes of the review page, without a browser."""

from __future__ import annotations

import asyncio
import re
import socket
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from focusedcleaner.graph import Graph
from focusedcleaner.review.page import PAGE_SIZE, Review
from focusedcleaner.review.server import HOST, listen
from focusedcleaner.runs import Run
from tests.review.sample_runs import HOSTILE, a_client, a_review, a_run, bare_run, form, hostile_graph, named_graph


class Outline(HTMLParser):
    """The page's elements, checked to be closed in the order they were opened."""

    VOID = frozenset({"meta", "link", "input", "br", "option"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def test_an_edge_with_its_evidence(client: TestClient, review: Review) -> None:
    page = client.get("/?edge=3").text
    run = review.edges.run
    u, v = (run.graph.name(node) for node in run.removed[2])
    assert f'<bdi title="{u}">{u}</bdi> – <bdi title="{v}">{v}</bdi>' in page
    for words in (
        "Evidence",
        "Known class",
        "Predicted class",
        "Meta-gradient",
        "Common neighbours",
        "Attributes that differ most",
    ):
        assert words in page
    outline = Outline(page)
    assert any(one.get("class") == "fc-neighbourhood" for one in outline.all("svg"))
    assert next(one for one in outline.all("a") if one.get("aria-current"))["href"] == "/?edge=3"


def _unlabelled(graph: Graph, **changes: Any) -> Graph:
    return replace(graph, labels=None, split=None, class_names=None, **changes)


def test_a_long_name_is_cut_and_whole_in_its_tooltip(tmp_path: Path) -> None:
    names = tuple(f"{number:03d}{'x' * 60}" for number in range(150))
    run = a_run(tmp_path / "RUN", replace(named_graph(), names=names), 5)
    with a_review(run) as review, a_client(review) as client:
        page = client.get("/").text
    u = names[run.removed[0][0]]
    assert page.count(f'title="{u}"') >= 4, "in the list, the title, the table and the attributes"
    assert f">{u[:39]}…</bdi>" in page


@pytest.mark.parametrize("bipartite", [False, True])
def test_a_graph_without_labels(tmp_path: Path, bipartite: bool) -> None:
    graph = _unlabelled(named_graph())
    if bipartite:
        pairs = np.column_stack([np.arange(60), 60 + np.arange(60) % 20])
        graph = Graph.from_pairs(80, np.concatenate([pairs, [[0, 61], [1, 62]]]))
    groups = {name: np.arange(3) for name in ("group", "group_sources", "group_targets", "group_density")}
    run = bare_run(tmp_path / "RUN", graph, graph.edges[:3], np.ones(3), **(groups if bipartite else {}))
    with a_review(run) as review, a_client(review) as client:
        page = client.get("/?edge=2").text
        assert client.post("/decide", data=form(client, edge=2, verdict="planted")).status_code == 200
    for word in ("Known class", "Predicted class", "pale:", 'id="classes"', "unknown"):
        assert word not in page
    assert ("Sources of the group" in page) == bipartite


def test_clusters_in_place_of_classes(tmp_path: Path) -> None:
    graph = _unlabelled(named_graph())
    clusters = {f"clusters_{end}": np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]) for end in "uv"}
    around = {f"neighbours_{end}": np.array([[0.0, 1.0], [0.0, 0.0], [0.5, 0.5]]) for end in "uv"}
    run = bare_run(tmp_path / "RUN", graph, graph.edges[:3], np.ones(3), **clusters, **around)
    with a_review(run) as review, a_client(review) as client:
        pages = [client.get(f"/?edge={edge}").text for edge in (1, 2)]
        filtered = client.get("/?classes=1-1").text
    assert "is in cluster 1 but its other neighbours are in cluster 2" in pages[0]
    assert '<th scope="row">Cluster</th>' in pages[0]
    assert "Its other neighbours" in pages[0]
    assert "Its other neighbours" not in pages[1]
    assert "Known class" not in pages[0]
    assert ">cluster 2 – cluster 2 (1)</option>" in filtered


def test_decide_goes_to_the_next_edge_and_undo_comes_back(client: TestClient, review: Review) -> None:
    answer = client.post("/decide", data=form(client, edge=2, verdict="planted", note="odd pair"))
    assert answer.url.params["edge"] == "3"
    assert "Edge 2: judged planted" in answer.text
    assert review.store.decisions(2)[0].note == "odd pair"
    answer = client.post("/undo", data=form(client, edge=3))
    assert answer.url.params["edge"] == "2"
    assert "Edge 2: no verdict" in answer.text
    answer = client.post("/undo", data=form(client, edge=2))
    assert (answer.status_code, "there is nothing to undo" in answer.text) == (400, True)


def test_the_view_is_kept(client: TestClient) -> None:
    view = {"state": "open", "by": "ann", "sort": "score", "text": "node"}
    first = Outline(client.get("/", params=view).text)
    edge = next(one["value"] for one in first.all("input") if one.get("name") == "edge")
    answer = client.post("/decide", data=form(client, edge=edge, verdict="genuine", **view))
    assert {name: answer.url.params[name] for name in view} == view
    assert answer.url.params["edge"] != edge


def test_the_last_edge_stays(client: TestClient) -> None:
    answer = client.post("/decide", data=form(client, edge=40, verdict="unsure", state="open", note="the end"))
    assert answer.url.params["edge"] == "40"
    assert "Edge 40: unsure, with a note" in answer.text
    assert "of 39</p>" not in answer.text


def test_one_comes_back_to_where_one_left_off(client: TestClient, review: Review) -> None:
    for rank in (1, 2, 4):
        review.store.decide(rank, "ann", "genuine")
    review.store.decide(3, "bob", "planted")
    assert "Edge 3 ·" in client.get("/").text
    assert "Edge 3 ·" not in client.get("/?page=2").text


def test_pages_of_the_list(client: TestClient) -> None:
    ranks: list[str] = []
    for number in range(1, 5):
        ranks += re.findall(r'<span class="rank">(\d+)</span>', client.get(f"/?page={number}").text)
    assert ranks == [str(rank) for rank in range(1, 41)]
    assert PAGE_SIZE * 3 < 40 <= PAGE_SIZE * 4
    assert 'aria-current="true"' in client.get("/?page=99").text


def test_nothing_fits(client: TestClient) -> None:
    page = client.get("/?text=nobody+is+called+so").text
    assert "No edge matches" in page
    Outline(page)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("edge=0", "there is no edge 0"),
        ("edge=41", "there is no edge 41"),
        ("edge=x", "is not the number"),
        ("edge=" + "9" * 40, "is not the number"),
        ("page=-1", "is not the number"),
        ("state=nice", "there is no filter"),
        ("sort=x", "there is no order"),
        ("classes=x", "a pair of classes"),
    ],
)
def test_an_address_that_is_wrong(client: TestClient, query: str, words: str) -> None:
    answer = client.get(f"/?{query}")
    assert answer.status_code == 400
    assert words in answer.text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"edge": 99, "verdict": "planted"}, "there is no edge 99"),
        ({"verdict": "planted"}, "no edge was named"),
        ({"edge": 1, "verdict": "guilty"}, "a verdict is"),
        ({"edge": 1, "verdict": "planted", "reviewer": " "}, "a reviewer&#39;s name"),
    ],
)
def test_a_form_that_is_wrong(client: TestClient, review: Review, fields: dict[str, Any], words: str) -> None:
    answer = client.post("/decide", data=form(client, **fields))
    assert answer.status_code == 400
    assert words in answer.text
    assert review.store.last_event() == 0


def test_a_reviewer_is_remembered(client: TestClient) -> None:
    client.post("/reviewer", data=form(client, reviewer="Zoë; Ltd <b>"))
    page = client.get("/").text
    assert 'value="Zoë; Ltd &lt;b&gt;"' in page
    cookie = next(cookie for cookie in client.cookies.jar if "reviewer" in cookie.name)
    assert (cookie.has_nonstandard_attr("HttpOnly"), cookie.get_nonstandard_attr("SameSite")) == (True, "strict")


def test_the_page_says_who_judges_and_not_the_cookie(client: TestClient, review: Review) -> None:
    page = form(client)
    client.post("/reviewer", data=form(client, reviewer="bob"))
    client.post("/decide", data={**page, "edge": 1, "verdict": "planted"})
    assert [one.reviewer for one in review.store.decisions(1)] == ["ann"]


def test_conflicts_are_shown_and_found(client: TestClient, review: Review) -> None:
    review.store.decide(5, "ann", "planted")
    review.store.decide(5, "bob", "genuine", "they wrote combined_status")
    page = client.get("/?state=conflict").text
    for words in ("in conflict", "<bdi>bob</bdi>: judged genuine", "they wrote combined_status", "1 of 1"):
        assert words in page
    assert "2 of 40" not in page


def test_progress_and_agreement(client: TestClient, review: Review) -> None:
    assert "available once both verdicts occur" in client.get("/").text
    for rank, verdict in ((1, "planted"), (2, "genuine"), (3, "planted"), (9, "genuine"), (10, "unsure")):
        review.store.decide(rank, "ann", verdict)  # type: ignore[arg-type]
    page = client.get("/").text
    assert "<strong>5</strong> of 40 edges judged" in page
    assert "<strong>0.75</strong>" in page


def test_rerank_needs_both_kinds_and_says_what_it_did(client: TestClient, review: Review) -> None:
    answer = client.post("/rerank", data=form(client, edge=1))
    assert (answer.status_code, "at least one edge judged planted" in answer.text) == (400, True)
    for rank in range(1, 13):
        review.store.decide(rank, "ann", "planted" if rank % 2 else "genuine")
    answer = client.post("/rerank", data=form(client, edge=1))
    assert answer.url.params["sort"] == "reranked"
    for words in ("Re-ranked from 6 planted and 6 genuine", "Kendall", "Rose most", "Original order"):
        assert words in answer.text
    answer = client.post("/restore", data=form(client))
    assert "Re-ranked from" not in answer.text


def test_a_store_that_fails_says_that_nothing_was_saved(review: Review) -> None:
    with a_client(review) as client:
        fields = form(client, edge=1, verdict="planted")
        review.store.close()
        answer = client.post("/decide", data=fields)
    assert (answer.status_code, answer.text.startswith("Nothing was saved")) == (503, True)


def test_connections_do_not_wait_for_acknowledgements() -> None:
    """TCP_NODELAY: with Nagle's algorithm, each answer on an open connection takes 40 ms longer."""

    async def no_delay() -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            found.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = listen(0)
        async with await asyncio.start_server(accepted, sock=listener):
            _, writer = await asyncio.open_connection(HOST, listener.getsockname()[1])
            writer.close()
            return await found

    assert asyncio.run(no_delay()) == 1


# Hostile names -------------------------------------------------------------------------------------------------------


def test_hostile_names_are_text(tmp_path: Path) -> None:
    with a_review(a_run(tmp_path / "RUN", hostile_graph(), 13)) as review, a_client(review, HOSTILE[0]) as client:
        for rank in range(1, 13):
            review.store.decide(
                rank, HOSTILE[rank % 6], "planted" if rank % 2 else "genuine", HOSTILE[rank % 7].replace("\0", "")
            )
        client.post("/rerank", data=form(client))
        for rank in range(1, 14):
            page = client.get("/", params={"edge": rank, "text": HOSTILE[rank % 6], "by": HOSTILE[rank % 6]}).text
            outline = Outline(page)
            assert [one.get("src") for one in outline.all("script")] == ["/static/review.js"]
            assert outline.all("img") == []
            assert not [name for _, attributes in outline.elements for name in attributes if name.startswith("on")]
            assert "{{ 7 * 7 }}" in page or "{{ 7" not in page
            assert "\u202e" not in re.sub(r"<(bdi|textarea)\b.*?</\1>", "", page, flags=re.S)


# Other runs ----------------------------------------------------------------------------------------------------------


def page_of(run: Run) -> str:
    with a_review(run) as review, a_client(review) as client:
        page = client.get("/").text
        Outline(page)
        return page


def test_a_run_that_removed_nothing(tmp_path: Path) -> None:
    nothing = np.empty((0, 2), dtype=np.int64)
    assert "This run removed no edge" in page_of(bare_run(tmp_path / "RUN", named_graph(), nothing, np.empty(0)))


def test_a_run_without_attributes_names_or_evidence(tmp_path: Path) -> None:
    graph = named_graph()
    bare = Graph(graph.num_nodes, graph.edges)
    page = page_of(bare_run(tmp_path / "RUN", bare, bare.edges[:5], np.array([0.5, np.nan, 0.3, 0.2, 0.1])))
    assert "Score 0.5." in page
    assert "Attributes that differ" not in page


def test_unknown_evidence_is_shown_by_its_column(tmp_path: Path) -> None:
    graph = named_graph()
    evidence = {"link_probability": np.linspace(0, 1, 5), "reach_u": np.arange(5), "reach_v": np.arange(5) + 7}
    page = page_of(bare_run(tmp_path / "RUN", graph, graph.edges[:5], np.ones(5), **evidence))
    for words in (">Link probability<", ">Reach<", '<td class="number">7</td>'):
        assert words in page
