"""Small sample runs, with a store, a review page and a client for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.testclient import TestClient

from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.review import Store, open_store
from focusedcleaner.review.classes import Classes, classes_of_ends, known_classes, shown_classes
from focusedcleaner.review.edge_details import EdgeDetails
from focusedcleaner.review.page import Review
from focusedcleaner.review.server import application
from focusedcleaner.runs import Run, read_run, write_run
from focusedcleaner.sanitizers import FocusedCleaner

PORT = 8765
HOME = f"http://127.0.0.1:{PORT}"
SECRET = "what only the reviewers know"
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus='alert(1)",
    "</textarea></title><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "=HYPERLINK(1)",
    "left\u202eright\u0000" + "x" * 300,
)


def named_graph(seed: int = 1) -> Graph:
    """150 nodes with names, classes and attributes that have names too."""
    plain = synthetic(num_nodes=150, seed=seed)
    return replace(
        plain,
        names=tuple(f"node {number}" for number in range(plain.num_nodes)),
        class_names=tuple(f"kind {letter}" for letter in "abcdefgh"[: plain.num_classes]),
        attribute_names=tuple(f"word {number}" for number in range(plain.num_attributes)),
    )


def hostile_graph() -> Graph:
    """The same graph, named by an attacker."""
    plain = named_graph()
    return replace(
        plain,
        names=tuple(f"{HOSTILE[number % 6]}{number}" for number in range(plain.num_nodes)),
        class_names=HOSTILE[: plain.num_classes],
        attribute_names=tuple(
            f"{HOSTILE[number % 7].replace(chr(0), '')}{number}" for number in range(plain.num_attributes)
        ),
    )


def a_run(path: Path, graph: Graph | None = None, edges: int = 40) -> Run:
    """A run of cld on a small graph."""
    write_run(FocusedCleaner().sanitize(named_graph() if graph is None else graph, edges), path)
    return read_run(path)


def bare_run(path: Path, graph: Graph, removed: IntArray, scores: FloatArray, **evidence: NDArray[Any]) -> Run:
    """A run with these edges; its folder holds only `removed.csv`, which a store is bound to."""
    path.mkdir()
    (path / "removed.csv").write_text("made up")
    return Run(
        path=path,
        record={"status": "complete", "removed": len(removed), "input": {"fingerprint": "made up"}},
        graph=graph.without_edges(removed),
        removed=removed,
        scores=scores,
        evidence=evidence,
        added=np.empty((0, 2), dtype=np.int64),
        added_scores=np.empty(0),
    )


def large_run(path: Path, edges: int) -> Run:
    """A run that removed very many edges."""
    rng = np.random.default_rng(0)
    nodes = edges // 2
    graph = Graph.from_pairs(nodes, rng.integers(0, nodes, (2 * edges, 2)), labels=rng.integers(0, 4, nodes))
    return bare_run(
        path,
        graph,
        rng.permutation(graph.edges)[:edges],
        np.sort(rng.random(edges))[::-1].round(3),
        common_neighbours=rng.integers(0, 3, edges),
        attribute_similarity=rng.random(edges),
    )


@contextmanager
def a_store(run: Run) -> Iterator[Store]:
    with open_store(run, classes_of_ends(run, known_classes(run.graph))) as store:
        yield store


@contextmanager
def a_review(run: Run, classes: Classes | None = None) -> Iterator[Review]:
    classes = shown_classes(run) if classes is None else classes
    with open_store(run, classes_of_ends(run, classes)) as store:
        yield Review(store, EdgeDetails(run, classes))


@contextmanager
def a_client(review: Review, reviewer: str = "ann") -> Iterator[TestClient]:
    """A client that says what the page's own browser would say after it has opened the address with the secret."""
    with a_stranger(review, reviewer) as client:
        assert client.get("/", params={"token": SECRET}).status_code == 200
        yield client


@contextmanager
def a_stranger(review: Review, reviewer: str = "ann") -> Iterator[TestClient]:
    """A client that says the same, but doesn't know the secret."""
    app = application(review, port=PORT, secret=SECRET, reviewer=reviewer, title="RUN")
    with TestClient(app, base_url=HOME, headers={"Origin": HOME}) as client:
        yield client


def token_of(client: TestClient) -> str:
    found = re.search(r'name="token" value="([^"]+)"', client.get("/").text)
    assert found
    return found[1]


def form(client: TestClient, **fields: object) -> dict[str, Any]:
    """The fields of a form that the page would send."""
    return {"token": token_of(client), "reviewer": "ann", **fields}
