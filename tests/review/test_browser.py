"""The review page in a real browser: Debian's chromium, driven by playwright."""

from __future__ import annotations

import csv
import os
import queue
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from typer.testing import CliRunner

from focusedcleaner.cli.app import app as commands
from focusedcleaner.io import load_graph
from focusedcleaner.review.browser import open_privately
from focusedcleaner.review.page import Review
from focusedcleaner.review.store import Store
from focusedcleaner.runs import Run
from tests.review.browser_pages import PATIENCE, at, delivered, looking, press, served, started
from tests.review.sample_runs import a_review, a_run, a_store, hostile_graph, named_graph

pytestmark = pytest.mark.browser


def test_edges_are_judged_by_keyboard(page: Page, review: Review) -> None:
    verdicts = {"p": "planted", "g": "genuine", "u": "unsure"}
    keys = "ppgup"
    for edge, key in enumerate(keys, 1):
        at(page, edge)
        words = "unsure" if key == "u" else f"judged {verdicts[key]}"
        press(page, key, f"Edge {edge}: {words}. Edge {edge + 1}")
    assert [review.store.decisions(edge)[0].verdict for edge in range(1, 6)] == [verdicts[key] for key in keys]
    expect(page.locator(".progress .figures")).to_contain_text("5 of 40")

    for edge in (5, 4):
        press(page, "z", f"Edge {edge}: no verdict")
        at(page, edge)
    page.reload()
    at(page, 4)
    assert "after" not in page.url
    expect(page.locator(".progress .figures")).to_contain_text("3 of 40")
    page.keyboard.press("b")
    at(page, 3)
    expect(page.locator("#genuine")).to_have_attribute("aria-pressed", "true")
    press(page, "c", "Edge 3: no verdict")
    at(page, 4)
    page.keyboard.press("ArrowRight")
    at(page, 5)
    page.go_back()
    at(page, 4)
    assert review.store.counts()["planted"] == 2


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that takes longer for a page than a reviewer for a verdict."""
    page = Review.page

    def later(*words: Any, **more: Any) -> dict[str, Any]:
        time.sleep(0.15)
        return page(*words, **more)

    monkeypatch.setattr(Review, "page", later)


RECORD = """
window.pressed = [];
window.addEventListener("keydown", (event) => {
  const edge = Number(document.getElementById("edge-name").textContent.match(/\\d+/)[0]);
  window.pressed.push([event.key, edge, document.body.classList.contains("waiting")]);
}, true);
"""
"""Writes down each key, the edge on the screen when it was pressed, and whether the page waited for the next one."""


def press_fast(page: Page, keys: str, seconds: float) -> list[tuple[str, int, bool]]:
    """Press keys at equal distances, whatever the page does meanwhile; return what was shown at each."""
    page.evaluate(RECORD)
    start = time.monotonic()
    for number, key in enumerate(keys):
        page.wait_for_timeout(max(0.0, 1000 * (start + number * seconds - time.monotonic())))
        page.keyboard.press(key)
    delivered(page)
    return [(key, edge, waited) for key, edge, waited in page.evaluate("window.pressed")]


def test_ten_keys_a_second_judge_the_edges_shown(browser: Browser, tmp_path: Path) -> None:
    keys = "pgugppuggpguppgpugpgugpp"
    run = a_run(tmp_path / "RUN", named_graph(), 30)
    with a_review(run) as review, served(review) as address, looking(browser) as page:
        page.goto(address)
        at(page, 1)
        page.wait_for_function("() => ahead.size === AHEAD")
        pressed = press_fast(page, keys, 0.1)
        taken = [(key, edge) for key, edge, waited in pressed if not waited]
        judged = len(taken)  # a key that comes before the next edge, on a machine at its limit, is told to be ignored
        assert judged > 10
        assert [edge for _, edge in taken] == list(range(1, judged + 1)), "each key met a new edge"
        at(page, judged + 1)
        expect(page.locator(".progress .figures")).to_contain_text(f"{judged} of 30")
        assert [review.store.decision(edge, "ann").verdict[0] for _, edge in taken] == [key for key, _ in taken]
        assert review.store.last_event() == judged


def test_keys_faster_than_the_server_judge_only_what_is_shown(
    page: Page, review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    show, answers = Review.page, threading.Event()

    def held(*words: Any, **more: Any) -> dict[str, Any]:
        answers.wait(PATIENCE / 1000)
        return show(*words, **more)

    page.wait_for_function("() => ahead.size >= 3")
    monkeypatch.setattr(Review, "page", held)
    page.evaluate(RECORD)
    for key in "pgugppuggpguppgpugpgugpp":
        page.keyboard.press(key)
    answers.set()
    delivered(page)
    pressed = page.evaluate("window.pressed")
    taken = {edge: key for key, edge, waited in pressed if not waited}
    assert 1 < len(taken) < len(pressed)
    assert len(taken) == sum(not waited for *_, waited in pressed), "no edge is judged twice"
    assert {edge: review.store.decision(edge, "ann").verdict[0] for edge in taken} == taken
    assert review.store.last_event() == len(taken)
    expect(page.locator("#status")).to_contain_text("Keys ignored, since the next edge was not shown yet: ")


def test_a_late_answer_does_not_bring_back_an_edge_that_was_judged(page: Page, review: Review) -> None:
    held: list[Route] = []
    page.wait_for_function("() => ahead.size >= 3")
    page.route(re.compile("after="), lambda route: held.append(route))
    page.keyboard.press("p")
    at(page, 2)
    until(page, lambda: len(held) == 1)  # the page asks for edge 2 again, with the verdict on edge 1
    page.evaluate("() => { forgetAhead(); document.getElementById('genuine').click(); }")
    until(page, lambda: len(held) == 2)  # it waits for edge 3
    with page.expect_response(held[0].request.url):
        held[0].continue_()
    held[1].continue_()
    at(page, 3)
    page.unroute_all()
    press(page, "u", "Edge 3: unsure")
    assert [review.store.decision(edge, "ann").verdict for edge in (1, 2, 3)] == ["planted", "genuine", "unsure"]
    assert review.store.last_event() == 3


def until(page: Page, happens: Callable[[], bool]) -> None:
    """Wait, and let the page go on meanwhile."""
    end = time.monotonic() + PATIENCE / 1000
    while not happens() and time.monotonic() < end:
        page.wait_for_timeout(20)
    assert happens()


@pytest.mark.usefixtures("slow")
def test_clicks_while_the_server_works_are_about_the_edge_shown(page: Page, review: Review) -> None:
    page.locator("#planted").dblclick()
    page.locator(".edges a").nth(6).click()
    at(page, 7)
    assert [review.store.decision(edge, "ann").verdict for edge in (1, 2, 7)] == ["planted", "open", "open"]


@pytest.mark.usefixtures("slow")
def test_a_note_written_at_once_is_no_verdict(page: Page, review: Review) -> None:
    for key in "pe":
        page.keyboard.press(key)
    page.keyboard.type("gpu")
    expect(page.locator("#note")).to_have_value("gpu")
    at(page, 2)
    page.keyboard.type(" up")
    page.keyboard.press("Escape")
    press(page, "p", "Edge 2: judged planted, with a note")
    assert [(one.verdict, one.note) for one in review.store.decisions(2)] == [("planted", "gpu up")]
    assert review.store.decisions(3) == []


@pytest.mark.usefixtures("slow")
def test_a_note_written_while_the_server_works(page: Page, review: Review) -> None:
    page.locator(".edges a").nth(11).click()  # further than the pages fetched in advance
    page.locator("#note").fill("late")
    at(page, 12)
    assert review.store.decision(1, "ann").note == "late"


@pytest.mark.usefixtures("slow")
def test_keys_after_a_failure_are_not_used(page: Page, review: Review) -> None:
    press = "key => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}))"
    page.evaluate(f"() => [...'zpp'].forEach({press})")  # at once, before the server can answer
    expect(page.locator("#alert")).to_contain_text("there is nothing to undo (2 more not carried out.)")
    assert review.store.last_event() == 0


def test_two_tabs_judge_what_each_shows(browser: Browser, home: str, review: Review) -> None:
    with looking(browser) as one:
        other = one.context.new_page()
        for page in (one, other):
            page.goto(home)
        other.goto(f"{home.partition('?')[0]}?edge=20&state=open")
        for turn in range(6):
            for page, first, key in ((one, 1, "p"), (other, 20, "g")):
                at(page, first + turn)
                page.keyboard.press(key)
        for page, first in ((one, 1), (other, 20)):
            at(page, first + 6)
            delivered(page)
    assert review.store.counts() == {"planted": 6, "genuine": 6, "unsure": 0, "conflict": 0, "open": 28}
    judged = review.store.judged()
    assert (judged["planted"].tolist(), judged["genuine"].tolist()) == ([*range(1, 7)], [*range(20, 26)])


def test_notes_search_and_filters(page: Page, review: Review) -> None:
    page.keyboard.press("e")
    expect(page.locator("#note")).to_be_focused()
    page.keyboard.type("pug")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    at(page, 2)
    assert review.store.decisions(1)[0].note == "pug"
    assert review.store.decisions(1)[0].verdict == "open"
    page.locator("#note").fill("kept with the verdict")
    page.locator("#genuine").click()
    at(page, 3)
    delivered(page)
    assert [(one.verdict, one.note) for one in review.store.decisions(2)] == [("genuine", "kept with the verdict")]
    page.keyboard.press("/")
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.type("PUG")
    page.keyboard.press("Enter")
    at(page, 1)
    expect(page.locator(".edges li")).to_have_count(1)
    page.locator("#text").fill("")
    page.locator("#state").select_option("genuine")
    page.get_by_role("button", name="Apply").click()
    at(page, 2)
    expect(page.locator(".edges li")).to_have_count(1)
    page.get_by_role("link", name="Clear", exact=True).click()
    expect(page.locator(".edges li")).to_have_count(12)
    page.locator(".evidence a").first.click()
    expect(page.locator("#text")).to_have_value(re.compile('^"node .*"$'))


def saved(review: Review, events: int) -> None:
    """Wait until the store has so many events."""
    until = time.monotonic() + PATIENCE / 1000
    while review.store.last_event() < events and time.monotonic() < until:
        time.sleep(0.05)
    assert review.store.last_event() == events


def test_a_note_is_kept_when_the_page_is_left(page: Page, review: Review) -> None:
    page.locator("#note").fill("in a hurry")
    page.goto("about:blank")
    saved(review, 1)
    assert review.store.decisions(1)[0].note == "in a hurry"


@pytest.fixture
def held_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A server that saves no verdict until the event is set."""
    decide, released = Store.decide, threading.Event()

    def later(*words: Any, **more: Any) -> None:
        released.wait(PATIENCE / 1000)
        decide(*words, **more)

    monkeypatch.setattr(Store, "decide", later)
    yield released
    released.set()


def test_verdicts_are_kept_when_the_page_is_closed(page: Page, review: Review, held_back: threading.Event) -> None:
    page.wait_for_function("() => ahead.size >= 3")
    for key in "pgu":
        page.keyboard.press(key)
    at(page, 4)
    page.locator("#note").fill("to be continued")
    assert page.evaluate("outbox.length") == 3
    page.close()  # without a question, as a phone does
    held_back.set()
    saved(review, 4)
    assert [review.store.decision(edge, "ann").verdict for edge in range(1, 5)] == [
        *("planted", "genuine", "unsure", "open")
    ]
    assert review.store.decision(4, "ann").note == "to be continued"


def test_an_export_has_the_verdicts_on_their_way(page: Page, tmp_path: Path, held_back: threading.Event) -> None:
    page.wait_for_function("() => ahead.size >= 3")
    for key in "pg":
        page.keyboard.press(key)
    at(page, 3)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
        held_back.set()
    download.value.save_as(tmp_path / "review.csv")
    with open(tmp_path / "review.csv", newline="") as file:
        assert [row["verdict"] for row in csv.DictReader(file)][:3] == ["planted", "genuine", "open"]


@pytest.mark.parametrize("height", [700, 900])
def test_verdicts_are_in_reach_on_a_phone(browser: Browser, home: str, review: Review, height: int) -> None:
    with looking(browser) as page:
        page.set_viewport_size({"width": 400, "height": height})
        page.goto(home)
        at(page, 1)
        for scrolled in (0, 300, 900):
            page.evaluate(f"window.scrollTo(0, {scrolled})")
            for name in ("planted", "genuine", "unsure"):
                box = page.locator(f"#{name}").bounding_box()
                assert box
                assert 0 <= box["y"] <= height - box["height"]
                assert 0 <= box["x"] <= 400 - box["width"]
        assert page.evaluate("document.documentElement.scrollWidth") == 400
        assert page.locator("#edge-name").bounding_box()["y"] < page.locator(".overview").bounding_box()["y"]  # type: ignore[index]
        page.locator("#planted").click()
        at(page, 2)
        expect(page.locator("#status")).to_contain_text("Edge 1: judged planted")
    assert review.store.decision(1, "ann").verdict == "planted"


def test_keys_can_be_switched_off(page: Page, review: Review) -> None:
    page.locator("#keys").uncheck()
    page.locator("body").press("p")
    page.reload()
    expect(page.locator("#keys")).not_to_be_checked()
    at(page, 1)
    assert review.store.last_event() == 0


def test_without_script(browser: Browser, home: str, review: Review) -> None:
    with looking(browser, java_script_enabled=False) as page:
        page.goto(home)
        expect(page.locator("kbd").first).to_be_hidden()
        page.locator("#note").fill("by hand")
        page.locator("#planted").click()
        expect(page.locator("#status")).to_contain_text("Edge 1: judged planted")
        page.locator("#undo").click()
        expect(page.locator("#status")).to_contain_text("Edge 1: no verdict")
        page.locator("#next").click()
        page.locator("#reviewer").fill("bob")
        page.get_by_role("button", name="Change").click()
        expect(page.locator("#reviewer")).to_have_value("bob")
        page.locator("#genuine").click()
        assert review.store.decisions(1)[0].note == "by hand"
        assert [(one.reviewer, one.verdict) for one in review.store.decisions(2)] == [("bob", "genuine")]


def test_two_reviewers_at_once(browser: Browser, home: str, review: Review) -> None:
    with looking(browser) as ann, looking(browser) as bob:
        for page, name in ((ann, "ann"), (bob, "bob")):
            page.goto(home)
            page.locator("#reviewer").fill(name)
            page.get_by_role("button", name="Change").click()
            page.locator("#reviewer").blur()
        for edge in range(1, 5):
            press(ann, "p", f"Edge {edge}: judged planted")
            press(bob, "g" if edge % 2 == 0 else "p", f"Edge {edge}: judged")
        assert review.store.counts() == {"planted": 2, "genuine": 0, "unsure": 0, "conflict": 2, "open": 36}
        ann.locator("#state").select_option("conflict")
        ann.get_by_role("button", name="Apply").click()
        at(ann, 2)
        expect(ann.locator(".edges li")).to_have_count(2)
        expect(ann.locator(".others")).to_contain_text("bob: judged genuine")
        ann.locator("#genuine").click()
        expect(ann.locator(".edges li")).to_have_count(1)
        at(ann, 4)


def test_rerank_and_back(page: Page, review: Review) -> None:
    page.get_by_role("button", name="Re-rank the rest").click()
    expect(page.locator("#alert")).to_contain_text("at least one edge judged planted and one judged genuine")
    for rank in range(1, 11):
        review.store.decide(rank, "ann", "planted" if rank % 2 else "genuine")
    page.get_by_role("button", name="Re-rank the rest").click()
    expect(page.locator(".rerank .figures")).to_contain_text("Re-ranked from 5 planted and 5 genuine")
    expect(page.locator("#sort")).to_have_value("reranked")
    expect(page.locator("#alert")).to_be_empty()
    first = [rank for (rank,) in review.store.rows("SELECT rank FROM edges ORDER BY place LIMIT 1 OFFSET 10")]
    at(page, first[0])
    page.get_by_text("How it changed").click()
    expect(page.locator(".rerank details")).to_contain_text("Kendall")
    page.get_by_role("button", name="Original order").click()
    expect(page.locator("#sort")).to_have_value("rank")
    at(page, 11)


def test_export_and_apply(page: Page, review: Review, tmp_path: Path) -> None:
    for edge, key in enumerate("pgp", 1):
        press(page, key, f"Edge {edge}: judged")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    download.value.save_as(tmp_path / "review.csv")
    with open(tmp_path / "review.csv", newline="") as file:
        assert [row["verdict"] for row in csv.DictReader(file)][:4] == ["planted", "genuine", "planted", "open"]
    done = CliRunner().invoke(commands, ["apply", str(review.store.path.parent), "--out", str(tmp_path / "clean.npz")])
    assert done.exit_code == 0, done.output
    run = review.edges.run
    assert load_graph(tmp_path / "clean.npz") == run.poisoned.without_edges(run.removed[[0, 2]])


def test_the_private_file_leads_to_the_page(
    browser: Browser, home: str, review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a file, which is another site: a cookie that is strictly for one site would be withheld."""
    opened: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr("webbrowser.open", opened.put)
    with looking(browser) as page, open_privately(home):
        page.goto(opened.get(timeout=PATIENCE / 1000))
        at(page, 1)
        page.wait_for_load_state()  # the keys' script runs last
        assert page.url == home.partition("?")[0]
        press(page, "p", "Edge 1: judged planted. Edge 2")
        page.reload()
        at(page, 2)
        assert "token" not in page.evaluate("document.cookie + document.referrer + location.href")
    assert review.store.counts()["planted"] == 1


def test_another_browser_is_told_where_to_go(browser: Browser, home: str) -> None:
    with looking(browser) as page:
        page.goto(home.partition("?")[0])
        expect(page.locator("body")).to_contain_text("open the address that `focusedcleaner review` printed")


# Killed --------------------------------------------------------------------------------------------------------------

BURST = """
async () => {
  window.acknowledged = [];
  const fields = new URLSearchParams(new FormData(document.getElementById("judge")));
  fields.set("verdict", "planted");
  for (let turn = 0; ; turn += 1) {
    const edge = turn % 40 + 1;
    fields.set("edge", edge);
    fields.set("note", `turn ${turn}`);
    const answer = await fetch("/decide", { method: "POST", body: fields });
    if (answer.ok) window.acknowledged.push([edge, turn]);
  }
}
"""


def test_a_killed_server_loses_nothing(browser: Browser, run: Run) -> None:
    with looking(browser) as page:
        with started(run) as (server, address):
            page.goto(address)
            page.evaluate(f"() => {{ ({BURST})().catch(() => {{ window.ended = true; }}); }}")
            page.wait_for_function("() => window.acknowledged.length > 10")
            os.kill(server.pid, signal.SIGKILL)
            page.wait_for_function("() => window.ended")
            page.keyboard.press("g")
            expect(page.locator("#alert")).to_contain_text("Not saved")
            acknowledged = page.evaluate("window.acknowledged")
        last = dict(acknowledged)
        assert len(acknowledged) > 10
    with a_store(run) as store:
        for rank, turn in last.items():
            [decision] = store.decisions(rank)
            assert decision.verdict == "planted"
            # One more may have been written whose acknowledgement was never sent.
            assert int(decision.note.split()[1]) in (turn, acknowledged[-1][1] + 1)


def test_a_page_from_before_a_restart_is_told_so(browser: Browser, run: Run) -> None:
    with a_review(run) as review, looking(browser) as page, served(review) as address:
        page.goto(address)
        page.evaluate("document.querySelectorAll('[name=token]').forEach((field) => { field.value = 'from before'; })")
        page.keyboard.press("p")
        expect(page.locator("#alert")).to_contain_text("load it again; nothing was changed")
        assert review.store.last_event() == 0


# Hostile names -------------------------------------------------------------------------------------------------------


def test_hostile_names_do_nothing(browser: Browser, tmp_path: Path) -> None:
    run = a_run(tmp_path / "RUN", hostile_graph(), 8)
    with a_review(run) as review, served(review) as address, looking(browser) as page:
        for rank in range(1, 5):
            review.store.decide(rank, "<b onclick=alert(1)>eve", "planted", "</textarea><script>alert(1)</script>")
        page.goto(address)
        for edge in range(1, 4):
            at(page, edge)
            press(page, "g", f"Edge {edge}: judged genuine")
        assert page.evaluate("document.scripts.length") == 1
        assert page.evaluate("document.images.length") == 0
        assert page.evaluate("document.querySelectorAll('b, [onerror], [onload], [onfocus], [onclick]').length") == 0
        expect(page.locator(".others")).to_contain_text("<b onclick=alert(1)>eve: judged planted")
        expect(page.locator(".others")).to_contain_text("</textarea><script>alert(1)</script>")
        time.sleep(0.1)
