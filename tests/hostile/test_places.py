"""Paths of any bytes, terminals of any encoding, and folders that can't be read."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from focusedcleaner.cli import main
from tests.hostile.case import assert_answer
from tests.hostile.child import Outcome, in_child

ODD = os.fsdecode(b"caf\xe9")
COMMANDS = (
    f"check {ODD}.npz --split {ODD}.json",
    f"check {ODD}.npz --json",
    f"sanitize {ODD}.npz --method jaccard --budget 3 --out {ODD}",
    f"sanitize {ODD}.npz --method jaccard --budget 3 --out {ODD}2 --json",
    f"report {ODD} --truth {ODD}.npz --json",
    f"score {ODD} --truth {ODD}.npz",
    f"review {ODD} --export {ODD}.csv",
    f"apply {ODD} --out {ODD}-new.csv",
    f"restore {ODD} --limit 3 --out {ODD}.graphml",
    f"attack {ODD}.npz --method random --power 5%,10% --out {ODD}-new.npz",
)


@pytest.fixture
def odd(sample: Path, tmp_path: Path) -> Path:
    """The sample under names that are not UTF-8."""
    folder = tmp_path / ODD
    folder.mkdir()
    for name in ("graph.npz", "split.json"):
        shutil.copy(sample / name, folder / f"{ODD}{Path(name).suffix}")
    return folder


def run(folder: Path, line: str, *, encoding: str = "utf-8", user: int | None = None) -> Outcome:
    """Run a command in a child whose terminal has an encoding, perhaps as another user."""

    def child() -> None:
        os.chdir(folder)
        if user is not None:
            os.setuid(user)
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.FileIO(number, "w", closefd=False), encoding) for number in (1, 2)
        )
        main(line.split(" "))

    return in_child(child, megabytes=512)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_names_that_are_not_utf_8_work_everywhere(encoding: str, odd: Path) -> None:
    for line in COMMANDS:
        outcome = run(odd, line, encoding=encoding)
        assert outcome.code == 0, (line, outcome)
        assert "\udce9" not in outcome.out + outcome.err


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_errors_name_such_a_path(encoding: str, odd: Path) -> None:
    for line in (
        f"check {ODD}/absent.npz",
        f"report {ODD}9",
        f"check {ODD}.npz --split {ODD}9",
        f"attack {ODD}.npz --out {ODD}/x.npz",
    ):
        outcome = run(odd, line, encoding=encoding)
        assert outcome.refused, (line, outcome)
        assert "caf" in outcome.err


@contextmanager
def closed(folder: Path) -> Iterator[int | None]:
    """Make a folder unreadable, also for the user to become in the child."""
    os.chmod(folder, 0)
    yield 65534 if os.geteuid() == 0 else None
    os.chmod(folder, 0o700)


@pytest.mark.parametrize(
    "line",
    [
        "check {}/graph.npz",
        "check {}",
        "sanitize {}/graph.npz",
        "check graph.npz --split {}/s.json",
        "attack graph.npz --out {}/x.npz",
        "classify {}/graph.npz",
    ],
)
def test_a_folder_that_can_not_be_read_costs_one_line(
    line: str, sample: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("place")
    shutil.copy(sample / "graph.npz", place / "graph.npz")
    (place / "closed").mkdir()
    for folder in (place, *place.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o755)
    with closed(place / "closed") as user:
        outcome = run(place, line.format(place / "closed"), user=user)
    assert outcome.refused, outcome
    assert "ermission denied" in outcome.err or "not writable" in outcome.err or "there is no" in outcome.err, (
        outcome.err
    )


def test_the_cora_fallback_runs_nothing_from_the_current_folder(sample: Path, tmp_path: Path) -> None:
    """Point 4 of issue 15: a pip.py in the current folder."""
    (tmp_path / "pip.py").write_text("open('ran', 'w').close()")

    def child() -> None:
        os.chdir(tmp_path)
        os.environ |= {
            "FOCUSEDCLEANER_CACHE": str(tmp_path / "cache"),
            "PIP_INDEX_URL": "http://127.0.0.1:9",
            "http_proxy": "http://127.0.0.1:9",
            "https_proxy": "http://127.0.0.1:9",
        }
        os.environ.pop("FOCUSEDCLEANER_DATA", None)
        main(["datasets", "get", "cora"])

    assert_answer(in_child(child, seconds=60), "cora could not be found")
    assert not (tmp_path / "ran").exists()
