"""Who may speak to the review page, and what its answers allow a browser to do."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from focusedcleaner.review.page import Review
from tests.review.sample_runs import HOME, PORT, form, token_of


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"[::1]:{PORT}", ""]
)
def test_a_wrong_host_is_refused(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"Host": host})
    assert answer.status_code == 421
    assert "token" not in answer.text


def test_localhost_is_this_machine_too(client: TestClient) -> None:
    assert client.get("/", headers={"Host": f"LOCALHOST:{PORT}"}).status_code == 200


ROUTES = ("/decide", "/note", "/undo", "/reviewer", "/rerank", "/restore")
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


@pytest.mark.parametrize("path", ["/", "/static/review.js", "/static/review.css", "/export.csv", "/nowhere"])
def test_every_answer_is_hardened(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers


def test_nothing_is_loaded_from_outside(client: TestClient) -> None:
    pages = [client.get(path).text for path in ("/", "/static/review.css", "/static/review.js", "/static/icon.svg")]
    addresses = re.findall(r"(?:https?:)?//[\w.-]+", "".join(re.sub(r"^//.*$", "", page, flags=re.M) for page in pages))
    assert set(addresses) <= {"http://www.w3.org"}
    assert not re.search(r"<[^>]+\son\w+=|<script(?! src=\"/static/)|<style|\sstyle=", pages[0])
