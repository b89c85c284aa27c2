"""Reports from the command line: with every run, with the truth, and anew."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from focusedcleaner.attacks import Dice
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import save_graph
from focusedcleaner.runs import read_run
from tests.conftest import Command

pytestmark = pytest.mark.slow

SANITIZE = ("sanitize", "poisoned.npz", "--method", "cld", "--budget", "20")


@pytest.fixture(autouse=True)
def _files(graph: Graph, folder: Path) -> None:
    save_graph(graph, "clean.npz")
    save_graph(Dice().poison(graph, "20%", seed=0).graph, "poisoned.npz")


def text(path: str = "RUN/report.html") -> str:
    return " ".join(Path(path).read_text(encoding="utf-8").split())


def test_every_run_has_a_report(cli: Command) -> None:
    done = cli(*SANITIZE, "--out", "RUN")
    assert "RUN/report.html" in done.stdout
    assert "focusedcleaner review RUN" in done.stdout
    assert "of 300 edges (6.7" in text()
    assert "Against the truth" not in text()
    assert os.getcwd() not in text()


def test_the_truth_reaches_the_report_alone(cli: Command) -> None:
    cli(*SANITIZE, "--out", "RUN")
    done = cli(*SANITIZE, "--truth", "clean.npz", "--out", "TOLD")
    assert done.exit_code == 0, done.output
    assert "Against the truth" in text("TOLD/report.html")
    for name in ("removed.csv", "trace.csv", "sanitized.npz"):
        assert Path("RUN", name).read_bytes() == Path("TOLD", name).read_bytes()
    scored = json.loads(cli("score", "TOLD", "--truth", "clean.npz", "--json").stdout)
    assert re.search(rf"{scored['hits']} of the 20 removed edges had been planted", text("TOLD/report.html"))
    assert f"{100 * scored['esr']:.1f} %" in text("TOLD/report.html")


def test_a_wrong_truth_costs_nothing(cli: Command) -> None:
    save_graph(Graph(3, [[0, 1]]), "small.npz")
    for truth, message in (
        ("nowhere.npz", "error: nowhere.npz: there is no such file"),
        ("small.npz", "error: the truth has 3 nodes and the run's graph 150: they can't be compared"),
    ):
        done = cli(*SANITIZE, "--truth", truth)
        assert (done.exit_code, done.stderr) == (2, f"{message}\n")
    assert sorted(os.listdir()) == ["clean.npz", "poisoned.npz", "small.npz"]


def test_anew_with_the_truth(cli: Command) -> None:
    cli(*SANITIZE, "--out", "RUN")
    plain = text()
    Path("RUN/report.html").unlink()
    assert cli("report", "RUN").stdout == "RUN/report.html\n"
    assert text() == plain
    done = cli("report", "RUN", "--truth", "clean.npz", "--json")
    assert json.loads(done.stdout) == {"report": "RUN/report.html"}
    assert "Against the truth" in text()
    assert cli("report", "RUN", "--out", "mail.html").exit_code == 0
    assert text("mail.html") == plain


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere",), "error: nowhere: there is no such run folder"),
        (("RUN", "--out", "clean.npz"), "error: clean.npz: exists already: choose another file for the report"),
        (("RUN", "--out", "no/where.html"), "error: no/where.html: there is no folder no"),
        (("RUN", "--truth", "nothing.npz"), "error: nothing.npz: there is no such file"),
    ],
)
def test_a_report_that_can_not_be(cli: Command, words: tuple[str, ...], message: str) -> None:
    cli(*SANITIZE, "--method", "random", "--out", "RUN")
    before = Path("RUN/report.html").read_bytes()
    done = cli("report", *words)
    assert (done.exit_code, done.stderr) == (2, f"{message}\n")
    assert Path("RUN/report.html").read_bytes() == before


def test_a_broken_trace_is_told(cli: Command) -> None:
    cli(*SANITIZE, "--method", "random", "--out", "RUN")
    Path("RUN/trace.csv").write_text("round,removed\n1,many\n")
    assert cli("report", "RUN").stderr == "error: RUN/trace.csv: is not a table of numbers\n"


def test_a_report_that_fails_loses_no_run(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> str:
        raise RuntimeError("no ink")

    monkeypatch.setattr("focusedcleaner.report.page", broken)
    done = cli(*SANITIZE, "--out", "RUN")
    assert isinstance(done.exception, RuntimeError)
    assert read_run("RUN").complete
    assert sorted(os.listdir("RUN")) == ["removed.csv", "run.json", "sanitized.npz", "trace.csv"]


def test_a_report_that_can_not_be_written_is_one_line(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise InputError("RUN/report.html: No space left on device")

    monkeypatch.setattr("focusedcleaner.report.write_files", full)
    done = cli(*SANITIZE, "--out", "RUN")
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, "error: RUN/report.html: No space left on device")
    assert read_run("RUN").complete


def test_an_interrupted_run_has_its_report(cli: Command, interrupt_at: Callable[[int], None]) -> None:
    words = (*SANITIZE, "--edges-per-round", "2", "--truth", "clean.npz", "--out", "RUN")
    interrupt_at(3)
    assert cli(*words).exit_code == 2
    interrupt_at(-1)
    assert "The run was interrupted: 6 of the 20 edges" in text()
    assert "Against the truth" in text()
    assert cli(*words, "--resume").exit_code == 0
    assert "interrupted" not in text()
    assert "of 300 edges (6.7" in text()


def test_a_complete_run_gets_its_lost_report_on_resuming(cli: Command) -> None:
    cli(*SANITIZE, "--out", "RUN")
    before = Path("RUN/report.html").read_bytes()
    Path("RUN/report.html").unlink()
    assert cli(*SANITIZE, "--out", "RUN", "--resume").stderr == "note: RUN is complete already\n"
    assert Path("RUN/report.html").read_bytes() == before


def test_a_complete_run_gets_the_truth_on_resuming(cli: Command) -> None:
    cli(*SANITIZE, "--out", "RUN")
    done = cli(*SANITIZE, "--out", "RUN", "--resume", "--truth", "clean.npz")
    assert done.stderr == "note: RUN is complete already\n"
    assert "Against the truth" in text()


def test_sanitize_with_the_truth_prints_precision_and_recall(cli: Command) -> None:
    words = (*SANITIZE, "--truth", "clean.npz", "--out")
    shown = " ".join(cli(*words, "SHOWN").stdout.split())
    score = json.loads(cli(*words, "RUN", "--json").stdout)["score"]
    assert f"{score['hits']} of {score['attacked']} planted edges removed: precision" in shown
    assert score["precision"] == score["hits"] / 20
    assert "--truth CLEAN" not in shown
