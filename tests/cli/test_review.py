"""``review`` and ``apply`` as a user types them."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import focusedcleaner.review
from focusedcleaner.io import load_graph, save_graph
from focusedcleaner.runs import Run, read_run
from tests.conftest import Command
from tests.review.sample_runs import a_run, a_store

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_run(tmp_path_factory.mktemp("runs") / "RUN", edges=12).path


@pytest.fixture
def run(finished: Path, folder: Path) -> Run:
    shutil.copytree(finished, folder / "RUN")
    return read_run(folder / "RUN")


@pytest.fixture
def judged(run: Run) -> Run:
    """1 and 2 planted, 3 genuine, 4 unsure, 5 in conflict, the rest open."""
    with a_store(run) as store:
        for rank, verdict in ((1, "planted"), (2, "planted"), (3, "genuine"), (4, "unsure"), (5, "planted")):
            store.decide(rank, "ann", verdict)  # type: ignore[arg-type]
        store.decide(5, "bob", "genuine")
        store.decide(6, "bob", "open", "later")
    return run


def missing(run: Run, path: str | Path) -> list[int]:
    """The ranks of the edges that a graph lacks, after making sure that nothing else differs."""
    graph = load_graph(path)
    gone = [rank for rank, edge in enumerate(run.removed, 1) if len(graph.with_edges([edge]).edges) > graph.num_edges]
    assert graph.with_edges(run.removed) == run.poisoned
    assert graph.names == run.graph.names
    return gone


def test_apply_takes_out_what_was_judged_planted(cli: Command, judged: Run) -> None:
    done = cli("apply", "RUN")
    assert done.exit_code == 0, done.output
    assert missing(judged, "RUN/reviewed.npz") == [1, 2]
    assert "298 edges, 2 removed: 2 judged planted" in done.stdout
    assert "1 edge in conflict stayed" in done.stderr
    assert "7 edges without a verdict stayed" in done.stderr


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        (["--conflicts", "planted"], [1, 2, 5]),
        (["--conflicts", "genuine"], [1, 2]),
        (["--reviewer", "ann"], [1, 2, 5]),
        (["--reviewer", "bob"], []),
        (["--undecided-above", "-1e9"], [1, 2, *range(6, 13)]),
        (["--undecided-above", "1e9"], [1, 2]),
        (["--undecided-above", "-1e9", "--reviewer", "bob"], [1, 2, 3, 4, *range(6, 13)]),
    ],
)
def test_what_apply_can_be_asked_for(cli: Command, judged: Run, options: list[str], gone: list[int]) -> None:
    done = cli("apply", "RUN", "--out", "graph.npz", "--json", *options)
    assert done.exit_code == 0, done.output
    assert missing(judged, "graph.npz") == gone
    fields = json.loads(done.stdout)
    assert (fields["removed"], fields["edges"], fields["out"]) == (len(gone), 300 - len(gone), "graph.npz")


@pytest.mark.filterwarnings("ignore::focusedcleaner.errors.InputWarning")  # of a constant column in the table
def test_a_score_as_the_limit(cli: Command, judged: Run) -> None:
    limit = float(np.sort(judged.scores[5:])[::-1][2])
    cli("apply", "RUN", "--out", "graph.csv", "--undecided-above", repr(limit))
    expected = [1, 2, *(rank for rank in range(6, 13) if judged.scores[rank - 1] >= limit)]
    assert missing(judged, "graph.csv") == expected


def test_apply_never_overwrites_unasked(cli: Command, judged: Run) -> None:
    assert cli("apply", "RUN", "--out", "graph.npz").exit_code == 0
    before = Path("graph.npz").read_bytes()
    done = cli("apply", "RUN", "--out", "graph.npz", "--conflicts", "planted")
    assert (done.exit_code, done.stderr) == (
        2,
        "error: graph.npz: exists already: choose another name, or replace it with --force\n",
    )
    assert Path("graph.npz").read_bytes() == before
    assert cli("apply", "RUN", "--out", "graph.npz", "--conflicts", "planted", "--force").exit_code == 0
    assert missing(judged, "graph.npz") == [1, 2, 5]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["apply", "NONE"], "there is no such run folder"),
        (["apply", "RUN", "--out", "graph.doc"], "its name must end in .npz or .csv or .tsv"),
        (["apply", "RUN", "--out", "no/graph.npz"], "there is no folder no"),
        (["apply", "RUN", "--out", "RUN"], "its name must end in"),
        (["apply", "RUN", "--reviewer", "eve"], "there is no reviewer 'eve'; those who took part: ann, bob"),
        (["apply", "RUN", "--conflicts", "maybe"], "--conflicts is planted, genuine, skip, not 'maybe'"),
        (["apply", "RUN", "--reviewer", "ann", "--conflicts", "planted"], "--reviewer takes one reviewer's word"),
        (["review", "NONE", "--no-browser"], "there is no such run folder"),
        (["review", "RUN", "--export", "graph.npz"], "its name must end in .csv or .json"),
        (["review", "RUN", "--no-browser", "--reviewer", " "], "a reviewer's name has"),
    ],
)
def test_mistakes_cost_one_line(cli: Command, judged: Run, words: list[str], message: str) -> None:
    before = sorted(os.listdir("."))
    done = cli(*words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(os.listdir(".")) == before


def test_a_run_that_was_not_reviewed(cli: Command, run: Run) -> None:
    done = cli("apply", "RUN")
    removed = len(run.removed)
    assert done.exit_code == 0
    assert done.stdout == f"RUN/reviewed.npz  {run.graph.num_edges} edges, {removed} removed\n"
    assert done.stderr == f"note: no edge was judged yet: the {removed} edges that the run removed are left out\n"
    assert not Path("RUN/review.sqlite").exists()
    assert missing(run, "RUN/reviewed.npz") == list(range(1, removed + 1))
    best = float(run.scores.max())
    cli("apply", "RUN", "--out", "some.npz", "--undecided-above", repr(best))
    assert missing(run, "some.npz") == (np.flatnonzero(run.scores >= best) + 1).tolist()


def test_without_a_review_and_a_removed_edge_the_graph_stays(cli: Command, run: Run) -> None:
    record = json.loads(Path("RUN/run.json").read_text())
    Path("RUN/run.json").write_text(json.dumps({**record, "removed": 0, "suspects": record["removed"]}))
    Path("RUN/removed.csv").rename("RUN/suspects.csv")
    Path("RUN/removed.csv").write_text("rank,u,v,score\n")
    save_graph(run.poisoned, "RUN/sanitized.npz")
    done = cli("apply", "RUN", "--out", "same.npz")
    assert done.stderr == "note: no edge was judged yet: the run removed none either\n"
    assert load_graph("same.npz") == run.poisoned


def test_a_run_that_changed_since(cli: Command, judged: Run) -> None:
    table = Path("RUN/removed.csv")
    rows = table.read_text().splitlines()
    table.write_text("\n".join([rows[0], rows[2], rows[1], *rows[3:]]) + "\n")
    for words in (["apply", "RUN"], ["review", "RUN", "--export", "a.csv"], ["review", "RUN", "--no-browser"]):
        done = cli(*words)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert "RUN/review.sqlite: belongs to another run" in done.stderr
    assert not Path("a.csv").exists()


def test_export_without_a_server(cli: Command, judged: Run) -> None:
    done = cli("review", "RUN", "--export", "decisions.csv")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("decisions.csv  2 planted, 1 genuine, 1 unsure, 1 conflict, 7 open")
    with open("decisions.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["verdict"] for row in rows[:5]] == ["planted", "planted", "genuine", "unsure", "conflict"]
    assert rows[5]["notes"] == "bob: later"
    assert cli("review", "RUN", "--export", "decisions.csv").exit_code == 2
    assert cli("review", "RUN", "--export", "decisions.csv", "--force").exit_code == 0
    fields = json.loads(cli("review", "RUN", "--export", "decisions.json", "--json").stdout)
    assert (fields["planted"], fields["out"]) == (2, "decisions.json")
    assert len(json.loads(Path("decisions.json").read_text())["edges"]) == 12


def test_a_port_that_is_taken(cli: Command, run: Run) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = cli("review", "RUN", "--no-browser", "--port", port)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert f"port {port} can't be used" in done.stderr


def test_without_the_extra(cli: Command, judged: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "focusedcleaner.review.server", raising=False)
    monkeypatch.delattr(focusedcleaner.review, "server", raising=False)
    done = cli("review", "RUN", "--no-browser")
    assert (done.exit_code, done.stderr) == (
        2,
        "error: the review page needs an extra: pip install 'focusedcleaner[review]'\n",
    )
    assert cli("apply", "RUN").exit_code == 0


def test_inserted_edges_are_not_kept(cli: Command, judged: Run) -> None:
    record = json.loads(Path("RUN/run.json").read_text())
    absent = next(
        (u, v)
        for u in range(150)
        for v in range(u + 1, 150)
        if judged.poisoned.with_edges([[u, v]]).num_edges > judged.poisoned.num_edges
    )
    save_graph(judged.graph.with_edges([absent]), "RUN/sanitized.npz")
    names = [judged.graph.name(node) for node in absent]
    Path("RUN/added.csv").write_text(f"rank,u,v,score\n1,{names[0]},{names[1]},0.1\n")
    Path("RUN/run.json").write_text(json.dumps({**record, "added": 1}))
    done = cli("apply", "RUN")
    assert done.exit_code == 0, done.output
    assert "1 edge that the run inserted" in done.stderr
    assert missing(read_run("RUN"), "RUN/reviewed.npz") == [1, 2]


def test_the_server_says_where_it_is_and_ends_at_ctrl_c(run: Run) -> None:
    words = [
        sys.executable,
        "-c",
        "from focusedcleaner.cli import main; main()",
        "review",
        "RUN",
        "--no-browser",
        "--json",
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout
        fields = json.loads(server.stdout.readline())
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", fields["address"])
        assert (fields["edges"], fields["store"]) == (12, "RUN/review.sqlite")
        server.send_signal(signal.SIGINT)
        rest, told = server.communicate(timeout=60)
    assert (server.returncode, rest) == (0, "")
    assert told == "note: the review has ended; every decision is in RUN/review.sqlite\n"
    assert sorted(path.name for path in Path("RUN").glob("review*")) == ["review.sqlite"]


def test_other_users_see_no_secret_in_the_process_list(run: Run, tmp_path: Path) -> None:
    """The browser gets the name of a private file, which is gone when the server ends."""
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\nprintf %s "$*" > {seen}.part && mv {seen}.part {seen}\n')
    browser.chmod(0o755)
    words = [sys.executable, "-c", "from focusedcleaner.cli import main; main()", "review", "RUN", "--json"]
    environment = {**os.environ, "BROWSER": f"{browser} %s", "TMPDIR": str(tmp_path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout
        secret = json.loads(server.stdout.readline())["address"].partition("token=")[2]
        until = time.monotonic() + 60
        while not seen.exists() and time.monotonic() < until:
            time.sleep(0.02)
        link = seen.read_text()
        assert link.startswith("file://")
        assert secret not in link
        assert secret in Path(link.removeprefix("file://")).read_text()
        server.send_signal(signal.SIGINT)
        assert secret not in "".join(server.communicate(timeout=60))
    assert not Path(link.removeprefix("file://")).parent.exists()
