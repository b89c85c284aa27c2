"""The review page under load: a server that is killed while eight people write, and a million flagged edges."""

from __future__ import annotations

import http.client
import os
import re
import resource
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from focusedcleaner.review.export import select_edges
from focusedcleaner.review.page import PAGE_SIZE
from focusedcleaner.runs import Run
from tests.review.browser_pages import started
from tests.review.sample_runs import a_client, a_review, a_store, form, large_run

WRITERS = 8


class Writer(threading.Thread):
    """A reviewer who judges one edge after the other over HTTP, as fast as the server answers, until it is gone."""

    def __init__(self, address: str, name: str, first: int) -> None:
        super().__init__()
        self.address = urlsplit(address)
        self.person = name
        self.turn = first
        self.acknowledged: list[int] = []

    def run(self) -> None:
        connection = http.client.HTTPConnection(self.address.netloc, timeout=60)
        try:
            self._write(connection)
        except (OSError, http.client.HTTPException):
            return  # the server was killed
        finally:
            connection.close()

    def _write(self, connection: http.client.HTTPConnection) -> None:
        def ask(method: str, path: str, body: str = "", **headers: str) -> tuple[http.client.HTTPResponse, str]:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer, answer.read().decode()

        admitted, _ = ask("GET", f"{self.address.path}?{self.address.query}")
        mine = {
            "Cookie": admitted.headers["Set-Cookie"].partition(";")[0],
            "Origin": f"http://{self.address.netloc}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        token = re.findall('name="token" value="([^"]+)"', ask("GET", "/", **mine)[1])[0]
        while True:
            fields = {
                "token": token,
                "reviewer": self.person,
                "edge": self.turn % 40 + 1,
                "verdict": ("planted", "genuine", "unsure")[self.turn % 3],
                "note": f"turn {self.turn}",
            }
            if ask("POST", "/decide", urlencode(fields), **mine)[0].status == 303:
                self.acknowledged.append(self.turn)
            self.turn += 1


def written(run: Run, seconds: float, kills: int) -> dict[str, list[int]]:
    """Let eight reviewers write for so long, or until each has written something, and kill the server so many times;
    what each of them was acknowledged."""
    acknowledged: dict[str, list[int]] = {f"reviewer {number}": [] for number in range(WRITERS)}
    for _ in range(kills):
        with started(run) as (server, address):
            writers = [Writer(address, name, turns[-1] + 2 if turns else 0) for name, turns in acknowledged.items()]
            for writer in writers:
                writer.start()
            time.sleep(seconds / kills)
            while not all(writer.acknowledged for writer in writers) and any(writer.is_alive() for writer in writers):
                time.sleep(0.05)
            os.kill(server.pid, signal.SIGKILL)
            for writer in writers:
                writer.join()
        for writer in writers:
            acknowledged[writer.person] += writer.acknowledged
    return acknowledged


def check_log(run: Run, acknowledged: dict[str, list[int]], kills: int) -> tuple[int, int]:
    """Nothing acknowledged is lost; return how many notes are in the log, and how many were never acknowledged."""
    notes = 0
    with a_store(run) as store:  # which also compares the log with what was derived from it
        for name, turns in acknowledged.items():
            rows = store.rows("SELECT value FROM events WHERE reviewer = ? AND kind = 'note' ORDER BY id", (name,))
            logged = [int(value.split()[1]) for (value,) in rows]
            assert logged == sorted(set(logged))
            assert set(turns) <= set(logged)
            assert len(logged) - len(turns) <= kills  # written, but killed before the answer
            assert turns
            notes += len(logged)
        assert store.rows("PRAGMA integrity_check") == [("ok",)]
    return notes, notes - sum(len(turns) for turns in acknowledged.values())


@pytest.mark.slow
def test_a_killed_server_keeps_what_it_acknowledged(run: Run) -> None:
    check_log(run, written(run, 1.0, kills=1), kills=1)


@pytest.mark.campaign
def test_eight_writers_for_half_a_minute(run: Run, figures: Callable[..., None]) -> None:
    kills = 4
    acknowledged = written(run, 30.0, kills)
    logged, unacknowledged = check_log(run, acknowledged, kills)
    figures(
        "review-load",
        writers=WRITERS,
        seconds=30,
        kills=kills,
        acknowledged=logged - unacknowledged,
        written_but_not_acknowledged=unacknowledged,
        lost=0,
    )


# Many edges ----------------------------------------------------------------------------------------------------------


def used(path: Path, edges: int) -> dict[str, float]:
    """Use every part of the page on a run with so many flagged edges; the seconds that each part took."""
    seconds: dict[str, float] = {}
    start = time.perf_counter()

    def took(what: str) -> None:
        nonlocal start
        seconds[f"{what}_s"] = round(time.perf_counter() - start, 3)
        start = time.perf_counter()

    run = large_run(path, edges)
    start = time.perf_counter()
    with a_store(run):
        took("create")
    with a_review(run) as review:
        took("open")
        with a_client(review) as client:
            fields = form(client, edge=edges // 2, verdict="planted", note="in the middle")
            took("first_page")
            for what, query, words in (
                ("edge", f"edge={edges // 2}", f"of {edges:,}</p>"),
                ("last_page", f"page={-(-edges // PAGE_SIZE)}", f'<span class="rank">{edges}</span>'),
                ("last_page_by_score", f"page={-(-edges // PAGE_SIZE)}&sort=score", "</main>"),
                ("search", "text=4711", "4711"),
                ("node", "text=%22471%22", ">471</bdi>"),
                ("classes_by_score", "classes=1-2&sort=score", "</main>"),
                ("open_by_me", "state=open&by=ann", f"of {edges:,}</p>"),
                ("open_by_score", "state=open&sort=score", f"of {edges:,}</p>"),
            ):
                answer = client.get(f"/?{query}")
                assert (answer.status_code, words in answer.text) == (200, True), what
                took(what)
            answer = client.post("/decide", data=fields)
            assert f"Edge {edges // 2:,}: judged planted, with a note" in answer.text
            took("verdict_and_next_page")
            client.post("/decide", data={**fields, "edge": 1, "verdict": "genuine"})
            start = time.perf_counter()
            assert client.get("/export.csv").text.count("\n") == edges + 1
            took("export")
            assert client.post("/rerank", data=fields).status_code == 200
            took("rerank")
        assert select_edges(review.store).ranks.tolist() == [edges // 2]
    start = time.perf_counter()
    with a_store(run) as store:
        took("open_again")
        assert store.counts()["open"] == edges - 2
    return seconds


@pytest.mark.slow
def test_many_edges(tmp_path: Path) -> None:
    assert used(tmp_path / "RUN", 20_000)


@pytest.mark.campaign
def test_a_million_edges(tmp_path: Path, figures: Callable[..., None]) -> None:
    seconds = used(tmp_path / "RUN", 1_000_000)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    size = (tmp_path / "RUN" / "review.sqlite").stat().st_size // 2**20
    figures("review-million", edges=1_000_000, **seconds, memory_mb=memory, store_mb=size)
