"""Names from files are untrusted: no control character of theirs reaches the terminal."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from focusedcleaner.cli.console import note, progress_bar, screen
from focusedcleaner.graph import Graph
from focusedcleaner.io import save_graph
from tests.conftest import Command

RED, REVERSED, TAG = "\x1b[31m", "\u202e", "\U000e0041"


@pytest.fixture
def hostile(graph: Graph, folder: Path) -> Graph:
    """A graph whose node and class names hold direction overrides and invisible tags."""
    names = tuple(f"{TAG}{node}{REVERSED}" for node in range(graph.num_nodes))
    classes = tuple(f"{REVERSED}{TAG}{number}" for number in range(graph.num_classes))
    hostile = replace(graph, names=names, class_names=classes)
    save_graph(hostile, "graph.npz")
    save_graph(replace(hostile, names=("stranger", *names[1:])), "other.npz")
    return hostile


@pytest.mark.usefixtures("hostile")
def test_no_command_prints_control_characters(cli: Command) -> None:
    for words, code in (
        (("sanitize", "graph.npz", "--method", "cld", "--budget", "5", "--out", "RUN"), 0),
        (("check", "graph.npz"), 0),
        (("restore", "RUN", "--limit", "3"), 0),
        (("score", "RUN", "--truth", "graph.npz"), 0),
        (("classify", "RUN", "--model", "sgc", "--seeds", "1"), 0),
        (("attack", "graph.npz", "--method", "dice", "--out", f"{RED}.npz"), 0),
        (("sanitize", f"{RED}.npz", "--method", "random", "--out", RED), 0),
        (("report", RED), 0),
        (("score", "RUN", "--truth", "other.npz"), 2),
        (("attack", "graph.npz", "--method", "nettack", "--targets", f"{RED}nobody"), 2),
        (("sanitize", f"{REVERSED}{RED}/graph.npz"), 2),
        (("sanitize", "graph.npz", f"--{RED}"), 2),
    ):
        done = cli(*words)
        assert done.exit_code == code, done.output
        assert done.output
        assert RED not in done.output, words
        assert REVERSED not in done.output, words
        assert TAG not in done.output, words


def test_a_name_stays_recognizable(cli: Command, hostile: Graph) -> None:
    done = cli("sanitize", "graph.npz", "--method", "random", "--budget", "1", "--out", "RUN")
    u = (Path("RUN/removed.csv").read_text().splitlines()[1]).split(",")[1]
    assert u.startswith(TAG)
    assert f"�{u.removeprefix(TAG).removesuffix(REVERSED)}�" in done.stdout


def test_output_keeps_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    screen().print(f"one\ntwo{RED}")
    screen().print_pointers("Title", (f"RUN{RED}", "a folder"), ("x", "y"))
    note(f"three\n{RED}four")
    out, err = capsys.readouterr()
    assert out == "one\ntwo�[31m\nTitle\n  RUN�[31m  a folder\n  x         y\n"
    assert err == "note: three �[31mfour\n"


def drawn(*reports: tuple[int, int, str], seconds: float = 10.0) -> str:
    """What a progress bar shows after reports that came so many seconds apart."""
    clock = [0.0]
    console = Console(width=100, file=io.StringIO(), force_terminal=True, color_system=None)
    with progress_bar("Looking", console=console, clock=lambda: clock[0]) as update:
        for report in reports:
            clock[0] += seconds
            update(*report)
        bar = cast("Any", update).bar
        bar.refresh()
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_stage_is_shown_with_the_time_left() -> None:
    shown = drawn((1, 5, "round 1 of 5, attackers: random"), (2, 5, "round 2 of 5, attackers: PGD"))
    assert "round 2 of 5, attackers: PGD" in shown
    assert "0:00:30 left" in shown
    assert "2/5" not in shown
    assert "0:00:30 left" in drawn((1, 5, "round 1 of 5: random"), (1, 5, "round 1 of 5: PGD"))
    assert "\x1b[31m" not in drawn((1, 2, "round\x1b[31m"))


def test_steps_without_a_stage_are_counted() -> None:
    shown = drawn((1_000, 5_000, ""))
    assert "1,000/5,000" in shown
    assert "0:00:40 left" in shown


def test_a_resumed_run_is_not_too_hopeful() -> None:
    assert "0:00:20 left" in drawn((7, 10, ""), (8, 10, ""))


def test_colours_that_are_forced_bring_no_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Notebooks set FORCE_COLOR for commands, whose output is then kept line by line."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar("Looking") as update:
        update(1, 2, "round 1 of 2")
        cast("Any", update).bar.refresh()
    assert capsys.readouterr().err == ""
