"""Tampered run folders: every command that reads a run works or refuses it in one line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from focusedcleaner.io.transaction import JOURNAL
from focusedcleaner.runs import read_run
from tests.hostile.child import answers, command
from tests.hostile.run_cases import CASES, Tamper

COMMANDS = (
    "report RUN",
    "score RUN --truth graph.npz --json",
    "check RUN",
    "review RUN --export export.csv",
    "apply RUN --out applied.csv --undecided-above 0",
)
SLOW_COMMANDS = (
    "report RUN --truth graph.npz --out truth.html",
    "score RUN --truth graph.npz",
    "restore RUN --limit 2 --out restored.graphml",
    "classify RUN --model sgc --seeds 1 --set epochs=1",
    "sanitize graph.npz --method jaccard --budget 4 --resume --out RUN",
)


@pytest.mark.parametrize("tamper", CASES.values(), ids=CASES)
def test_tampered_runs(tamper: Tamper, sample: Path, tmp_path: Path, campaign: bool) -> None:
    folder = shutil.copytree(sample, tmp_path / "here")
    tamper(folder / "RUN")
    commands = (*COMMANDS, *SLOW_COMMANDS) if campaign else COMMANDS
    for answer in answers(folder, commands):
        _, *lines, code = answer.splitlines()
        errors = [line for line in lines if not line.startswith("note: ")]
        assert (code, len(errors)) in (("exit 0", 0), ("exit 2", 1)), answer
        assert all(line.startswith("error: ") for line in errors), answer


def test_another_graph_in_the_folder_is_noticed(sample: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sample, tmp_path / "here")
    CASES["sanitized.npz: the poisoned graph"](folder / "RUN")
    for line in ("report RUN", "score RUN --truth graph.npz", "apply RUN --force"):
        outcome = command(*line.split(), cwd=folder)
        assert outcome.refused, line
        assert "sanitized.npz does not belong to this run" in outcome.err, line


def test_a_journal_touches_nothing_outside_its_folder(sample: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sample, tmp_path / "here")
    CASES["journal: removes above"](folder / "RUN")
    assert read_run(folder / "RUN").complete
    assert (folder / "graph.npz").exists()
    assert not (folder / "RUN" / JOURNAL).exists()
