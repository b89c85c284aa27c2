"""Who may speak to the review page, and what its answers allow a browser to do."""

from __future__ import annotations

import html
import queue
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from focusedcleaner.review.browser import open_privately
from focusedcleaner.review.guard import Guard
from focusedcleaner.review.page import Review
from tests.review.sample_runs import HOME, PORT, SECRET, a_stranger, form, token_of


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"[::1]:{PORT}", ""]
)
def test_a_wrong_host_is_refused(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"Host": host})
    assert answer.status_code == 421
    assert "token" not in answer.text


def test_localhost_is_this_machine_too(client: TestClient) -> None:
    assert client.get("/", headers={"Host": f"LOCALHOST:{PORT}"}).status_code == 200


# The secret ----------------------------------------------------------------------------------------------------------

STATIC = ("/static/review.js", "/static/review.css", "/static/icon.svg")
ROUTES = ("/decide", "/note", "/undo", "/reviewer", "/rerank", "/restore")
COOKIE = f"focusedcleaner-secret-{PORT}"


@pytest.fixture
def stranger(review: Review) -> Iterator[TestClient]:
    with a_stranger(review) as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/?edge=2", *STATIC, "/export.csv", "/export.json", "/nowhere"])
@pytest.mark.parametrize("cookie", ["", "wrong", SECRET[:-1], f"{SECRET}x", "\xfc"])
def test_nothing_is_shown_without_the_secret(stranger: TestClient, path: str, cookie: str) -> None:
    headers = [(b"Cookie", f"{COOKIE}={cookie}".encode("latin-1"))] if cookie else []
    answer = stranger.get(path, headers=headers)
    assert answer.status_code == 403
    assert answer.text.startswith("open the address that `focusedcleaner review` printed")
    assert answer.text.count("\n") == 1
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("route", ROUTES)
def test_nothing_is_changed_without_the_secret(client: TestClient, review: Review, route: str) -> None:
    fields = form(client, edge=1, verdict="planted")
    client.cookies.delete(COOKIE)
    answer = client.post(route, data=fields, params={"token": SECRET})
    assert (answer.status_code, "open the address" in answer.text) == (403, True)
    assert review.store.last_event() == 0


def test_the_address_with_the_secret_gives_a_cookie(stranger: TestClient) -> None:
    answer = stranger.get("/", params={"token": SECRET, "edge": "3", "text": "ü &"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?edge=3&text=%C3%BC+%26")
    cookie = next(iter(stranger.cookies.jar))
    assert (cookie.name, cookie.expires, cookie.path) == (COOKIE, None, "/")
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert "Edge 3 ·" in stranger.get("/?edge=3").text


@pytest.mark.parametrize("token", ["", "wrong", SECRET[:-1], "ü"])
def test_a_wrong_secret_opens_nothing(stranger: TestClient, token: str) -> None:
    answer = stranger.get("/", params={"token": token})
    assert answer.status_code == 403
    assert len(stranger.cookies.jar) == 0


def test_the_secret_is_nowhere_in_the_answers(client: TestClient) -> None:
    fields = form(client, edge=1, verdict="planted")
    answers = [client.get(path) for path in ("/", *STATIC, "/export.csv", "/export.json", "/?edge=x", "/nowhere")]
    answers += [client.post("/decide", data=fields), client.post("/decide", data={}), client.put("/decide")]
    for answer in answers:
        assert SECRET not in answer.text
        assert SECRET not in str(answer.headers)


def test_two_reviews_on_one_machine_do_not_collide(review: Review) -> None:
    names = {Guard(Starlette(), port=port, secret=SECRET).cookie for port in (8000, 8001)}
    assert len(names) == 2


def test_a_browser_is_sent_to_a_private_file(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr("webbrowser.open", opened.put)
    address = f"{HOME}/?token=a&b"
    with open_privately(address):
        link = opened.get(timeout=60)
        assert link.startswith("file:///")
        path = Path(url2pathname(urlsplit(link).path))
        assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        assert html.unescape(path.read_text()).count(address) == 2
    assert not path.parent.exists()


# Changes -------------------------------------------------------------------------------------------------------------

STRANGERS: tuple[dict[str, str], ...] = (
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": f"https://127.0.0.1:{PORT}"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": f"http://127.0.0.1:{PORT}.evil.example"},
    {"Origin": "", "Referer": "http://evil.example/?http://127.0.0.1:8765/"},
    {"Origin": ""},
    {"Origin": "http://[broken"},
)


@pytest.mark.parametrize("route", ROUTES)
def test_changes_come_from_the_page_only(client: TestClient, review: Review, route: str) -> None:
    fields = form(client, edge=1, verdict="planted")
    for stranger in STRANGERS:
        assert client.post(route, data=fields, headers=stranger).status_code == 403, stranger
    assert review.store.last_event() == 0


@pytest.mark.parametrize("route", ROUTES)
def test_changes_need_the_token(client: TestClient, review: Review, route: str) -> None:
    for token in ({}, {"token": ""}, {"token": "wrong"}, {"token": "ü"}):
        answer = client.post(route, data={"edge": 1, "verdict": "planted", "reviewer": "ann", **token})
        assert answer.status_code == 403, token
        assert "nothing was changed" in answer.text
    assert review.store.last_event() == 0


def test_a_referer_is_enough_where_there_is_no_origin(client: TestClient, review: Review) -> None:
    headers = {"Origin": "", "Referer": f"{HOME}/?edge=1"}
    assert client.post("/decide", data=form(client, edge=1, verdict="planted"), headers=headers).status_code == 200
    assert review.store.counts()["planted"] == 1


def test_other_requests_are_refused(client: TestClient, review: Review) -> None:
    token = token_of(client)
    assert client.put("/decide").status_code == 405
    assert client.get("/decide").status_code == 405
    assert client.post("/decide", json={"token": token}).status_code == 415
    assert client.post("/decide", data={"token": token, "note": "x" * 70_000}).status_code == 413
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post("/decide", content=b"\xff\xfe", headers=kind).status_code == 400
    assert client.post("/decide", content=b"&".join(b"a=%d" % n for n in range(200)), headers=kind).status_code == 400
    assert client.get("/nowhere").status_code == 404
    assert client.get("/static/../app.py").status_code == 404
    assert client.get("/static/%2e%2e/app.py").status_code == 404
    assert review.store.last_event() == 0


@pytest.mark.parametrize("path", ["/", *STATIC, "/export.csv", "/nowhere"])
def test_every_answer_is_hardened(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers


def test_nothing_is_loaded_from_outside(client: TestClient) -> None:
    pages = [client.get(path).text for path in ("/", *STATIC)]
    addresses = re.findall(r"(?:https?:)?//[\w.-]+", "".join(re.sub(r"^//.*$", "", page, flags=re.M) for page in pages))
    assert set(addresses) <= {"http://www.w3.org"}
    assert not re.search(r"<[^>]+\son\w+=|<script(?! src=\"/static/)|<style|\sstyle=", pages[0])
