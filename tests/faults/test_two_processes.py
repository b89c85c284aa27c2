"""Two processes on one output: one of them writes it, the other is told so, and nothing is mixed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from focusedcleaner.cli import main
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.io import save_graph
from focusedcleaner.io.folder import verify_folder
from focusedcleaner.runs import RunFolder, opened_run, read_run, write_run
from focusedcleaner.sanitizers import sanitizer
from tests.hostile.child import Outcome, in_child

TOLD = "is in use by another focusedcleaner process: wait until that has ended"


def at_once(folder: Path, first: tuple[str, ...], second: tuple[str, ...], *, delay: float = 0.0) -> list[Outcome]:
    """Run two commands in two children that start together, or the second a moment later."""
    context = get_context("fork")
    barrier, results = context.Barrier(2), context.SimpleQueue()
    children = [
        context.Process(target=_run, args=(folder, words, barrier, pause, results, number))
        for number, (words, pause) in enumerate([(first, 0.0), (second, delay)])
    ]
    for child in children:
        child.start()
    outcomes = dict(results.get() for _ in children)
    for child in children:
        child.join(60)
    return [outcomes[number] for number in range(2)]


def _run(folder: Path, words: tuple[str, ...], barrier: Barrier, pause: float, results: object, number: int) -> None:
    def command() -> None:
        os.chdir(folder)
        barrier.wait(60)
        time.sleep(pause)
        main(list(words))

    results.put((number, in_child(command, seconds=60)))  # type: ignore[attr-defined]


def pair_on_one_output(folder: Path, delay: float) -> str:
    """Two runs with different seeds on one folder; returns which has won."""
    words = ("sanitize", "../graph.npz", "--method", "random", "--budget", "5", "--out", "RUN")
    outcomes = at_once(folder, (*words, "--seed", "1"), (*words, "--seed", "2"), delay=delay)
    assert sorted(outcome.code for outcome in outcomes) == [0, 2], outcomes
    (loser,) = (outcome for outcome in outcomes if outcome.code)
    assert loser.refused, loser
    assert TOLD in loser.err or "RUN: exists already" in loser.err, loser
    run = read_run(folder / "RUN")  # checks that all files belong together
    winner = 1 + [outcome.code for outcome in outcomes].index(0)
    assert run.record["seed"] == winner
    assert sorted(os.listdir(folder)) == ["RUN"]
    assert sorted(os.listdir(folder / "RUN")) == [
        "removed.csv",
        "report.html",
        "run.json",
        "sanitized.npz",
        "trace.csv",
    ]
    return "refused" if TOLD in loser.err else "exists"


@pytest.fixture
def pairs(tmp_path: Path) -> Callable[[int], dict[str, int]]:
    """Run so many pairs, the second process of each a little later than that of the pair before."""
    save_graph(synthetic(num_nodes=60, seed=1), tmp_path / "graph.npz")

    def run(number: int) -> dict[str, int]:
        counts = {"pairs": 0, "refused": 0, "exists": 0}
        for pair in range(number):
            folder = tmp_path / str(pair)
            folder.mkdir()
            counts[pair_on_one_output(folder, delay=0.3 * (pair / number))] += 1
            counts["pairs"] += 1
        return counts

    return run


@pytest.mark.slow
def test_two_runs_on_one_folder(pairs: Callable[[int], dict[str, int]]) -> None:
    assert pairs(4)["pairs"] == 4


@pytest.mark.slow
@pytest.mark.campaign
def test_two_hundred_pairs(pairs: Callable[[int], dict[str, int]], figures: Callable[..., None]) -> None:
    counts = pairs(200)
    figures("two-processes", **counts, mixed=0)
    assert counts["pairs"] == 200


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    write_run(sanitizer("random").sanitize(synthetic(num_nodes=60, seed=1), 5), tmp_path / "RUN")
    return tmp_path / "RUN"


def test_a_run_that_is_read_can_not_be_resumed_and_conversely(run_folder: Path) -> None:
    with (
        opened_run(run_folder),
        opened_run(run_folder),  # any number of readers
        pytest.raises(InputError, match=TOLD),
        RunFolder.opened(run_folder, resume=True),
    ):
        pass
    with RunFolder.opened(run_folder, resume=True):
        with pytest.raises(InputError, match=TOLD), opened_run(run_folder):
            pass
        assert read_run(run_folder).complete  # score and classify need no lock
    with RunFolder.opened(run_folder, resume=True):
        pass


def test_a_second_attack_on_one_output_is_refused(tmp_path: Path) -> None:
    save_graph(synthetic(num_nodes=60, seed=1), tmp_path / "graph.npz")
    words = ("attack", "graph.npz", "--method", "mettack", "--power", "12", "--out", "p.npz")
    outcomes = at_once(tmp_path, words, (*words, "--seed", "1"), delay=0.02)
    assert sorted(outcome.code for outcome in outcomes) == [0, 2], outcomes
    assert sorted(os.listdir(tmp_path)) == ["graph.npz", "p.npz"]


def test_a_second_ingest_to_one_folder_is_refused(tmp_path: Path) -> None:
    save_graph(synthetic(num_nodes=60, seed=1), tmp_path / "graph.npz")
    words = ("ingest", "graph.npz", "--out", "GRAPH")
    outcomes = at_once(tmp_path, words, words)
    assert sorted(outcome.code for outcome in outcomes) == [0, 2], outcomes
    (loser,) = (outcome for outcome in outcomes if outcome.code)
    assert loser.refused, loser
    assert TOLD in loser.err or "GRAPH: exists already" in loser.err, loser
    verify_folder(tmp_path / "GRAPH")
    assert sorted(os.listdir(tmp_path)) == ["GRAPH", "graph.npz"]
