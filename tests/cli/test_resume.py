"""Interrupted runs: what is kept, and resuming to the same result. Real processes where signals or threads matter."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from focusedcleaner.datasets import synthetic
from focusedcleaner.io import disk, save_graph
from tests.cli.conftest import RESULT
from tests.conftest import Command

pytestmark = pytest.mark.slow

SANITIZE = ("sanitize", "graph.npz", "--method", "cld", "--budget", "20", "--edges-per-round", "2")


HANGING = """
import sys, time
from pathlib import Path
from focusedcleaner.cli import main
from focusedcleaner.io import disk
from focusedcleaner.sanitizers import focused

disk.SAVE_EVERY = 0.0
whole = focused._Cleaning.round

def hanging(self, journal, size):
    if journal.rounds == 5:
        Path("waiting").touch()
        time.sleep(60)
    return whole(self, journal, size)

focused._Cleaning.round = hanging
main(sys.argv[1:])
"""


@pytest.fixture(autouse=True)
def _graph(folder: Path) -> None:
    save_graph(synthetic(num_nodes=150, seed=1), "graph.npz")


@pytest.fixture
def expected(cli: Command) -> bytes:
    """What an uninterrupted run removes."""
    assert cli(*SANITIZE, "--out", "WHOLE").exit_code == 0
    return Path("WHOLE/removed.csv").read_bytes()


def start(code: str, *words: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})},
    )


def send_while_hanging(number: signal.Signals, *words: str) -> tuple[int, str, str]:
    process = start(HANGING, *words)
    deadline = time.monotonic() + 60
    while not Path("waiting").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert Path("waiting").exists()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    Path("waiting").unlink()
    return process.returncode, out, err


def test_ctrl_c_and_resume(cli: Command, expected: bytes) -> None:
    code, out, err = send_while_hanging(signal.SIGINT, *SANITIZE, "--out", "RUN")
    assert code == 2
    assert out == ""
    again = f"focusedcleaner {shlex.join(SANITIZE)} --out RUN --resume"
    line = f"interrupted after 10 of 20 edges; the result so far is in RUN; continue with: {again}\n"
    assert err.endswith(f"\n{line}")
    assert sorted(os.listdir("RUN")) == ["checkpoint.npz", *RESULT]
    assert json.loads(Path("RUN/run.json").read_text())["status"] == "interrupted"
    so_far = Path("RUN/removed.csv").read_text().splitlines()
    assert so_far == expected.decode().splitlines()[:11]
    done = cli(*shlex.split(again)[1:])
    assert done.exit_code == 0, done.output
    assert Path("RUN/removed.csv").read_bytes() == expected
    assert sorted(os.listdir("RUN")) == RESULT
    assert sorted(os.listdir()) == ["RUN", "WHOLE", "graph.npz"]


def test_kill_and_resume(cli: Command, expected: bytes) -> None:
    code, _, _ = send_while_hanging(signal.SIGKILL, *SANITIZE, "--out", "RUN")
    assert code == -signal.SIGKILL
    assert not Path("RUN").exists()
    refused = cli(*SANITIZE, "--out", "RUN")
    assert refused.exit_code == 2
    assert "RUN: a run was interrupted here: continue it with --resume" in refused.stderr
    assert refused.stderr.endswith(f"to continue: focusedcleaner {shlex.join(SANITIZE)} --out RUN --resume\n")
    done = cli(*SANITIZE, "--out", "RUN", "--resume")
    assert done.exit_code == 0, done.output
    assert Path("RUN/removed.csv").read_bytes() == expected
    assert sorted(os.listdir()) == ["RUN", "WHOLE", "graph.npz"]


def test_any_number_of_threads_gives_the_same(expected: bytes) -> None:
    code = "import sys; from focusedcleaner.cli import main; main(sys.argv[1:])"
    process = start(code, *SANITIZE, "--out", "RUN", environment={"OMP_NUM_THREADS": "2"})
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert Path("RUN/removed.csv").read_bytes() == expected
    assert Path("RUN/sanitized.npz").read_bytes() == Path("WHOLE/sanitized.npz").read_bytes()


def test_interrupted_again_and_again(cli: Command, expected: bytes, interrupt_at: Callable[[int], None]) -> None:
    resume: tuple[str, ...] = ()
    for rounds in (2, 2, 7):
        interrupt_at(rounds)
        stopped = cli(*SANITIZE, "--out", "RUN", *resume)
        assert stopped.exit_code == 2
        assert stopped.stderr.splitlines()[-1].startswith(f"interrupted after {2 * rounds} of 20 edges")
        assert stopped.stderr.count("--resume") == 1
        resume = ("--resume",)
    interrupt_at(-1)
    refused = cli(*SANITIZE, "--out", "RUN")
    assert refused.stderr == (
        "error: RUN: holds an interrupted run: continue it with --resume, or choose another folder; "
        f"to continue: focusedcleaner {shlex.join(SANITIZE)} --out RUN --resume\n"
    )
    Path("RUN/notes.txt").write_text("mine")
    assert cli(*SANITIZE, "--out", "RUN", "--resume").exit_code == 0
    assert Path("RUN/removed.csv").read_bytes() == expected
    assert sorted(os.listdir("RUN")) == ["notes.txt", *RESULT]


def test_interrupted_at_once(cli: Command, interrupt_at: Callable[[int], None]) -> None:
    interrupt_at(0)
    stopped = cli(*SANITIZE)
    assert stopped.exit_code == 2
    assert stopped.stderr.endswith("\ninterrupted before the first edge was found; nothing was written\n")
    assert os.listdir() == ["graph.npz"]


def test_the_default_folder_is_named(cli: Command, interrupt_at: Callable[[int], None]) -> None:
    interrupt_at(3)
    stopped = cli(*SANITIZE)
    assert stopped.stderr.endswith("--edges-per-round 2 --out runs/graph-cld --resume\n")
    scored = cli("score", "runs/graph-cld", "--truth", "graph.npz")
    assert scored.exit_code == 0
    assert scored.stderr == "note: runs/graph-cld was interrupted: 6 of 20 edges were removed\n"


def test_ctrl_c_between_rounds(cli: Command, expected: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "SAVE_EVERY", 0.0)
    save, seen = disk.Checkpoint.save, []

    def interrupted(self: disk.Checkpoint, arrays: Mapping[str, Any]) -> None:
        save(self, arrays)
        seen.append(len(arrays["removed"]))
        if len(seen) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(disk.Checkpoint, "save", interrupted)
    stopped = cli(*SANITIZE, "--out", "RUN")
    assert stopped.exit_code == 2
    assert stopped.stderr.splitlines()[-1].startswith("interrupted")
    assert cli(*SANITIZE, "--out", "RUN", "--resume").exit_code == 0
    assert Path("RUN/removed.csv").read_bytes() == expected
    assert sorted(os.listdir()) == ["RUN", "WHOLE", "graph.npz"]


def test_resuming_what_is_complete(cli: Command, expected: bytes) -> None:
    whole = cli(*SANITIZE, "--out", "WHOLE", "--resume")
    assert whole.exit_code == 0
    assert whole.stderr == "note: WHOLE is complete already\n"
    assert "Removed 20 of 300 edges" in whole.stdout
    assert Path("WHOLE/removed.csv").read_bytes() == expected


def test_resuming_what_is_not_there(cli: Command, expected: bytes) -> None:
    done = cli(*SANITIZE, "--out", "RUN", "--resume")
    assert done.exit_code == 0
    assert done.stderr.startswith("note: there is no run in RUN to resume, so the run starts from the beginning\n")
    assert Path("RUN/removed.csv").read_bytes() == expected
    assert cli(*SANITIZE, "--resume").stderr.startswith("error: --resume needs --out")


@pytest.mark.parametrize(
    ("words", "difference"),
    [
        (["--set", "tau=0.5"], "RUN was made with settings detector tau 0.6, not 0.5"),
        (["--method", "lp"], "RUN was made with method cld, not lp"),
        (["--budget", "21"], "RUN was made with budget 20, not 21"),
        (["--seed", "1"], "RUN was made with seed 0, not 1"),
        (["--split", "split.json", "--force-split"], "RUN was made from another graph or another split"),
    ],
)
def test_resuming_with_something_else(
    cli: Command, interrupt_at: Callable[[int], None], words: list[str], difference: str
) -> None:
    interrupt_at(1)
    cli(*SANITIZE, "--out", "RUN")
    Path("split.json").write_text('{"idx_train": [0, 1, 2, 3, 4], "idx_val": [], "idx_test": []}')
    before = Path("RUN/run.json").read_bytes()
    refused = cli(*SANITIZE, "--out", "RUN", "--resume", *words)
    assert refused.exit_code == 2
    assert refused.stderr == f"error: {difference}: resume with the same\n"
    assert Path("RUN/run.json").read_bytes() == before
