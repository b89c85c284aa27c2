"""python -m benchmarks.review: how fast the review page answers, and what re-ranking gains (docs/review.md)."""

from __future__ import annotations

import re
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import uvicorn
from sklearn.metrics import roc_auc_score
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.testclient import TestClient

from benchmarks.common import published
from focusedcleaner.graph import BoolArray, Graph, IntArray
from focusedcleaner.review import open_store
from focusedcleaner.review.classes import all_classes, classes_of_ends
from focusedcleaner.review.edge_details import EdgeDetails
from focusedcleaner.review.guard import Guard
from focusedcleaner.review.page import Review
from focusedcleaner.review.ranking import evidence_table, reorder
from focusedcleaner.review.server import HOST, application
from focusedcleaner.runs import Run
from focusedcleaner.sanitizers import FocusedCleaner

EDGES = 100_000
JUDGED = 20_000
TIMES = 15
PORT, SECRET = 8000, "known"
HOME = f"http://127.0.0.1:{PORT}"


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def large_run(path: Path) -> Run:
    """A run that flagged 100,000 of 200,000 edges, made up."""
    rng = np.random.default_rng(0)
    graph = Graph.from_pairs(
        EDGES // 2, rng.integers(0, EDGES // 2, (2 * EDGES, 2)), labels=rng.integers(0, 4, EDGES // 2)
    )
    (path / "removed.csv").write_text("made up")
    removed = rng.permutation(graph.edges)[:EDGES]
    evidence: dict[str, Any] = {"common_neighbours": rng.integers(0, 3, EDGES), "likeness": rng.random(EDGES)}
    record = {"status": "complete", "removed": EDGES, "input": {}}
    nothing = np.empty((0, 2), dtype=np.int64)
    scores = np.sort(rng.random(EDGES))[::-1].round(3)
    return Run(path, record, graph.without_edges(removed), removed, scores, evidence, nothing, np.empty(0))


def measure(what: str, ask: Callable[[int], object], times: int = TIMES) -> None:
    """A row: the median and the worst time of some requests in milliseconds, and the median of the processor's."""
    taken, computed = [], []
    for turn in range(times):
        start, busy = time.perf_counter(), time.process_time()
        ask(turn)
        taken.append(1000 * (time.perf_counter() - start))
        computed.append(1000 * (time.process_time() - busy))
    tell(f"| {what} | {median(computed):,.0f} | {median(taken):,.0f} | {max(taken):,.0f} |")


def latencies() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = large_run(Path(folder))
        classes = all_classes(run.graph)
        start = time.perf_counter()
        with open_store(run, classes_of_ends(run, classes)) as store:
            tell(f"The store of {EDGES:,} edges is made in {time.perf_counter() - start:.1f} s.\n")
            for rank in range(1, JUDGED + 1):
                store.decide(rank, "ann", "planted" if rank % 3 else "genuine")
            review = Review(store, EdgeDetails(run, classes))
            app = application(review, port=PORT, secret=SECRET, reviewer="ann", title="RUN")
            with TestClient(app, base_url=HOME, headers={"Origin": HOME}) as client:
                client.get("/", params={"token": SECRET})
                _requests(client)


def _requests(client: TestClient) -> None:
    found = re.search(r'name="token" value="([^"]+)"', client.get("/").text)
    assert found
    mine = {"token": found[1], "reviewer": "ann", "verdict": "planted"}
    tell("| request | processor, ms | median, ms | worst, ms |\n| --- | ---: | ---: | ---: |")
    measure("the page of an edge", lambda turn: client.get(f"/?edge={50_000 + turn}"))
    measure("a verdict, on the disk", lambda turn: client.post(
        "/decide", data={**mine, "edge": str(70_000 + turn)}, follow_redirects=False))  # fmt: skip
    measure(
        "a verdict and the next page", lambda turn: client.post("/decide", data={**mine, "edge": str(80_000 + turn)})
    )
    measure("the last page of the list", lambda turn: client.get("/?page=8334"))
    measure("the last page, by score", lambda turn: client.get("/?page=8334&sort=score"))
    measure("search in names and notes", lambda turn: client.get("/?text=4711"))
    measure("all edges at a node", lambda turn: client.get("/?text=%22471%22"))
    measure("a pair of classes, by score", lambda turn: client.get("/?classes=1-2&sort=score"))
    measure("what I have not judged", lambda turn: client.get("/?state=open&by=ann"))
    measure("conflicts", lambda turn: client.get("/?state=conflict"))
    measure("export as CSV", lambda turn: client.get("/export.csv"), 3)
    measure("re-rank", lambda turn: client.post("/rerank", data=mine, follow_redirects=False), 3)


def keep_alive() -> None:
    """How long a small answer takes on a connection that stays open, with Nagle's delay and without it."""
    tell("\n| connection | median, ms | worst, ms |\n| --- | ---: | ---: |")
    for what, protocol in (("with the delay", 0), ("the server's", socket.IPPROTO_TCP)):
        # asyncio turns the delay off where the protocol is named, as `listen` does.
        with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)) as listener:
            listener.bind((HOST, 0))
            taken = _small_answers(listener)
        tell(f"| {what} | {median(taken):.1f} | {max(taken):.1f} |")


def _small_answers(listener: socket.socket) -> list[float]:
    """The milliseconds of requests for a static file."""
    port = listener.getsockname()[1]
    static = StaticFiles(packages=[("focusedcleaner.review", "static")])
    app = Starlette(routes=[Mount("/static", static)], middleware=[Middleware(Guard, port=port, secret=SECRET)])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    taken = []
    connection = HTTPConnection(HOST, port)
    for _ in range(100):
        start = time.perf_counter()
        connection.request("GET", "/static/icon.svg", headers={"Cookie": f"focusedcleaner-secret-{port}={SECRET}"})
        answer = connection.getresponse()
        assert (answer.status, len(answer.read()) > 100) == (200, True)
        taken.append(1000 * (time.perf_counter() - start))
    connection.close()
    server.should_exit = True
    thread.join()
    return taken


# Re-ranking ----------------------------------------------------------------------------------------------------------


def planted_first(order: IntArray, planted: BoolArray) -> float:
    """The area under the ROC curve of an order of edges."""
    return float(roc_auc_score(planted[order], -np.arange(len(order))))


def gains(name: str) -> None:
    """How well the unjudged rest is ordered before and after re-ranking, if every verdict is right."""
    clean, poisoned = published(name, 0.1)
    done = FocusedCleaner().sanitize(poisoned, 0.1)
    planted = ~clean.has_edges(np.sort(done.removed, axis=1))
    run = Run(Path(), {}, done.graph, done.removed, done.scores, done.evidence, done.added, done.added_scores)
    columns, table = evidence_table(run)
    for judged in (10, 20, 50, 100, 200):
        cells = []
        for chosen in (np.arange(judged), np.random.default_rng(0).permutation(len(planted))[:judged]):
            rest = np.setdiff1d(np.arange(len(planted)), chosen)
            ranks, _ = reorder(columns, table, chosen[planted[chosen]] + 1, chosen[~planted[chosen]] + 1)
            cells += [f"{planted_first(rest, planted):.2f}", f"{planted_first(ranks[judged:] - 1, planted):.2f}"]
        tell(f"| {name} | {judged} | {' | '.join(cells)} |")


if __name__ == "__main__":
    latencies()
    keep_alive()
    tell("\n| graph | judged | the first ones: before | after | any: before | after |")
    tell("| --- | ---: | ---: | ---: | ---: | ---: |")
    for one in ("cora", "citeseer"):
        gains(one)
